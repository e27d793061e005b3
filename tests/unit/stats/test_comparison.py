"""Two sides compared: findings, what is refused, what is listed, what changed."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.errors import UsageError
from ragnostic.stats import Difference, changes, compare_sides, side_from_values
from ragnostic.stats.comparison import finding_of


def side(name: str, stage: str = "retrieve", **metrics):
    """A side from values a metric; ``AP={"q1": 1}``."""
    return side_from_values(
        name, {metric.replace("_", "@"): values for metric, values in metrics.items()}, stage
    )


def row(value: float, count: int = 30) -> dict[str, float]:
    """One value for each of several queries."""
    return {f"q{n}": value for n in range(count)}


@pytest.mark.shared
def test_a_run_compared_with_itself(shared):
    """The shared case: every figure, and all of them finite."""
    case = json.loads((shared / "cases/compare-with-itself.json").read_text())
    given_, expect = case["given"], case["expect"]
    sides = [side_from_values(name, {given_["metric"]: given_[name]}) for name in ("a", "b")]
    found = compare_sides(*sides)[given_["metric"]]
    one = found.difference
    assert (one.value, [one.low, one.high], one.p) == (
        expect["diff"],
        expect["interval"],
        expect["p"],
    )
    assert (one.wins, one.ties, one.losses) == (expect["wins"], expect["ties"], expect["losses"])
    assert found.finding == "same"
    # The gate passes where the whole interval lies above the allowed loss.
    assert one.low >= -given_["allowed_loss"]
    assert "NaN" not in json.dumps(compare_sides(*sides).as_json())


@pytest.mark.shared
def test_two_cutoffs_are_refused_with_both_names(shared):
    """The shared case: mrr@5 is RR@5, which is not RR@10."""
    case = json.loads((shared / "cases/compare-different-names.json").read_text())
    sides = [
        side_from_values(name, {metric: {"q1": value} for metric, value in metrics.items()})
        for name, metrics in case["given"].items()
    ]
    with pytest.raises(UsageError) as caught:
        compare_sides(*sides)
    for name in case["expect"]["error"]["must_name"]:
        assert name in str(caught.value)


def test_better_and_worse_need_interval_and_p():
    """A clear gain, a clear loss, and one query too few to tell."""
    base = side("old", AP=row(0.0))
    gain = {query: 0.1 + n / 100 for n, query in enumerate(row(0))}
    better = compare_sides(base, side("new", AP=gain))
    assert better["AP"].finding == "better"
    assert compare_sides(side("new", AP=gain), base)["map"].finding == "worse"
    one = compare_sides(base, side("new", AP=row(0.0) | {"q3": 1.0}))
    assert one["AP"].finding == "cannot_tell"


@pytest.mark.parametrize(
    ("low", "high", "p", "higher", "finding"),
    [
        (0.1, 0.2, 0.05, True, "better"),
        (0.1, 0.2, 0.051, True, "cannot_tell"),
        (0.0, 0.2, 0.01, True, "cannot_tell"),
        (-0.2, -0.1, 0.01, True, "worse"),
        (-0.2, -0.1, 0.01, False, "better"),
        (0.1, 0.2, 0.01, False, "worse"),
        (None, None, 0.01, True, "cannot_tell"),
        (0.1, 0.2, None, True, "cannot_tell"),
    ],
)
def test_findings(low, high, p, higher, finding):
    """Interval off 0 and p after Holm at most 0.05; turned where lower is better."""
    found = Difference(n=9, value=0.1, low=low, high=high, p=p, p_holm=p, wins=9)
    assert finding_of(found, higher_is_better=higher) == finding


def test_fewer_false_retrievals_are_better():
    """The registry says which way a metric goes."""
    values = [side(name, FalseRetrieval_5=row(value)) for name, value in (("a", 1), ("b", 0))]
    found = compare_sides(*values)["FalseRetrieval@5"]
    assert (found.finding, found.difference.value, found.difference.wins) == ("better", -1, 30)


def test_holm_runs_over_the_metrics_of_the_comparison():
    """One more metric, twice the p; asked for one alone, its own."""
    base = side("a", AP=row(0.0, 6), P_5=row(0.0, 6))
    candidate = side("b", AP=row(0.5, 6), P_5=row(0.5, 6))
    assert compare_sides(base, candidate)["AP"].difference.p_holm == 4 / 64
    assert compare_sides(base, candidate, ["AP"])["AP"].difference.p_holm == 2 / 64


def test_queries_of_one_side_are_listed_and_unpaired_values_counted():
    """Ids that one side lacks, and shared ones with a value on one side only."""
    base = side("a", AP={"q1": 1.0, "q2": None, "q3": 0.5, "q4": 1.0, "q5": None})
    candidate = side("b", AP={"q6": 1.0, "q3": None, "q2": 0.1, "q1": 0.5, "q5": None})
    found = compare_sides(base, candidate)
    assert (found.shared, found.only_base, found.only_candidate) == (4, ("q4",), ("q6",))
    assert found["AP"].difference.n == 1
    assert found["AP"].unpaired == 4


def test_final_stages_are_compared_unless_one_is_named():
    """Base without, candidate with a reranker."""
    plain = side("a", AP=row(0.5))
    rerank = side("b", stage="rerank", AP=row(1.0)).values
    both = dataclasses.replace(
        side("b", AP=row(0.5)),
        stages=("retrieve", "rerank"),
        values=side("b", AP=row(0.5)).values | rerank,
    )
    found = compare_sides(plain, both)
    assert found.stages == ("retrieve", "rerank")
    assert (found["AP"].base_stage, found["AP"].candidate_stage) == ("retrieve", "rerank")
    assert found["AP"].difference.value == 0.5
    assert compare_sides(plain, both, stage="retrieve")["AP"].finding == "same"
    assert changes(plain, both, "AP", stage="retrieve") == []
    with pytest.raises(UsageError, match="a has no stage 'rerank'") as caught:
        compare_sides(plain, both, stage="rerank")
    assert "retrieve" in caught.value.hint


def test_metrics_that_one_side_lacks_are_named():
    """Left out and listed where all were asked for, refused where they were named."""
    base, candidate = side("a", AP=row(1), RR_5=row(1)), side("b", AP=row(1), RR_10=row(1))
    assert compare_sides(base, candidate).unshared == ("RR@5", "RR@10")
    assert compare_sides(base, candidate, ["map"]).unshared == ()
    with pytest.raises(UsageError, match="no RR@5 to compare: b has AP, RR@10 at stage retrieve"):
        compare_sides(base, candidate, ["AP", "mrr@5"])
    with pytest.raises(UsageError, match="unknown metric"):
        compare_sides(base, candidate, ["nonsense"])
    with pytest.raises(UsageError, match="no metric is named"):
        compare_sides(base, candidate, [])
    with pytest.raises(UsageError, match="a has none"):
        compare_sides(side("a"), candidate)
    with pytest.raises(UsageError, match=r"RR@5 was not compared\n.*there are: AP"):
        compare_sides(base, candidate)["RR@5"]


def test_slices_need_the_column_on_both_sides():
    """Values of the candidate count; others are no slices."""
    base, candidate = (side(name, AP=row(value, 12)) for name, value in (("a", 0.0), ("b", 1.0)))
    names = pa.array(["hr"] * 6 + ["it"] * 6)
    base = dataclasses.replace(base, columns={"category": pa.array(["x"] * 12), "set": names})
    candidate = dataclasses.replace(candidate, columns={"category": names, "source": names})
    found = compare_sides(base, candidate)
    assert [(s.value, s.difference.n) for s in found.slices["category"]] == [("hr", 6), ("it", 6)]
    assert set(found.slices) == {"category"}


def test_json_has_the_agreed_members():
    """Names of the contract, all of them plain JSON."""
    base, candidate = side("a", AP=row(0.0, 6)), side("b", AP=row(1.0, 5))
    names = pa.array(["hr"] * 5)
    base = dataclasses.replace(base, columns={"category": pa.array(["hr"] * 6)})
    candidate = dataclasses.replace(candidate, columns={"category": names})
    found = compare_sides(base, candidate).as_json()
    assert found == json.loads(json.dumps(found))
    assert found["base"] == {"name": "a", "stage": "retrieve"}
    assert found["queries"] == {
        "shared": 5,
        "unjudged": [],
        "only_base": ["q5"],
        "only_candidate": [],
    }
    expected = {
        *("base", "candidate", "difference", "low", "high", "method", "p", "p_holm", "exact", "n"),
        *("wins", "ties", "losses", "detectable"),
    }
    assert set(found["metrics"]["AP"]) == expected | {"unpaired", "finding"}
    [one] = found["slices"]["category"]
    assert set(one) == expected | {"value", "metric"}
    assert (one["value"], one["difference"]) == ("hr", 1.0)


def test_changes_are_the_queries_that_differ_biggest_losses_first():
    """Undefined and equal ones are none; equal losses keep the base's order."""
    base = side("a", AP={"q1": 0.5, "q2": 1.0, "q3": 1.0, "q4": None, "q5": 0.1, "q6": 0.3})
    candidate = side("b", AP={"q6": 0.3 + 1e-10, "q1": 1.0, "q3": 0.5, "q2": 0.5, "q4": 1.0})
    found = changes(base, candidate, "map")
    assert [change.query_id for change in found] == ["q2", "q3", "q1"]
    assert (found[0].before, found[0].after, found[0].difference) == (1.0, 0.5, -0.5)


