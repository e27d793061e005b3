"""A run on the terminal."""

from __future__ import annotations

import pyarrow as pa

from ragnostic.cli.run_table import note_lines, print_run_table, stages_json, warning_lines
from ragnostic.offline.summary import SCORES_SCHEMA
from ragnostic.records import CHUNK_SCHEMA, record_schema
from ragnostic.report.run import RunData

_METRICS = ("nDCG@10", "RR@5", "R@20")


def _run(warnings=()) -> RunData:
    summary = {"mean": 1.0, "n": 2, "missing": 0, "unscored": 0, "failed": 0, "low": 1, "high": 1}
    shallow = {**summary, "mean": None, "n": 0, "low": None, "high": None, "reason": "too shallow"}
    beside = {name: {"mean": 0.5, "n": 2} for name in sorted(_METRICS)}
    stages = {
        "recall": {"metrics": dict.fromkeys(_METRICS, summary), "without_dangling": beside},
        "rank": {"metrics": {**dict.fromkeys(_METRICS, summary), "R@20": shallow}},
    }
    stages["rank"]["warnings"] = [{"kind": "odd", "message": "one", "where": "", "ids": []}]
    meta = {
        "settings": {"score": {"metrics": list(_METRICS)}},
        "stages": stages,
        "warnings": list(warnings),
    }
    records = pa.Table.from_pylist(
        [{"query_id": "q1", "query": "?"}], schema=record_schema(["recall", "rank"])
    )
    return RunData(meta, records, CHUNK_SCHEMA.empty_table(), _scores())


def _scores() -> pa.Table:
    rows = [
        {"record_id": "q1", "query_id": "q1", "stage": stage, "metric": name, "value": 1.0}
        for name in _METRICS
        for stage in ("recall", "rank")
    ]
    return pa.Table.from_pylist([{**row, "status": "ok"} for row in rows], schema=SCORES_SCHEMA)


def test_n_is_shown_for_each_stage_where_it_differs(capsys):
    """A shallow last stage does not hide the first one's."""
    print_run_table(_run())
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert rows["nDCG@10"].endswith("  2")
    assert rows["R@20"].endswith("  2 / 0")


def test_means_without_dangling_gold_are_in_the_order_of_the_table():
    """Not in that of the alphabet."""
    lines = note_lines(_run())
    assert lines[0].endswith("in the corpus: nDCG@10 0.5000, MRR@5 0.5000, R@20 0.5000")
    assert lines[1] == "rank: no R@20: too shallow"


def test_many_warnings_of_a_kind_are_three_and_a_count():
    """JSON holds them all."""
    rows = [
        {"kind": "quote_not_found", "message": f"quote {n}", "where": "", "ids": []}
        for n in range(112)
    ]
    run = _run(rows)
    assert warning_lines(run) == [
        *("quote 0", "quote 1", "quote 2", "… and 109 more of this kind (quote_not_found)"),
        "one",
    ]
    assert [len(stage["warnings"]) for stage in stages_json(run).values()] == [112, 113]
