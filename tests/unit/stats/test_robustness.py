"""METRICS 10: wordings, flips, lengths."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.metrics import parse_list
from ragnostic.records import record_schema
from ragnostic.scoring import Plan, score
from ragnostic.stats.intervals import wilson_interval
from ragnostic.stats.robustness import (
    flips,
    length_summary,
    main_metric,
    paraphrase_groups,
    paraphrase_summary,
    spearman,
    spearman_interval,
)


def test_a_group_by_hand():
    """Mean, spread, standard deviation and worst member of 1, 0.5 and 0.25."""
    groups = pa.array(["b", "a", "b", None, "b", "a"])
    values = np.array([1.0, 0.5, 0.25, 0.0, 0.5, np.nan])
    [found] = paraphrase_groups(groups, values)
    assert (found.group, found.n, found.spread, found.worst, found.low) == ("b", 3, 0.75, 2, 0.25)
    assert found.mean == pytest.approx(1.75 / 3)
    assert found.sd == pytest.approx(np.array([1.0, 0.25, 0.5]).std())


def test_the_widest_group_comes_first():
    """Equal ones by name."""
    groups = pa.array(["c", "c", "b", "b", "a", "a"])
    values = np.array([0.5, 0.5, 1.0, 0.0, 1.0, 0.0])
    assert [one.group for one in paraphrase_groups(groups, values)] == ["a", "b", "c"]


def test_flips_are_groups_that_are_not_of_one_mind():
    """Groups of one do not count."""
    groups = pa.array(["a", "a", "b", "b", "b", "c", None])
    assert flips(groups, np.array([1, 1, 0, 1, 1, 0, 1.0])).tolist() == [0, 1]
    assert flips(pa.array([None, None], pa.string()), np.array([1.0, 0.0])).tolist() == []


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ([1], [1], None),
        ([1, 2], [1, 1], None),
        ([1, 2, 3], [3, 2, 1], -1.0),
        ([1, 1], [1, 2], None),
    ],
)
def test_a_correlation_of_what_does_not_vary_is_none(first, second, wanted):
    """Not 0."""
    assert spearman(np.array(first, float), np.array(second, float)) == wanted


def test_the_interval_of_a_correlation_needs_four_values():
    """A perfect one is a point."""
    assert spearman_interval(0.5, 3) is None
    assert spearman_interval(-1.0, 10) == (-1.0, -1.0)


def test_the_main_metric_tells_more_than_a_hit():
    """Success where there is nothing else; none without a graded one."""
    assert str(main_metric(parse_list("Success@1,P@3"))) == "P@3"
    assert str(main_metric(parse_list("Success@1,Success@5"))) == "Success@1"
    assert main_metric(parse_list("Judged@5,AUROC")) is None


A = {"ids": ["a"]}


def scored(rankings, names="Success@1,RR@2"):
    """One query a ranking, gold ``a``; None is unjudged."""
    rows = [
        {"query_id": f"q{at}", "retrieve": {"ids": ids}, "judged": None if ids is None else A}
        for at, ids in enumerate(rankings)
    ]
    table = pa.Table.from_pylist(rows, record_schema(["retrieve"]))
    return score(table, Plan(tuple(parse_list(names))))


def test_the_summary_of_paraphrases():
    """Two groups of two, one of one; q1 is the worst wording; strict JSON."""
    rankings = [["a"], ["x", "a"], ["a"], ["a"], ["a"]]
    found = paraphrase_summary(scored(rankings), pa.array(["g", "g", "h", "h", "i"]))
    assert (found["metric"], found["groups"], found["alone"]) == ("RR@2", 2, 1)
    assert (found["mean"], found["worst"], found["spread"], found["sd"]) == (
        0.875,
        0.75,
        0.25,
        0.125,
    )
    low, high = wilson_interval(0.5, 2)
    assert found["flips"] == {"Flip@1": {"share": 0.5, "groups": 2, "low": low, "high": high}}
    assert [(row["group"], row["worst"], row["low"]) for row in found["widest"]] == [
        ("g", "q1", 0.5)
    ]
    json.dumps(found, allow_nan=False)


def test_groups_of_one_have_no_flips():
    """And a set without groups no summary at all."""
    found = paraphrase_summary(scored([["a"]]), pa.array(["g"]))
    assert (found["groups"], found["mean"], found["flips"]["Flip@1"]["share"]) == (0, None, None)
    assert paraphrase_summary(scored([["a"]]), pa.array([None], pa.string())) is None
    assert paraphrase_summary(scored([["a"]], "Judged@1"), pa.array(["g"])) is None


def test_the_summary_of_lengths():
    """Longer queries fare worse here; a query without a value or a text is left out."""
    rankings = [["a"], ["a"], ["x", "a"], ["x"], None]
    found = length_summary(scored(rankings), np.array([2, 3, 5, 20, 7.0]))
    assert (found["metric"], found["n"]) == ("RR@2", 4)
    assert found["rho"] == spearman(np.array([2, 3, 5, 20.0]), np.array([1, 1, 0.5, 0]))
    assert found["low"] < found["rho"] < found["high"]
    rows = [(row["bucket"], row["n"], row["mean"]) for row in found["buckets"]]
    assert rows == [("≤3", 2, 1.0), ("4–11", 1, 0.5), ("≥12", 1, 0.0)]
    json.dumps(found, allow_nan=False)


def test_lengths_that_are_all_alike_have_no_correlation():
    """The buckets stay; without texts there is nothing."""
    found = length_summary(scored([["a"], ["x"]]), np.array([2, 2.0]))
    assert (found["rho"], found["low"]) == (None, None)
    assert found["buckets"][1] == {
        "bucket": "4–11", "n": 0, "mean": None, "low": None, "high": None,
    }  # fmt: skip
    assert length_summary(scored([["a"]]), np.array([np.nan])) is None
