"""Reports from files alone: texts, queries, fingerprints."""

from __future__ import annotations

import json
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.errors import DataError
from ragnostic.offline.judged_files import Shown, run_from_qrels, run_from_records
from ragnostic.records import STAGE_TYPE

QUERIES = {"q1": "How long is leave?", "q2": "How far is the moon?"}
CORPUS = {"d1": "Leave is long.", "d2": "The moon is far."}


def rows(path, table, key="_id"):
    """JSON Lines of ids and texts."""
    lines = (json.dumps({key: id_, "text": text}) for id_, text in table.items())
    path.write_text("\n".join(lines), "utf-8")


@pytest.fixture
def beir(tmp_path):
    """A BEIR folder with two queries, and a run that misses d9, which no corpus holds."""
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td9\t1\n"
    )
    (tmp_path / "run.txt").write_text("q1 Q0 d2 1 3 x\nq1 Q0 d1 2 2 x\nq2 Q0 d2 1 3 x\n")
    rows(tmp_path / "queries.jsonl", QUERIES)
    rows(tmp_path / "corpus.jsonl", CORPUS)
    return tmp_path


def read(beir, shown=None, **rest):
    """The run of these files."""
    return run_from_qrels(beir / "qrels" / "test.tsv", beir / "run.txt", shown or Shown(), **rest)


@pytest.mark.parametrize(
    "names",
    [("corpus", "."), ("corpus", "corpus.jsonl"), ("queries", "."), ("queries", "queries.jsonl")],
)
def test_queries_of_a_beir_folder_are_shown(beir, names):
    """Given as the folder, as its corpus file or as its queries file."""
    kind, name = names
    run = read(beir, Shown(**{kind: beir / name}))
    assert run.records["query"].to_pylist() == list(QUERIES.values())


def test_an_evaluation_set_gives_categories_too(beir):
    """Its queries win over those beside the corpus."""
    row = {"query_id": "q1", "query": "Leave?", "category": "hr", "gold_ids": ["d1"]}
    (beir / "set.jsonl").write_text(json.dumps(row))
    run = read(beir, Shown(beir, beir / "set.jsonl"))
    assert run.records["query"].to_pylist() == ["Leave?", None]
    assert run.records["category"].to_pylist() == ["hr", None]
    (beir / "set.csv").write_text("query_id,query,gold_ids\nq2,Moon?,d9\n")
    run = read(beir, Shown(queries=beir / "set.csv"))
    assert run.records["query"].to_pylist() == [None, "Moon?"]


@pytest.mark.parametrize("text", ["", "no json", "[1]"])
def test_queries_that_cannot_be_read_are_refused(beir, text):
    """An error, not a page without queries."""
    (beir / "set.jsonl").write_text(text)
    with pytest.raises(DataError):
        read(beir, Shown(queries=beir / "set.jsonl"))
    with pytest.raises(DataError, match=r"no queries\.jsonl"):
        read(beir, Shown(queries=beir / "qrels"))


def test_other_corpora_bring_no_queries(beir):
    """Only texts; without a corpus not even those."""
    (beir / "texts.jsonl").write_bytes((beir / "corpus.jsonl").read_bytes())
    run = read(beir, Shown(beir / "texts.jsonl"))
    assert run.records["query"].to_pylist() == [None, None]
    assert run.chunks["text"].to_pylist() == list(CORPUS.values())
    assert read(beir).chunks.num_rows == 0


def test_a_corpus_that_holds_all_results_is_the_corpus_of_the_run(beir):
    """Then gold outside it is known to be; a part of the texts says nothing."""
    corpus = read(beir, Shown(beir)).meta["data"]["corpus"]
    assert corpus["documents"] == 2
    rows(beir / "corpus.jsonl", {"d1": "Leave is long."})
    assert read(beir, Shown(beir)).meta["data"]["corpus"] is None
    assert read(beir).meta["data"]["corpus"] is None


def test_files_leave_their_fingerprints(beir):
    """And only packages that took part are named."""
    run = read(beir)
    digest = sha256((beir / "run.txt").read_bytes()).hexdigest()
    assert run.meta["data"]["run"] == {"path": str(beir / "run.txt"), "sha256": digest}
    assert set(run.meta["data"]["qrels"]) == {"path", "sha256"}
    assert set(run.meta["versions"]) == {"python", "ragnostic", "numpy", "pyarrow"}
    assert run.meta["run"] == "test.tsv × run.txt"


def test_records_make_a_run_of_all_their_stages(beir):
    """With a fingerprint too; records without judgments are refused."""
    file = beir / "records.jsonl"
    row = {"query_id": "q1", "retrieve": {"ids": ["d2", "d1"]}, "rerank": {"ids": ["d1"]}}
    file.write_text(json.dumps({**row, "judged": {"ids": ["d1"], "grades": [1]}}))
    run = run_from_records(file, Shown(queries=beir), ["RR@5"])
    assert run.stages == ("retrieve", "rerank")
    assert run.records["query"].to_pylist() == [QUERIES["q1"]]
    assert len(run.meta["data"]["records"]["sha256"]) == 64


def test_the_page_takes_metrics_and_queries_of_the_command_line(beir):
    """``--metrics`` and ``--queries`` go with files, not with a run."""
    files = ["--qrels", str(beir / "qrels" / "test.tsv"), "--run", str(beir / "run.txt")]
    page = beir / "page.html"
    more = ["--queries", str(beir), "--metrics", "mrr@3,R@2", "--out", str(page), "--lang", "en"]
    done = CliRunner().invoke(cli.app, ["report", *files, *more])
    assert done.exit_code == 0, done.output
    text = page.read_text("utf-8")
    assert "MRR@3" in text
    assert "nDCG" not in text
    assert QUERIES["q2"] in text
    assert CliRunner().invoke(cli.app, ["report", "some-run", "--metrics", "R@2"]).exit_code == 2


@pytest.mark.parametrize(
    ("rows", "told"), [([], "no usable record"), ([{"query_id": "q1"}], "no judgments")]
)
def test_records_without_anything_to_judge_by_are_refused(tmp_path, rows, told):
    """No rows, or no column of judgments."""
    schema = pa.schema([("query_id", pa.string()), ("retrieve", STAGE_TYPE)])
    pq.write_table(pa.Table.from_pylist(rows, schema), tmp_path / "records.parquet")
    with pytest.raises(DataError, match=told):
        run_from_records(tmp_path / "records.parquet", Shown())
