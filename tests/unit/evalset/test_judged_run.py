"""A run met with its qrels."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ragnostic.evalset import judged_run as judged_run_module
from ragnostic.evalset.judged_run import JudgedRun
from ragnostic.evalset.python_input import qrels_from, run_from


def joined(qrels, run):
    """Rows (query, ids of the ranking, gold ids) and faults by kind."""
    found = JudgedRun(qrels_from(qrels).table, run_from(run).batches())
    rows = [
        tuple(
            (row[c] or {}).get("ids") if c != "query_id" else row[c]
            for c in ("query_id", "retrieve", "judged")
        )
        for batch in found.batches()
        for row in batch.to_pylist()
    ]
    return rows, {fault.kind: fault for fault in found.faults}


def test_found_unjudged_and_missing_queries():
    """The run's queries first, then those it lacks; both are listed."""
    rows, faults = joined({"q1": ["a"], "q2": ["b"]}, {"q1": ["x"], "q9": ["y"]})
    assert rows == [("q1", ["x"], ["a"]), ("q9", ["y"], None), ("q2", None, ["b"])]
    assert faults["missing_query"].ids == ("q2",)
    assert faults["unjudged_query"].ids == ("q9",)
    assert set(faults) == {"missing_query", "unjudged_query"}


def test_no_shared_query_is_said_loudly():
    """The ids of the queries do not match."""
    _, faults = joined({"q1": ["a"]}, {"Q1": ["a"]})
    assert "no_shared_query" in faults


def test_long_lists_of_queries_are_cut_in_the_message_only():
    """All ids stand in the fault."""
    _, faults = joined({f"q{i}": ["a"] for i in range(30)}, {"q0": ["a"]})
    assert len(faults["missing_query"].ids) == 29
    assert faults["missing_query"].message.endswith("q20 and 9 more")


@pytest.mark.parametrize(
    ("gold", "result"),
    [("doc-7 ", "doc-7"), ("doc-7", " doc-7"), ("ｄｏｃ", "doc"), ("cafe\u0301", "caf\u00e9"),
     ("a\tb ", "a\tb")],
)  # fmt: skip
def test_ids_that_differ_in_spelling_only_are_listed_and_not_matched(gold, result):
    """METRICS 1.6, whichever side is odd."""
    rows, faults = joined({"q1": [gold, "z"], "q2": ["z"]}, {"q1": [result], "q2": ["z"]})
    assert rows[0] == ("q1", [result], [gold, "z"])
    fault = faults["near_match"]
    assert fault.ids == ("q1",)
    assert repr(gold) in fault.message
    assert repr(result) in fault.message


@pytest.mark.parametrize(
    ("gold", "results"),
    [("文档", ["文档"]), ("a b", ["a b"]), ("a ", ["b"]), ("b", ["ａ"]), ("a", [None, ""])],
)
def test_what_matches_or_is_only_odd_is_no_near_match(gold, results):
    """Nothing is said."""
    _, faults = joined({"q1": [gold]}, {"q1": results})
    assert faults == {}


def test_only_so_many_odd_ids_are_kept(monkeypatch):
    """A run of millions of odd ids does not fill the memory."""
    monkeypatch.setattr(judged_run_module, "_KEPT", 1)
    ranking = pa.array([{"ids": ["ａ", "ｂ"]}])
    batches = [
        pa.RecordBatch.from_pydict({"query_id": [f"q{i}"], "retrieve": ranking}) for i in range(3)
    ]
    found = JudgedRun(qrels_from({"q0": ["a"]}).table, batches)
    assert len(list(found.batches())) == 3
    assert [f.kind for f in found.faults] == ["unjudged_query", "near_match"]


def test_numbers_as_ids_meet_gold_that_is_oddly_spelt():
    """They are compared as text."""
    rows, faults = joined(
        {"q1": ["７"]}, pa.table({"query_id": ["q1"], "retrieve": [{"ids": [7]}]})
    )
    assert rows == [("q1", [7], ["７"])]
    assert "near_match" in faults
