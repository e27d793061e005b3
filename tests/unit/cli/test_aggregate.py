"""``ragnostic aggregate``: what people and programs read, and what is refused."""

from __future__ import annotations

import csv
import json
import runpy
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.monitor.probes import PROBE_SCHEMA
from ragnostic.monitor.signals import score_records
from ragnostic.store.lake import ParquetLake

ROWS = runpy.run_path(str(Path(__file__).parents[1] / "monitor" / "live_rows.py"))
WINDOW = ("--from", "2026-03-01", "--to", "2026-03-06")


def run(store, *arguments, window=WINDOW):
    """The command's result."""
    command = ["aggregate", "--store", str(store), *window, *arguments]
    return CliRunner().invoke(cli.app, command)


@pytest.fixture
def store(tmp_path):
    """A store folder without scores, in which nobody judges."""
    (tmp_path / "store.toml").write_text('[judge]\nuse = "none"\n', encoding="utf-8")
    return tmp_path


@pytest.fixture
def filled(store):
    """The store with scores of two stages, written in two parts, and one probe."""
    lake = ParquetLake(store, "Asia/Shanghai")
    scores = score_records(*ROWS["many"](80))
    lake.write("scores", scores.slice(0, 60), name="part-0")
    lake.write("scores", scores.slice(60), name="part-1")
    pair = {"query_id": "q", "ts": ROWS["NOON"], "day": "2026-03-02", "perturbation": "mask"}
    pair |= {"first": ["a", "b"], "second": ["b", "c"], "reranker": "bge", "seed": 0}
    lake.write("probes", PROBE_SCHEMA.empty_table().from_pylist([pair], PROBE_SCHEMA), name="p")
    return store


def test_the_seven_signals_come_first(filled):
    """Under the judge and the stage; what they were computed from stands in the notes."""
    done = run(filled)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].endswith("(Asia/Shanghai): 80 records")
    assert lines[2].startswith("judge answer_span 1, stage retrieve: ")
    first = [line.partition("  ")[0] for line in lines[4:13]]
    assert first == [
        "MRR(weight=soft)@5",
        "R@10",
        "half-life of recall",
        "MAP@10",
        "nDCG@10",
        "QER@5",
        "RDS",
        "RDS(norm=random)",
        "RCS@10",
    ]
    assert "P95" in lines[9]
    assert "0.3333" in lines[12]
    assert "vectors in the corpus snapshot" in lines[10]
    assert "it is not known what the generator was given" in done.stderr


def test_slices_are_a_row_each(filled):
    """Of one table a judge; unknown values are a dash."""
    lines = run(filled, "--by", "service, hour").stdout.splitlines()
    at = lines.index("judge answer_span 1, by service, hour")
    assert lines[at + 1].split()[:4] == ["service", "hour", "stage", "rows"]
    assert lines[at + 2].split()[0] == "a"
    assert lines[-1].split()[0] == "–"


def test_json_is_the_aggregate(filled):
    """Strict, the same every time, and nothing else on stdout."""
    first, second = (run(filled, "--by", "service", "--json").stdout for _ in range(2))
    assert first == second
    found = json.loads(first)
    assert [group["by"] for group in found["groups"]] == [
        {},
        {"service": "a"},
        {"service": "b"},
        {"service": None},
    ]
    assert found["records"] == 80
    assert found["probes"]["pairs"] == 1


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "deep/out.jsonl"])
def test_every_number_can_be_written_to_a_file(filled, name, tmp_path):
    """By its suffix."""
    path = tmp_path / name
    assert run(filled, "--by", "language", "--out", str(path)).exit_code == 0
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    elif path.suffix == ".csv":
        rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {row["metric"] for row in rows} > {"RR@5", "QER@5", "RCS@10", "latency_ms.p95"}
    assert {row["language"] for row in rows} >= {"en"}


def test_metrics_can_be_chosen(filled):
    """Signals too; without QER nothing is said of contexts."""
    done = run(filled, "--metrics", "ndcg@10,P@5", "--by", "service")
    assert "nDCG@10" in done.stdout
    assert "not among the metrics" in done.stdout
    assert "MRR" not in done.stdout
    assert done.stderr == ""


def test_no_data_is_said(store):
    """Exit 0: it is no error, and no 0 either."""
    done = run(store)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("no data: no record was scored from 2026-03-01T00:00:00+08:00")
    assert json.loads(run(store, "--json").stdout)["groups"] == []


def test_probes_without_scores_are_shown(store):
    """A reranker may be probed before anything is logged."""
    pair = {"query_id": "q", "ts": ROWS["NOON"], "day": "2026-03-02", "perturbation": "seed"}
    table = PROBE_SCHEMA.empty_table().from_pylist([pair], PROBE_SCHEMA)
    ParquetLake(store, "Asia/Shanghai").write("probes", table, name="p")
    done = run(store)
    assert "no data" in done.stdout
    assert "RCS@10" in done.stdout


