"""Gates: what is judged, at which level, and what a verdict says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.errors import UsageError
from ragnostic.stats.gate_rules import Rule
from ragnostic.stats.gates import GateResult, judge_bound, judge_gate
from ragnostic.stats.sides import Side


def _side(name: str, values, metric: str = "RR@10", stage: str = "retrieve", **columns) -> Side:
    """A side whose queries are q0, q1, …; ``values`` is of one metric, or metric → values."""
    by_metric = values if isinstance(values, dict) else {metric: values}
    count = len(next(iter(by_metric.values())))
    ids = pa.array([f"q{number}" for number in range(count)], pa.string())
    return Side(
        name,
        ids,
        (stage,),
        {(stage, known): np.array(found, float) for known, found in by_metric.items()},
        {stage: pa.array(["ok"] * count)},
        {column: pa.array(found, pa.string()) for column, found in columns.items()},
        count,
    )


def _judge(rules, base, candidate, metrics=("RR@10",)) -> GateResult:
    texts = [rules] if isinstance(rules, str) else rules
    return judge_gate([Rule.parse(text) for text in texts], base, candidate, metrics)


def _planted(count: int, moved: float, rank: int = 6) -> tuple[Side, Side]:
    """All gold at rank 1, and the same with a share of it moved down to ``rank``."""
    after = np.ones(count)
    after[: round(count * moved)] = 1 / rank
    return _side("before", np.ones(count)), _side("after", after)


def test_a_planted_regression_fails():
    """Gold from rank 1 to 6 on 5 % of 1,000 queries: the mean falls by 0.05 · 5/6."""
    [result] = _judge("RR@10 >= -0.02", *_planted(1000, 0.05)).rules
    assert result.verdict == "FAIL"
    assert result.value == pytest.approx(-0.05 * 5 / 6)
    assert result.low < result.value < result.high < -0.02
    assert (result.n, result.level, result.slice, result.reason) == (1000, 0.95, None, None)


def test_a_planted_improvement_passes():
    """The same the other way round."""
    before, after = _planted(1000, 0.05)
    gate = _judge(["RR@10 >= -0.02", "RR@10 > 0", "lost <= 0.01"], after, before)
    assert gate.verdict == "PASS"
    assert [rule.verdict for rule in gate.rules] == ["PASS"] * 3


def test_too_few_queries_are_inconclusive():
    """Twenty queries with the same share of losses cannot tell."""
    gate = _judge("RR@10 >= -0.02", *_planted(20, 0.05))
    assert gate.verdict == "INCONCLUSIVE"
    assert gate.rules[0].reason == "the interval holds the bound: more queries would tell"
    assert gate.rules[0].low < -0.02 < gate.rules[0].high


def test_two_equal_systems_seldom_fail_a_gate():
    """400 gates of five rules each over noise without a difference: at most 5 % false alarms."""
    draw = np.random.default_rng(20)
    rules = ["RR@10 >= 0", "AP >= 0", "RR@10{worst:half} >= 0", "AP{half=a} >= 0", "lost <= 0.5"]
    parsed = [Rule.parse(rule) for rule in rules]
    half = ["a", "b"] * 20
    failed = 0
    for _ in range(400):
        sides = [
            _side(name, {"RR@10": draw.random(40), "AP": draw.random(40)}, half=half)
            for name in ("base", "candidate")
        ]
        failed += judge_gate(parsed, *sides, ["RR@10"]).verdict == "FAIL"
    assert 0 < failed <= 20


def test_a_run_against_itself_passes_equality_but_is_not_above_it():
    """Nothing differs, so the interval is the point 0, whatever the number of queries."""
    side = _side("run", [1.0, 0.5, 0.0, 0.2])
    gate = _judge(["RR@10 >= 0", "RR@10 <= 0", "RR@10 > 0", "RR@10 < 0"], side, side)
    assert [rule.verdict for rule in gate.rules] == ["PASS", "PASS", "FAIL", "FAIL"]
    assert {(rule.value, rule.low, rule.high) for rule in gate.rules} == {(0.0, 0.0, 0.0)}
    assert gate.verdict == "FAIL"


@pytest.mark.parametrize(
    ("op", "low", "high", "verdict"),
    [
        (">=", 0.5 - 1e-10, 0.6, "PASS"),
        (">=", 0.5 - 1e-8, 0.6, "INCONCLUSIVE"),
        (">=", 0.4, 0.5 - 1e-8, "FAIL"),
        (">=", 0.4, 0.5, "INCONCLUSIVE"),
        ("<=", 0.4, 0.5 + 1e-10, "PASS"),
        ("<=", 0.5, 0.6, "INCONCLUSIVE"),
        ("<=", 0.51, 0.6, "FAIL"),
        (">", 0.5, 0.6, "INCONCLUSIVE"),
        (">", 0.4, 0.5 + 1e-10, "FAIL"),
        ("<", 0.4, 0.49, "PASS"),
        ("<", 0.5, 0.6, "FAIL"),
        (">=", None, None, "INCONCLUSIVE"),
    ],
)
def test_a_bound_is_judged_by_both_ends_of_the_interval(op, low, high, verdict):
    """With 1e-9 of tolerance at the border."""
    assert judge_bound(op, 0.5, low, high) == verdict


def test_every_rule_is_judged_at_the_corrected_level():
    """M rules share 5 %; a rule given twice is one, the worst slice counts by its slices."""
    before, after = _planted(100, 0.05)
    slices = (["a"] * 40 + ["b"] * 40 + ["c"] * 17 + [None] * 3)[:100]
    columns = {"part": pa.array(slices, pa.string())}
    before, after = replace(before, columns=columns), replace(after, columns=columns)
    for rules, level in (
        (["RR@10 >= -0.02"], 0.95),
        (["RR@10 >= -0.02", "mrr@10>=-.02"], 0.95),
        (["RR@10 >= -0.02", "lost <= 0.1"], 0.975),
        (["RR@10 >= -0.02", "RR@10{worst:part} >= -0.05"], 1 - 0.05 / 4),
    ):
        gate = _judge(rules, before, after)
        assert [rule.level for rule in gate.rules] == [pytest.approx(level)] * len(gate.rules)


def test_more_rules_widen_the_interval():
    """The price of asking more."""
    sides = _planted(200, 0.05)
    alone = _judge("RR@10 >= -0.02", *sides).rules[0]
    among = _judge(["RR@10 >= -0.02", "RR@10 >= -0.9", "lost <= 1"], *sides).rules[0]
    assert among.low < alone.low < alone.high < among.high


def test_the_worst_slice_decides_and_small_ones_are_named():
    """One slice lost everything, another half of it; a third has too few queries."""
    before = np.ones(44)
    after = np.concatenate([np.ones(20), np.full(10, 0.5), np.zeros(10), np.zeros(4)])
    part = ["same"] * 20 + ["half"] * 10 + ["人事"] * 10 + ["small"] * 4
    sides = _side("a", before, part=part), _side("b", after, part=part)
    [result] = _judge("RR@10{worst:part} >= -0.05", *sides).rules
    assert (result.verdict, result.slice, result.value, result.n) == ("FAIL", "人事", -1.0, 10)
    assert result.level == pytest.approx(1 - 0.05 / 3)
    assert result.reason == "failed too: half; not judged, fewer than 5 queries: small (4)"
    [up] = _judge("RR@10{worst:part} <= 0.5", sides[1], sides[0]).rules
    assert (up.verdict, up.slice, up.value) == ("FAIL", "人事", 1.0)


@pytest.mark.parametrize(("op", "sign", "what"), [(">=", 1, "lowest"), ("<=", -1, "highest")])
def test_the_slice_that_decides_need_not_have_the_worst_value(op, sign, what):
    """A large slice surely lost 0.1; a small one lost more on average, but that may be chance."""
    change = sign * np.concatenate([np.full(50, -0.1), [-1.0, 0.0, 0.0, 0.0, 0.0]])
    part = ["large"] * 50 + ["small"] * 5
    sides = _side("a", np.zeros(55), part=part), _side("b", change, part=part)
    [result] = _judge(f"RR@10{{worst:part}} {op} {-sign * 0.05}", *sides).rules
    assert (result.verdict, result.slice) == ("FAIL", "large")
    value = f"{-sign * 0.2:+.4f}"
    assert result.reason == f"small has the {what} value ({value}, n 5: INCONCLUSIVE)"
    [result] = _judge(f"RR@10{{worst:part}} {op} {-sign * 0.3}", *sides).rules
    assert (result.verdict, result.slice) == ("INCONCLUSIVE", "small")
    assert "value" not in result.reason


def test_only_small_slices_are_inconclusive():
    """None can be judged, so nothing is said; many of them are counted."""
    part = [f"s{number}" for number in range(9)]
    side = _side("a", np.ones(9), part=part)
    [result] = _judge("RR@10{worst:part} >= -0.05", side, side).rules
    assert (result.verdict, result.value, result.n) == ("INCONCLUSIVE", None, 9)
    listed = "s0 (1), s1 (1), s2 (1), s3 (1), s4 (1) and 4 more"
    assert result.reason == f"not judged, fewer than 5 queries: {listed}"
    [one] = _judge("RR@10{part=s3} >= -0.05", side, side).rules
    assert (one.verdict, one.slice, one.n) == ("INCONCLUSIVE", "s3", 1)


def test_one_slice_is_judged_by_its_own_queries():
    """The others do not matter."""
    part = ["a"] * 10 + ["b"] * 10
    base = _side("a", np.ones(20), part=part)
    candidate = _side("b", [1.0] * 10 + [0.0] * 10, part=part)
    gate = _judge(["RR@10{part=a} >= 0", "RR@10{part=b} >= 0"], base, candidate)
    assert [(rule.verdict, rule.value, rule.n) for rule in gate.rules] == [
        ("PASS", 0.0, 10),
        ("FAIL", -1.0, 10),
    ]


def test_lost_is_the_share_of_pairs_whose_first_metric_got_worse():
    """3 of 8 lost; a query without a value on one side is no pair; Wilson's interval by hand."""
    nan = math.nan
    base = _side("a", {"AP": np.zeros(9), "RR@10": [1, 1, 1, 0.5, 0.5, 0, 0, 0, nan]})
    after = {"AP": np.ones(9), "RR@10": [0.5, 0.5, 0.2, 0.5, 1, 1, 0, 0, 0]}
    [result] = _judge("lost <= 0.02", base, _side("b", after), ["mrr@10", "AP"]).rules
    assert (result.value, result.n) == (3 / 8, 8)
    z = 1.959963984540054
    middle = (3 / 8 + z * z / 16) / (1 + z * z / 8)
    half = z / (1 + z * z / 8) * math.sqrt(3 / 8 * 5 / 8 / 8 + z * z / 256)
    assert (result.low, result.high) == (pytest.approx(middle - half), pytest.approx(middle + half))
    assert result.verdict == "FAIL"
    [other] = _judge("lost <= 0.02", base, _side("b", after), ["AP"]).rules
    assert other.value == 0.0


