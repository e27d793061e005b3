"""Faults of rankings: counted, named, merged."""

from __future__ import annotations

import pyarrow as pa

from ragnostic.errors import Fault
from ragnostic.metrics import Metric
from ragnostic.records import record_schema
from ragnostic.scoring import Plan, score
from ragnostic.scoring import scored as scored_module
from ragnostic.scoring.faults import merged


def faults(*rankings, top_k=None):
    """Kind → fault of scoring these rankings."""
    rows = [
        {"query_id": f"q{i}", "retrieve": {"ids": ids, "top_k": top_k}, "judged": {"ids": ["a"]}}
        for i, ids in enumerate(rankings)
    ]
    table = pa.Table.from_pylist(rows, record_schema(["retrieve"]))
    return {fault.kind: fault for fault in score(table, Plan((Metric.parse("RR"),))).faults}


def test_a_repeated_id_is_named_with_its_query():
    """And counted as often as it was taken out."""
    found = faults(["A", "A", "A"], ["b"])["duplicate_retrieved"]
    assert found.count == 2
    assert found.ids == ("q0",)
    assert "q0 (id A)" in found.message
    assert found.message.startswith("retrieve: 2 ×")


def test_null_and_empty_ids_are_named_with_their_rank():
    """The rank after duplicates were taken out, which is the one that is scored."""
    found = faults(["A", "A", None, ""], [""])
    assert "q0 (rank 2)" in found["null_retrieved_id"].message
    assert "q0 (rank 3), q1 (rank 1)" in found["empty_retrieved_id"].message


def test_more_results_than_were_asked_for_are_reported():
    """Cut at top_k."""
    found = faults(["a", "b", "c"], ["a"], top_k=2)
    assert "q0 (3 results for top_k 2)" in found["more_results_than_top_k"].message


def test_a_clean_ranking_has_no_fault():
    """Nothing is said."""
    assert faults(["a", "b"], []) == {}


def test_a_message_names_twenty_and_counts_all():
    """The rest is a number."""
    many = [Fault("duplicate_retrieved", f"id {i}", ids=(f"q{i}",)) for i in range(25)]
    (found,) = merged(many)
    assert found.count == 25
    assert found.message.endswith("q19 (id 19) and 5 more")


def test_millions_of_faults_do_not_pile_up(monkeypatch):
    """What no message would name is folded into one with the exact count."""
    monkeypatch.setattr(scored_module, "_KEPT_FAULTS", 50)
    rows = [
        {"query_id": f"q{i}", "retrieve": {"ids": ["a", "a"]}, "judged": {"ids": ["a"]}}
        for i in range(200)
    ]
    table = pa.Table.from_pylist(rows, record_schema(["retrieve"]))
    found = score(table.to_batches(max_chunksize=20), Plan((Metric.parse("RR"),)))
    (fault,) = found.faults
    assert fault.count == found.counts["duplicates"] == 200