def test_faults_and_versions_are_warned_of(store):
    """In words, on stderr."""
    record, judgment = ROWS["record"], ROWS["judgment"]
    rows = [
        record("r", ["a", "a"], stage={"took_ms": -1.0}, context_ids=["a", "?"]),
        record("s", ["a"], stage={"took_ms": None}, latency_ms=20.0),
        record("t", ["a"], answer="?"),
    ]
    said = [
        judgment("r", ["a"]),
        judgment("s", ["a"], version="2"),
        judgment("t", status="refused"),
    ]
    scores = score_records(ROWS["records"](*rows), ROWS["judgments"](*said))
    ParquetLake(store, "Asia/Shanghai").write("scores", scores, name="p")
    done = run(store)
    for text in (
        "judge answer_span has several versions here: 1, 2",
        "1 row has a negative duration",
        "1 repeated chunk id in a ranking",
        "1 chunk given to the generator is unknown",
    ):
        assert text in done.stderr
    assert "1 row timed as whole requests" in done.stdout
    assert "0.6667 with refusals as 0" in done.stdout


def test_records_that_nobody_judged_have_their_latency(store):
    """A store may run without a judge."""
    scores = score_records(ROWS["records"](ROWS["record"]("r", ["a"])), ROWS["judgments"]())
    ParquetLake(store, "Asia/Shanghai").write("scores", scores, name="p")
    done = run(store, "--by", "model_version")
    assert "records that nobody judged, stage retrieve: 1 unjudged" in done.stdout
    assert "P99 100 ms" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "window", "message"),
    [
        ((), ("--from", "gestern", "--to", "now"), "is no time"),
        ((), ("--from", "2026-03-02", "--to", "2026-03-01"), "not after its start"),
        (("--by", "colour"), WINDOW, "nothing to slice by"),
        (("--metrics", "nDCG@0"), WINDOW, "cutoff"),
        (("--out", "x.xls"), WINDOW, "unknown suffix"),
    ],
)
def test_what_makes_no_sense_is_refused(store, arguments, window, message):
    """Exit 2, with what is wrong."""
    done = run(store, *arguments, window=window)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_store_must_be_there(tmp_path):
    """Nothing is made by asking."""
    done = run(tmp_path / "nowhere")
    assert done.exit_code == 2
    assert "is no store folder" in done.stderr
    assert not (tmp_path / "nowhere").exists()


@pytest.fixture
def labelled(filled, tmp_path):
    """The store with its records and judgments, and a file of labels of thirty records."""
    lake = ParquetLake(filled, "Asia/Shanghai")
    records, judgments = ROWS["many"](80)
    days = lake.read("scores").filter(pc.equal(lake.read("scores")["stage"], "rerank"))
    by_record = dict(zip(days["record_id"].to_pylist(), days["day"].to_pylist(), strict=True))
    for kind, table in (("records", records), ("judgments", judgments)):
        day = [by_record[name] for name in table["record_id"].to_pylist()]
        lake.write(kind, table.append_column("day", pa.array(day)), name="part-0")
    path = tmp_path / "labels.tsv"
    rows = zip(records["record_id"].to_pylist(), records["retrieve"].to_pylist(), strict=True)
    lines = [f"{name}\t{stage['ids'][0]}\t1" for name, stage in rows if stage and stage["ids"]]
    path.write_text("query-id\tcorpus-id\tscore\n" + "\n".join(lines[:30]) + "\n", encoding="utf-8")
    return filled, path


def test_labels_correct_the_means(labelled):
    """The table says how far the judge agrees, and the corrected mean with its interval."""
    store, path = labelled
    done = run(store, "--labels", str(path), "--metrics", "RR@5")
    assert done.exit_code == 0, done.output
    text = done.stdout[done.stdout.index("by 30 labelled records:") :]
    assert "κ " in text
    assert "precision " in text
    assert text.splitlines()[2].split()[:4] == ["metric", "judge", "bias", "corrected"]
    assert text.splitlines()[3].startswith("MRR@5 ")


def test_labels_in_json(labelled):
    """Full precision, and null where undefined; nothing of it without labels."""
    store, path = labelled
    found = json.loads(run(store, "--labels", str(path), "--json").stdout)["labels"]
    assert {one["stage"] for one in found} >= {"retrieve"}
    mean = found[0]["means"]["RR@5"]
    assert mean["low"] <= mean["mean"] <= mean["high"]
    assert "labels" not in json.loads(run(store, "--json").stdout)


def test_labels_of_other_ids_are_refused(labelled, tmp_path):
    """Exit 3, and what the ids should be."""
    other = tmp_path / "other.tsv"
    other.write_text("query-id\tcorpus-id\tscore\nnobody\ta\t1\n", encoding="utf-8")
    done = run(labelled[0], "--labels", str(other))
    assert done.exit_code == 3
    assert "none of the 1 labelled ids is a record of the window" in done.stderr