def test_lost_turns_a_metric_whose_lower_values_are_better():
    """More false retrievals are losses."""
    before, after = np.zeros(50), np.concatenate([np.ones(25), np.zeros(25)])
    metric = "FalseRetrieval@5"
    sides = _side("a", before, metric), _side("b", after, metric)
    assert _judge("lost <= 0.1", *sides, [metric]).rules[0].value == 0.5
    assert _judge("lost <= 0.1", *sides[::-1], [metric]).rules[0].value == 0.0


def test_queries_of_one_side_only_are_no_pairs():
    """Pairs are found by query id, in whatever order they stand."""
    base = _side("a", [0.1, 0.2, 0.3])
    candidate = replace(
        _side("b", [0.3, 0.9, 0.1]), query_ids=pa.array(["q2", "only here", "q0"], pa.string())
    )
    [result] = _judge("RR@10 >= 0", base, candidate).rules
    assert (result.n, result.value, result.verdict) == (2, 0.0, "PASS")


def test_no_pair_at_all_is_inconclusive():
    """And says why; so does a metric without any value."""
    base = _side("a", [1.0, 1.0])
    other = replace(base, name="b", query_ids=pa.array(["x", "y"], pa.string()))
    gate = _judge(["RR@10 >= 0", "lost <= 0.1"], base, other)
    assert [(rule.verdict, rule.n, rule.reason) for rule in gate.rules] == [
        ("INCONCLUSIVE", 0, "no query has a value on both sides")
    ] * 2
    [result] = _judge("abs:RR@10 >= 0", None, _side("a", [math.nan] * 3)).rules
    assert (result.verdict, result.reason) == ("INCONCLUSIVE", "no query has a value")


