"""The Python interface of a comparison."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from ragnostic import DataError, compare, evaluate, load_qrels, load_run
from ragnostic.errors import UsageError
from ragnostic.offline.compare_table import values_table
from ragnostic.report.run import RunData

MADE = runpy.run_path(str(Path(__file__).parent / "compared_run.py"))
GOLD = {"q1": ["a"], "q2": ["b"], "q3": ["c"], "q4": ["d"]}
BASE = {"q1": ["a"], "q2": ["x", "b"], "q3": ["x", "c"], "q4": ["d"]}
VALUES = {"RR@5": {f"q{n}": n / 9 for n in range(9)}}


def made(name, rankings, gold, **options) -> RunData:
    """A run in memory."""
    return MADE["compared_run"](name, rankings, gold, **options)


@pytest.fixture
def runs():
    """Forty queries: a base, and a candidate that is worse on every fifth."""
    good, gold = MADE["planted"](40)
    bad, _ = MADE["planted"](40, range(0, 40, 5))
    return made("one", good, gold), made("two", bad, gold)


def test_queries_missing_from_a_run_score_zero_and_are_listed():
    """A run that answered fewer queries is not better for it."""
    found = compare(BASE, {"q1": ["a"], "q2": ["b"]}, qrels=GOLD, metrics=["mrr@5"])
    difference = found["RR@5"].difference
    assert (difference.base, difference.candidate, difference.value) == (0.75, 0.5, -0.25)
    assert difference.n == 4
    assert found.missing == {"base": [], "candidate": ["q3", "q4"]}
    assert [change.query_id for change in found.changes] == ["q4", "q3", "q2"]
    assert found["mrr@5"] == found["RR@5"]
    assert found.base_run.records["query_id"].to_pylist() == ["q2", "q3", "q4"]


def test_missing_queries_may_be_left_out_instead():
    """As trec_eval does."""
    found = compare(BASE, {"q1": ["a"]}, qrels=GOLD, metrics=["RR@5"], missing="skip")
    assert found["RR@5"].difference.n == 1
    assert found["RR@5"].unpaired == 3


def test_the_metrics_of_the_gate_are_scored_too():
    """Where qrels are given; the metrics asked for are those that are compared."""
    found = compare(BASE, BASE, qrels=GOLD, metrics=["RR@5"], gates=["R@3 >= -0.1"])
    assert list(found.as_json()["metrics"]) == ["RR@5"]
    assert found.verdict == "PASS"
    assert "nDCG@10" in compare(BASE, BASE, qrels=GOLD).as_json()["metrics"]


def test_score_order_turns_a_run_around():
    """Distances: lower is better, in the rankings shown too."""
    run = {"q1": {"a": 0.1, "x": 0.9}}
    options = {"qrels": {"q1": ["a"]}, "metrics": ["RR@5"]}
    found = compare({"q1": ["x", "a"]}, run, score_order="distance", **options)
    assert found["RR@5"].difference.value == 0.5
    assert found.candidate_run.records["retrieve"][0]["ids"].as_py() == ["a", "x"]
    assert compare({"q1": ["x", "a"]}, run, **options)["RR@5"].finding == "same"


def test_a_run_compared_with_itself_says_so(runs):
    """In memory, by values, and as evaluations; every interval is the point 0."""
    whole = evaluate(GOLD, BASE, ["RR@5"])
    for side, metric in ((runs[0], "RR@10"), (VALUES, "RR@5"), (whole, "RR@5")):
        found = compare(side, side, gates=[f"{metric} >= -0.01"])
        assert found.announced == [f"base and candidate are the same: {found.comparison.base}"]
        assert found.verdict == "PASS"
        assert found.changes == []
        for compared in found.comparison.metrics:
            difference = compared.difference
            assert (difference.value, difference.low, difference.high, difference.p) == (0, 0, 0, 1)
            assert difference.ties == difference.n


def test_repeats_are_averaged_within_the_query():
    """As lists of values, or as several runs of one system; the spread is kept."""
    repeats = {"nDCG@5": {"q1": [0.2, 0.6, 1.0], "q2": [0.5, 0.5, 0.5]}}
    single = [{"nDCG@5": {"q1": a, "q2": 0.5}} for a in (0.2, 0.6, 1.0)]
    for given in (repeats, single):
        side = compare(given, {"nDCG@5": {"q1": 0.6, "q2": 0.5}}).base
        assert side.values["retrieve", "nDCG@5"] == pytest.approx([0.6, 0.5])
        assert side.spreads["retrieve", "nDCG@5"] == pytest.approx([0.8, 0.0])
        assert side.rows == 6
    found = compare(repeats, VALUES | repeats)
    assert "the base is the mean of 3 runs, query by query; rankings are shown of the first" in (
        found.announced
    )


def test_several_runs_stand_for_one_system(runs):
    """Metrics that only some of them have are left out; other settings are said."""
    one, two = runs
    rankings, gold = MADE["planted"](40)
    other = made("three", rankings, gold, metrics=["RR@10"], settings={"chunk": {"by": "fixed"}})
    found = compare([one, other], [two])
    assert [metric.metric for metric in found.comparison.metrics] == ["RR@10"]
    assert found.comparison.base == "one + three"
    mixed = "the runs of the base do not share their settings: chunk.by; score.metrics"
    assert mixed in found.announced
    assert "only one side measures R@10: not compared" in found.announced
    assert found.comparison.unshared == ("R@10",)


def test_two_metrics_of_other_names_are_not_compared():
    """Both names are told, for means alone too."""
    for one, two in ((0.71, 0.78), ({"q": 0.71}, {"q": 0.78})):
        with pytest.raises(UsageError) as caught:
            compare({"mrr@5": one}, {"RR@10": two})
        assert "RR@5" in str(caught.value)
        assert "RR@10" in str(caught.value)


def test_means_alone_are_not_compared():
    """A comparison is paired."""
    with pytest.raises(UsageError, match=r"of RR@5 only a mean is given"):
        compare({"mrr@5": 0.71}, {"RR@5": 0.78})


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (
            (VALUES, {"RR@5": {"z": 1}}),
            {},
            "base and candidate have no query in common: base has q0",
        ),
        ((VALUES, {"RR@5": {}}), {}, "candidate has none"),
        ((VALUES, VALUES), {"metrics": ["R@5"]}, "there is no R@5 to compare: base has RR@5"),
        ((VALUES, VALUES), {"stage": "rerank"}, "base has no stage 'rerank'"),
        ((VALUES, VALUES), {"gates": ["RR@5"]}, "has no bound"),
        ((VALUES, VALUES), {"gates": ["R@5 >= 0"]}, "base has no R@5"),
        ((VALUES, VALUES), {"missing": "some"}, "missing is 'some'; it must be 'zero' or 'skip'"),
        ((VALUES, VALUES), {"score_order": "up"}, "score_order is 'up'"),
        (([], VALUES), {}, "base: the list of runs is empty"),
        ((7, VALUES), {}, "base: cannot compare a int"),
        ((VALUES, VALUES), {"gates": ""}, "gate '' is empty"),
        ((VALUES, "nowhere"), {}, "nowhere is no run folder"),
        ((VALUES, __file__), {}, "is a file, not a run folder"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, options, said):
    """With a message for a person."""
    with pytest.raises(UsageError, match=said):
        compare(*arguments, **options)


def test_a_shared_query_with_another_gold_is_refused(runs):
    """Also between the repeats of one side."""
    rankings, gold = MADE["planted"](40)
    other = made("three", rankings, gold | {"q0003": ["z"]})
    for sides in ((runs[0], other), ([runs[0], other], runs[1])):
        with pytest.raises(UsageError, match="1 shared query has another gold: q0003"):
            compare(*sides)


def test_queries_of_one_side_are_listed(runs):
    """And the others are compared."""
    rankings, gold = MADE["planted"](41, [3])
    gold.pop("q0000")
    found = compare(runs[0], made("three", rankings, gold))
    assert found.comparison.only_base == ("q0000",)
    assert found.comparison.only_candidate == ("q0040",)
    assert found.comparison.shared == 39
    assert [change.query_id for change in found.changes] == ["q0003"]


def test_a_folder_is_compared_as_the_run_in_memory(runs, tmp_path):
    """By path; the same settings, slices, values, and the same page."""
    folders = [MADE["saved"](run, tmp_path) for run in runs]
    found, other = (
        compare(*folders, gates=["RR@10 >= -0.5"]),
        compare(*runs, gates=["RR@10 >= -0.5"]),
    )
    assert found.as_json() == other.as_json()
    assert found.to_markdown() == other.to_markdown()
    assert found.base_run.chunks.num_rows == 80


def test_any_stage_can_be_compared(runs):
    """The final one where none is named; gate rules name their own."""
    rankings, gold = MADE["planted"](40)
    two = made("two", rankings, gold, stages=("retrieve", "rerank"))
    found = compare(runs[0], two, gates=["RR@10#retrieve >= -0.5"])
    assert found.comparison.stages == ("retrieve", "rerank")
    assert found.announced[0].startswith("the stages differ: retrieve of the base, rerank")
    assert compare(runs[0], two, stage="retrieve").comparison.stages == ("retrieve", "retrieve")


def test_the_json_is_complete_and_strict(runs):
    """The members that the interface names; no NaN."""
    found = compare(*runs, gates=["RR@10 >= -0.02"]).as_json()
    told = json.loads(json.dumps(found, allow_nan=False))
    assert told["base"] == {"name": "one", "stage": "retrieve"}
    assert told["queries"]["shared"] == 40
    assert told["queries"]["missing"] == {"base": [], "candidate": []}
    wanted = {
        "base",
        "candidate",
        "difference",
        "low",
        "high",
        "method",
        "p",
        "p_holm",
        "n",
        "wins",
    }
    wanted |= {"ties", "losses", "detectable", "unpaired", "finding"}
    assert wanted <= set(told["metrics"]["RR@10"])
    assert told["gates"][0]["rule"] == "RR@10 >= -0.02"
    assert told["verdict"] == "FAIL"
    assert len(told["changed"]) == 8
    assert set(told["changed"][0]) == {"query_id", "before", "after"}
    assert {"slices", "settings", "announced", "warnings"} <= set(told)


def test_warnings_of_files_say_whose_they_are(tmp_path):
    """Those of the qrels once; those of a run with its name."""
    (tmp_path / "q.txt").write_text("q1 0 a 1\nq1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "one.txt").write_text("q1 Q0 a 1 2 t\nq2 Q0 b 1 1 t\n")
    (tmp_path / "two.txt").write_text("q1 Q0 a 1 2 t\nq9 Q0 b 1 1 t\n")
    qrels = load_qrels(tmp_path / "q.txt")
    two = load_run(tmp_path / "two.txt")
    found = compare(tmp_path / "one.txt", two, qrels=qrels, metrics=["RR@5"])
    kinds = [fault.kind for fault in found.warnings]
    assert kinds.count("duplicate_gold") == 1
    assert {"missing_query", "unjudged_query"} <= set(kinds)
    missing = next(fault for fault in found.warnings if fault.kind == "missing_query")
    assert missing.where == str(tmp_path / "two.txt")
    assert found.comparison.candidate == str(tmp_path / "two.txt")
    assert found.candidate_run.records["query_id"].to_pylist() == ["q2"]


def test_what_cannot_be_scored_raises():
    """As evaluate does."""
    with pytest.raises(DataError, match="q1"):
        compare({"q1": {"a": float("nan")}}, BASE, qrels=GOLD)


def test_the_table_holds_every_query_of_either_side():
    """Null where a side has none."""
    found = compare({"RR@5": {"a": 1.0, "b": 0.5}}, {"RR@5": {"b": 1.0, "c": None}})
    assert values_table(found).to_pylist() == [
        {"query_id": "a", "base RR@5": 1.0, "candidate RR@5": None, "difference RR@5": None},
        {"query_id": "b", "base RR@5": 0.5, "candidate RR@5": 1.0, "difference RR@5": 0.5},
        {"query_id": "c", "base RR@5": None, "candidate RR@5": None, "difference RR@5": None},
    ]


def test_a_result_shows_itself(runs):
    """As text and in a notebook, with the verdict of the gate."""
    found = compare(*runs, gates=["RR@10 >= -0.02"])
    assert repr(found).splitlines()[0] == "one → two: worse on 1 of 2 metrics, no difference on 1"
    assert repr(found).endswith("gate: FAIL")
    html = found._repr_html_()
    assert "gate FAIL" in html
    assert html.count("<svg") == 1
    assert "<script" not in html


def test_values_alone_have_no_rankings():
    """Nor has a comparison in which nothing differs."""
    found = compare(VALUES, {"RR@5": {f"q{n}": 0.1 for n in range(9)}})
    assert found.base_run is None
    assert found.candidate_run is None
    assert found.verdict is None
    assert found.settings == []
    assert compare(BASE, BASE, qrels=GOLD).base_run is None


STRANGE = {"x1": ["a"], "x2": ["b"]}


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_runs_of_which_nothing_is_judged_are_refused(missing):
    """Zeros against zeros would keep to any gate; the ids of both are shown."""
    said = (
        "no query of either run is judged, so there is nothing to compare: judged are"
        " q1, q2, q3, q4; base has x1, x2; candidate has x1"
    )
    with pytest.raises(UsageError, match=said):
        compare(STRANGE, {"x1": ["a"]}, qrels=GOLD, gates="RR@5 >= 0", missing=missing)


def test_a_run_of_which_nothing_is_judged_scores_zero_against_one_that_is():
    """And fails; where missing queries are left out there is no pair, which is refused."""
    found = compare(GOLD, STRANGE, qrels=GOLD, gates="RR@5 >= -0.02")
    assert (found.verdict, found.gate.rules[0].value) == ("FAIL", -1.0)
    with pytest.raises(UsageError, match="no query of candidate is judged, so"):
        compare(GOLD, STRANGE, qrels=GOLD, gates="RR@5 >= -0.02", missing="skip")
    with pytest.raises(UsageError, match="no judged query has results in both runs"):
        compare({"q1": ["a"]}, {"q2": ["b"]}, qrels=GOLD, missing="skip")
    assert compare({"q1": ["a"]}, {"q2": ["b"]}, qrels=GOLD).comparison.shared == 4


def test_queries_that_nobody_judged_are_not_shared_but_counted_apart():
    """They have no value, so nothing of them is compared."""
    found = compare(BASE | STRANGE, BASE | {"x2": ["c"]}, qrels=GOLD, metrics="RR@5")
    assert (found.comparison.shared, found.comparison.unjudged) == (4, ("x2",))
    assert found.queries == {
        "shared": 4,
        "unjudged": ["x2"],
        "only_base": ["x1"],
        "only_candidate": [],
        "missing": {"base": [], "candidate": []},
    }
    assert found.as_json()["queries"] == found.queries


def test_one_rule_needs_no_list():
    """Not a rule a letter."""
    found = compare(VALUES, VALUES, gates="RR@5 >= -0.02")
    assert [rule.rule for rule in found.gate.rules] == ["RR@5 >= -0.02"]


def test_nothing_on_both_sides_is_no_error():
    """But the gate cannot decide."""
    found = compare({"RR@5": {}}, {"RR@5": {}}, gates=["RR@5 >= 0"])
    assert found.verdict == "INCONCLUSIVE"
