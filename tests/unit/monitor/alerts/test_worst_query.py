"""The worst example: the query that shows best what is wrong, and nothing where none does."""

from __future__ import annotations

import runpy
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from ragnostic.monitor.alerts.worst_query import worst_query
from ragnostic.monitor.probes import PROBE_SCHEMA, RETRIEVAL
from ragnostic.monitor.signals import score_records
from ragnostic.store.lake import ParquetLake

ROWS = runpy.run_path(str(Path(__file__).parents[1] / "live_rows.py"))
NOON, record, judgment = ROWS["NOON"], ROWS["record"], ROWS["judgment"]
WINDOW = (NOON, NOON + timedelta(hours=1))


@pytest.fixture
def lake(tmp_path):
    """Four records: the right chunk at rank 1, 4, 2 and nowhere relevant."""
    lake = ParquetLake(tmp_path, "UTC")
    ids = [f"c{n}" for n in range(6)]
    rows, judged = [], []
    for number, (place, took, category) in enumerate(
        [(0, 10.0, "a"), (3, 20.0, "b"), (1, 900.0, "a"), (None, 30.0, "a")]
    ):
        ranking = ["right" if n == place else one for n, one in enumerate(ids)]
        fields = {"category": category, "context_ids": ranking[:3], "stage": {"took_ms": took}}
        if number == 3:
            ranking = []
        rows.append(record(f"r{number}", ranking, query=f"query {number}\x1b[2J", **fields))
        judged.append(judgment(f"r{number}", ["right"] if place is not None else [], grades=[1.0]))
        judged[-1]["grades"] = [1.0] if place is not None else []
        judged[-1]["weights"] = judged[-1]["grades"]
    table = ROWS["records"](*rows)
    lake.write("records", table, name="part")
    lake.write("scores", score_records(table, ROWS["judgments"](*judged)), name="part")
    return lake


@pytest.mark.parametrize(
    ("metric", "worst"),
    [
        ("RR@5", 1),
        ("R@1", 1),
        ("QER@5", 1),
        ("latency:p95", 2),
        ("empty", 3),
        ("coverage", 3),
        ("RDS", None),
        ("failed", None),
        ("nDCG@7", None),
    ],
)
def test_the_worst_by_each_figure(lake, metric, worst):
    """As a text on one line; what no row tells has none."""
    wanted = "" if worst is None else f"query {worst}"
    assert worst_query(lake, metric, *WINDOW).startswith(wanted)
    assert (worst_query(lake, metric, *WINDOW) == "") is (worst is None)


def test_it_is_of_the_slice_the_stage_and_the_judge(lake):
    """And of the window."""
    chosen = {"labels": {"category": "a"}, "stage": "retrieve", "judge": "answer_span"}
    assert worst_query(lake, "RR@5", *WINDOW, **chosen).startswith("query 2")
    assert worst_query(lake, "RR@5", *WINDOW, judge="grader") == ""
    assert worst_query(lake, "RR@5", WINDOW[1], WINDOW[1] + timedelta(hours=1)) == ""


def test_a_long_query_is_cut(lake):
    """A message has only so much room."""
    table = ROWS["records"](record("r1", ["x"], query="长" * 5000))
    lake.write("records", table, name="part")
    assert worst_query(lake, "RR@5", *WINDOW) == "长" * 300 + "…"


def test_of_probes_the_one_that_changed_most(tmp_path):
    """Its query, or its id where the text is not kept."""
    lake = ParquetLake(tmp_path, "UTC")
    assert worst_query(lake, "RCS@10", *WINDOW) == ""
    first = [f"c{n}" for n in range(12)]
    rows = [
        {"query_id": f"q{n}", "query": query, "ts": NOON, "perturbation": "seed", "first": first}
        | {"second": first[n:] + ["x"] * n}
        for n, query in enumerate(["same", "a little", None])
    ]
    schema = PROBE_SCHEMA.remove(PROBE_SCHEMA.get_field_index("day"))
    lake.write("probes", pa.Table.from_pylist(rows[:2], schema), name="part")
    assert worst_query(lake, "RCS@10", *WINDOW) == "a little"
    lake.write("probes", pa.Table.from_pylist(rows, schema), name="part")
    assert worst_query(lake, "RBO(p=0.9)@10", *WINDOW) == "q2"


def test_of_retrieval_the_one_that_changed_most(tmp_path):
    """Not one that is new, not one that never found anything, and never one of a reranker."""
    lake = ParquetLake(tmp_path, "UTC")
    lists = [("new", None, ["a"]), ("empty", [], []), ("same", ["a"], ["a"]), ("other", ["a"], [])]
    rows = [
        {"query_id": query, "query": query, "ts": NOON, "perturbation": RETRIEVAL}
        | {"first": first, "second": second, "reranker": "bm25"}
        for query, first, second in lists
    ]
    schema = PROBE_SCHEMA.remove(PROBE_SCHEMA.get_field_index("day"))
    lake.write("probes", pa.Table.from_pylist(rows[:2], schema), name="part")
    assert worst_query(lake, "RetrievalOverlap@10", *WINDOW) == ""
    lake.write("probes", pa.Table.from_pylist(rows, schema), name="part")
    assert worst_query(lake, "RetrievalRBO(p=0.9)@10", *WINDOW) == "other"
    assert worst_query(lake, "RCS@10", *WINDOW) == ""