def test_one_pair_that_differs_is_inconclusive():
    """It says nothing of the spread."""
    [result] = _judge("RR@10 >= 0", _side("a", [0.5]), _side("b", [1.0])).rules
    assert (result.verdict, result.value, result.low) == ("INCONCLUSIVE", 0.5, None)
    assert result.reason == "1 query cannot give an interval"


def test_absolute_bounds_need_no_base():
    """The value itself with its own interval; a share of queries has one even if all agree."""
    side = _side("run", {"RR@10": np.linspace(0.5, 1, 200), "Success@5": np.ones(200)})
    texts = ["abs:RR@10 >= 0.7", "abs:RR@10 <= 0.7", "abs:Success@5 >= 1", "abs:Success@5 > 0.9"]
    gate = _judge(texts, None, side)
    assert [rule.verdict for rule in gate.rules] == ["PASS", "FAIL", "INCONCLUSIVE", "PASS"]
    assert gate.rules[0].value == pytest.approx(0.75)
    assert gate.rules[0].low == pytest.approx(0.75 - (gate.rules[0].high - 0.75))


def test_stages_are_the_final_one_or_the_named_one():
    """Each side's own final stage; a named stage is the same on both sides."""
    ids = pa.array([f"q{number}" for number in range(6)], pa.string())

    def side(name, retrieve, rerank) -> Side:
        values = {
            ("retrieve", "RR@10"): np.full(6, retrieve),
            ("rerank", "RR@10"): np.full(6, rerank),
        }
        return Side(name, ids, ("retrieve", "rerank"), values, {})

    sides = side("a", 0.5, 1.0), side("b", 0.75, 0.25)
    gate = _judge(["RR@10 >= 0", "RR@10#retrieve >= 0", "abs:RR@10#retrieve >= 0.7"], *sides)
    assert [(rule.verdict, rule.value) for rule in gate.rules] == [
        ("FAIL", -0.75),
        ("PASS", 0.25),
        ("PASS", 0.75),
    ]


