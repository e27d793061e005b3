"""Queries that a comparison leaves out."""

from __future__ import annotations

from ragnostic import compare
from ragnostic.cli.comparison_tables import apart_lines, verdict_lines
from ragnostic.cli.lacking import lacking_lines

GOLD = {"q1": ["a"], "q2": ["b"], "q3": ["c"]}


def test_each_kind_of_query_has_its_own_line():
    """Those that one side lacks, that nobody judged, that a side has no results for."""
    base = {"q1": ["a"], "q2": ["b"], "x": ["a"], "y": ["a"]}
    found = compare(base, {"q1": ["a"], "q3": ["c"], "y": ["a"], "z": ["a"]}, qrels=GOLD)
    assert lacking_lines(found.comparison) == [
        "1 query only in the base, not compared: x",
        "1 query only in the candidate, not compared: z",
    ]
    assert apart_lines(found)[2:] == [
        "1 query without a judgment, not compared: y",
        "1 query without results in the base: q3",
        "1 query without results in the candidate: q2",
    ]
    assert list(verdict_lines(found.comparison))[-1].endswith("(3 shared queries, retrieve)")


def test_nothing_left_out_is_no_line():
    """The usual case."""
    assert apart_lines(compare(GOLD, GOLD, qrels=GOLD)) == []
