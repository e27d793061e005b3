"""Stages that are odd as a whole."""

from __future__ import annotations

from ragnostic.offline.stage_faults import stage_faults
from ragnostic.records import EvalQuery, Hits

_QUERIES = [EvalQuery("q1", "x"), EvalQuery("q2", "y")]


def test_a_stage_without_any_result_is_told():
    """Failed queries do not count as answered."""
    failed = Hits(status="failed", error="down")
    (fault,) = stage_faults(_QUERIES, {"retrieve": [Hits(), failed]})
    assert (fault.kind, fault.count) == ("no_results", 1)
    assert "nothing for any of 1 query" in fault.message
    assert not list(stage_faults(_QUERIES, {"retrieve": [Hits(), Hits(("a",))]}))
    assert not list(stage_faults(_QUERIES, {"retrieve": [failed, failed]}))


def test_answers_with_other_stages_are_told_with_a_query():
    """Each stage that some answers lack."""
    hits = Hits(("a",))
    (fault,) = stage_faults(_QUERIES, {"a": [hits, hits], "b": [hits, None]})
    assert (fault.kind, fault.ids) == ("stages_differ", ("q2",))
    assert "stage 'b' is not in the answer for 1 of 2 queries, such as 'q2'" in fault.message