@pytest.mark.parametrize(
    ("rule", "said", "hint"),
    [
        ("nDCG@10 >= 0", "candidate has no nDCG@10 at stage retrieve", "known: RR@10"),
        ("abs:RR@5 >= 0", "candidate has no RR@5 at stage retrieve", "did you mean RR@10?"),
        ("RR@10#retreive >= 0", "has no stage retreive", "did you mean retrieve?"),
        ("RR@10#精排 >= 0", "has no stage 精排", "known: retrieve"),
        ("RR@10{worst:catgory} >= 0", "no column catgory", "did you mean category?"),
        ("RR@10{category=HR} >= 0", "no query has category = HR", "known: hr, it"),
    ],
)
def test_what_the_data_does_not_hold_is_refused_with_what_it_does(rule, said, hint):
    """A gate that judged nothing would be worse than none."""
    category = ["hr", "it", None]
    base = _side("base", np.ones(3), category=category)
    candidate = _side("candidate", np.ones(3), category=category)
    with pytest.raises(UsageError) as caught:
        _judge(rule, base, candidate)
    assert said in str(caught.value)
    assert hint in str(caught.value)


def test_all_faults_are_told_at_once():
    """Each with its own hint; a side without any column says so, many names are cut."""
    columns = {"id": [f"v{number:02}" for number in range(30)]}
    side = _side("run", np.ones(30), **columns)
    with pytest.raises(UsageError) as caught:
        _judge(["abs:AP > 0", "abs:RR@10{worst:zzz} > 0", "abs:RR@10{id=zzz} > 0"], None, side)
    assert str(caught.value).count("gate 'abs:") == 3
    assert "v18, v19 …" in str(caught.value)
    with pytest.raises(UsageError) as caught:
        _judge("abs:RR@10{worst:zzz} > 0", None, _side("run", np.ones(3)))
    assert caught.value.hint == "it has none"


def test_a_change_without_a_base_is_refused():
    """All such rules are named, as they were written."""
    with pytest.raises(UsageError, match=r"'mrr@10 > 0', 'lost<.1'") as caught:
        _judge(["mrr@10 > 0", "lost<.1", "abs:RR@10 > 0"], None, _side("a", [1.0]))
    assert "baseline" in caught.value.hint


def test_a_gate_without_rules_is_refused():
    """It would pass whatever happens."""
    with pytest.raises(UsageError, match="without rules"):
        _judge([], None, _side("a", [1.0]))


def test_lost_needs_to_know_its_metric():
    """The first one that was asked for."""
    side = _side("a", [1.0])
    with pytest.raises(UsageError, match="no metric is named"):
        _judge("lost < 0.1", side, side, [])


def test_the_result_as_json_holds_every_member():
    """As INTERFACES and ``compare --json`` have them."""
    found = _judge("abs:RR@10 >= 0.5", None, _side("a", np.full(3, 0.5))).as_json()
    assert found == {
        "verdict": "PASS",
        "rules": [
            {
                "rule": "abs:RR@10 >= 0.5",
                "verdict": "PASS",
                "value": 0.5,
                "low": 0.5,
                "high": 0.5,
                "n": 3,
                "level": 0.95,
                "slice": None,
                "reason": None,
            }
        ],
    }