def test_changes_of_a_metric_whose_small_values_are_good_are_turned():
    """A new false retrieval is the loss."""
    base = side("a", FalseRetrieval_5={"q1": 1, "q2": 0})
    candidate = side("b", FalseRetrieval_5={"q1": 0, "q2": 1})
    assert [c.query_id for c in changes(base, candidate, "FalseRetrieval@5")] == ["q2", "q1"]


VALUES = st.dictionaries(
    st.sampled_from("abcdefgh"), st.none() | st.sampled_from([0.0, 0.5, 1.0]), max_size=8
)


@settings(max_examples=40)
@given(VALUES, VALUES)
def test_a_comparison_accounts_for_every_query(base, candidate):
    """Shared and listed ones are all; wins and losses are the changes; JSON is strict."""
    sides = side_from_values("a", {"AP": base}), side_from_values("b", {"AP": candidate})
    found = compare_sides(*sides)
    assert found.shared + len(found.only_base) == len(base)
    assert found.shared + len(found.only_candidate) == len(candidate)
    one = found["AP"].difference
    known = [
        {query for query, value in values.items() if value is not None}
        for values in (base, candidate)
    ]
    assert one.n == len(known[0] & known[1])
    assert found["AP"].unpaired == len(known[0] ^ known[1])
    differing = changes(*sides, "AP")
    assert len(differing) == one.wins + one.losses
    assert np.all(np.diff([change.difference for change in differing]) >= 0)
    json.dumps(found.as_json(), allow_nan=False)
