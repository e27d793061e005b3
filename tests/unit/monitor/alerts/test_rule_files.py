"""``alerts.toml``: what is shipped, what a store changes, and every fault at its line."""

from __future__ import annotations

import json
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import ConfigError, UsageError
from ragnostic.monitor.alerts.actions import Action
from ragnostic.monitor.alerts.rule_files import SHIPPED, RuleBook, load_rules
from ragnostic.monitor.alerts.rules import Rule, key_names

FAULTS = """\
alerts.toml:2: rule[0].id must be small letters and digits with hyphens between, such as mrr-drop, \
not "x y"
alerts.toml:3: rule[0].metric: unknown metric 'MRRR'
    hint: did you mean RR?
alerts.toml:4: unknown key rule[0].belw
    hint: did you mean rule[0].below?
alerts.toml:5: rule[0].below must be a number, not "a"
alerts.toml:6: MRRR@5 is not kept by 'categry'
    hint: did you mean category?
alerts.toml:11: rule[1].with[0].metric: latency needs a percentile
    hint: for example latency:p95
alerts.toml:11: b: a condition needs either below or above
alerts.toml:15: c: comparisons given: below and drop
    hint: exactly one of below, above, drop, rise says when it is in breach
alerts.toml:17: unknown key helth
    hint: did you mean health?"""
DOCS = Path(__file__).resolve().parents[4] / "docs"
_PROBED_HOURLY = ("rcs-unstable", "retrieval-changed")


def book(folder: Path, text: str) -> RuleBook:
    """What a file with this text gives."""
    path = folder / "alerts.toml"
    path.write_text(text, encoding="utf-8")
    return load_rules(path)


def faults(folder: Path, text: str) -> list[str]:
    """The faults of a file, each with its hint."""
    with pytest.raises(ConfigError) as caught:
        book(folder, text)
    return list(map(str, caught.value.faults))


def one_rule(**keys: Any) -> str:
    """A file with one rule, a key a line from line 2 on."""
    lines = [f"{key} = {_toml(value)}" for key, value in keys.items()]
    return "\n".join(["[[rule]]", *lines, ""])


def _toml(value: Any) -> str:
    return value if isinstance(value, str) and value.startswith(("{", "[")) else json.dumps(value)


def test_the_shipped_rules_are_those_of_the_definitions():
    """METRICS 13: figures, limits, windows, ``for``, severities."""
    told = {
        rule.id: (
            rule.severity,
            f"{rule.metric} {rule.comparison} {rule.limit:g}",
            rule.window,
            rule.times,
        )
        for rule in load_rules(None).enabled
    }
    assert told == {
        "rcs-unstable": ("P0", "RCS@10 below 0.65", "hour", 2),
        "qer-collapse": ("P0", "QER@5 below 3", "hour", 1),
        "mrr-drop": ("P1", "RR@5 drop 0.1", "day", 1),
        "rds-norm-rise": ("P1", "RDS(norm=random) rise 0.5", "day", 1),
        "rcs-three-nights": ("P1", "RCS@10 below 0.75", "day", 3),
        "deep-recall-low": ("P2", "R@100 below 0.85", "day", 3),
        "mrr-drop-category": ("P2", "RR@5 drop 0.1", "day", 1),
        "retrieval-changed": ("P2", "RetrievalOverlap@10 below 0.7", "hour", 1),
    }


def test_the_finer_points_of_the_shipped_rules():
    """The second condition of QER, the share and the interval of RDS, the roll-back."""
    shipped = load_rules(None)
    (condition,) = shipped.rule("qer-collapse").conditions
    assert (condition.metric, condition.above) == ("latency:p95", 1.0)
    rise = shipped.rule("rds-norm-rise")
    assert (rise.relative, rise.beyond_interval, rise.compared_with) == (True, True, "baseline")
    assert shipped.rule("rcs-three-nights").actions == ("roll-back-reranker",)
    for rule in shipped.rules:
        assert rule.repeat is None
        assert (rule.alpha, rule.min_windows, rule.rebaseline_after.days) == (0.2, 7, 7)
        assert rule.min_samples == (50 if rule.id in _PROBED_HOURLY else 200)
    assert shipped.rule("mrr-drop-category").slice == "category"


def test_the_preset_for_wide_cosines_is_off():
    """0.45 and + 0.15 of raw RDS, for those who switch it on."""
    shipped = load_rules(None)
    off = [rule for rule in shipped.rules if not rule.enabled]
    assert [(r.id, r.metric, r.comparison, r.limit) for r in off] == [
        ("rds-high", "RDS", "above", 0.45),
        ("rds-rise", "RDS", "rise", 0.15),
    ]


@pytest.mark.parametrize("rule", load_rules(None).rules, ids=lambda rule: rule.id)
def test_every_shipped_rule_has_its_page(rule):
    """What it means, likely causes, what to do; the rule's link leads there."""
    page = DOCS / "alerts" / f"{rule.id}.md"
    assert rule.runbook == f"docs/alerts/{rule.id}.md"
    text = page.read_text(encoding="utf-8")
    for heading in ("## What it means", "## Likely causes", "## What to do"):
        assert f"\n{heading}\n" in text, heading
    assert f"(alerts/{rule.id}.md)" in (DOCS / "alert-rules.md").read_text(encoding="utf-8")
    assert rule.summary.keys() == {"zh", "en"}


def test_no_page_is_about_a_rule_that_is_not_shipped():
    """Pages go with their rules."""
    pages = {path.stem for path in (DOCS / "alerts").glob("*.md")}
    assert pages == {rule.id for rule in load_rules(None).rules}


@pytest.mark.parametrize("key", [*key_names(Rule)])
def test_every_key_is_in_the_page(key):
    """In its table of keys."""
    assert f"\n| `{key}` |" in (DOCS / "alert-rules.md").read_text(encoding="utf-8")


def test_a_rule_of_the_same_id_is_changed_key_by_key(tmp_path):
    """The rest stays as it was shipped; others are added behind."""
    found = book(
        tmp_path,
        one_rule(id="mrr-drop", drop=0.05, owner="search")
        + one_rule(id="own", metric="mrr@5", below=0.5),
    )
    changed, shipped = found.rule("mrr-drop"), load_rules(None).rule("mrr-drop")
    assert changed == shipped.model_copy(update={"drop": 0.05, "owner": "search"})
    assert found.rules[-1].id == "own"
    assert found.rules[-1].metric == "RR@5"
    assert len(found.rules) == len(load_rules(None).rules) + 1
    assert "own" not in found.shipped
    assert "mrr-drop" in found.shipped


def test_another_comparison_replaces_the_shipped_one(tmp_path):
    """With all that went with it."""
    found = book(tmp_path, one_rule(id="rds-norm-rise", above=0.4)).rule("rds-norm-rise")
    assert (found.comparison, found.limit, found.relative, found.rise) == (
        "above",
        0.4,
        False,
        None,
    )
    same = book(tmp_path, one_rule(id="rds-norm-rise", rise=0.4)).rule("rds-norm-rise")
    assert (same.relative, same.beyond_interval) == (True, True)


def test_a_rule_can_be_switched_on_and_off(tmp_path):
    """By its id and one key."""
    text = one_rule(id="rds-high", enabled=True) + one_rule(id="mrr-drop", enabled=False)
    enabled = {rule.id for rule in book(tmp_path, text).enabled}
    assert "rds-high" in enabled
    assert "mrr-drop" not in enabled


def test_a_baseline_can_be_set_for_all_rules(tmp_path):
    """Where the rule's own table in the file does not say otherwise."""
    own = one_rule(id="mrr-drop", alpha=0.5)
    found = book(tmp_path, '[baseline]\nalpha = 0.8\nrebaseline_after = "2d"\n' + own)
    assert found.rule("mrr-drop").alpha == 0.5
    assert found.rule("rds-norm-rise").alpha == 0.8
    assert found.rule("rds-norm-rise").rebaseline_after.days == 2
    assert found.rule("rcs-unstable").alpha == 0.2


def test_colours_are_changed_by_figure(tmp_path):
    """Under any of its names."""
    text = '[[health]]\nmetric = "mrr@5"\nhealthy_above = 0.9\nred_below = 0.5\n'
    found = {one.metric: one for one in book(tmp_path, text).health}
    assert (found["RR@5"].healthy_above, found["RR@5"].red_below) == (0.9, 0.5)
    assert found["R@10"].healthy_above == 0.6


def test_channels_are_handed_on_as_they_are_and_actions_are_read(tmp_path):
    """Who sends knows what belongs into a channel; lines can be told."""
    text = '[[channel]]\nname = "ops"\nuse = "wecom"\n[[action]]\nname = "a"\nflag_file = "f"\n'
    found = book(tmp_path, text)
    assert found.channels == ({"name": "ops", "use": "wecom"},)
    assert found.actions == (Action(name="a", flag_file="f"),)
    assert found.source.where(("action", 0, "name")) == "alerts.toml:5"


def test_an_action_of_the_file_can_be_named(tmp_path):
    """Before or behind the rule."""
    text = (
        one_rule(id="mrr-drop", actions='["page"]')
        + '[[action]]\nname = "page"\ncommand = ["true"]\n'
    )
    assert book(tmp_path, text).rule("mrr-drop").actions == ("page",)


def test_an_unknown_rule_is_refused_with_the_nearest():
    """For commands that are given an id."""
    with pytest.raises(UsageError, match="mrr-dorp") as caught:
        load_rules(None).rule("mrr-dorp")
    assert caught.value.hint == "did you mean mrr-drop?"
    with pytest.raises(UsageError) as caught:
        load_rules(None).rule("xyz")
    assert caught.value.hint.startswith("rules: rcs-unstable, ")


def test_every_fault_at_once_in_the_order_of_lines(tmp_path):
    """Unknown keys, unknown figures, contradictions, and tables that are none."""
    text = (
        one_rule(id="x y", metric="MRRR@5", belw=3, below="a", slice="categry")
        + one_rule(id="b", metric="mrr@5", below=0.5, **{"with": '[{ metric = "latency" }]'})
        + one_rule(id="c", metric="mrr@5", drop=0.1, below=0.3)
        + "[helth]\n"
    )
    assert "\n".join(faults(tmp_path, text)) == FAULTS


@pytest.mark.parametrize(
    ("keys", "line", "message"),
    [
        ({}, 1, "comparisons given: none"),
        ({"below": 0.5, "against": "baseline"}, 5, "against goes with drop or rise"),
        ({"above": 0.5, "relative": True}, 5, "relative goes with drop or rise"),
        ({"drop": 0.0}, 4, "drop must be greater than 0"),
        ({"rise": -0.1, "beyond_interval": True}, 4, "rise must be greater than 0"),
        ({"drop": 1.0, "relative": True}, 4, "nothing falls by more than all of it"),
        ({"below": 0.5, "alpha": 0.5}, 5, "alpha is for rules that are held against a baseline"),
        ({"drop": 0.5, "against": "yesterday", "seasonal": True}, 6, "seasonal is for rules"),
        ({"below": 0.5, "clear": 0.4}, 5, "clear must be at least below, 0.5"),
        ({"drop": 0.1, "clear": 0.2}, 5, "clear must be at most drop, 0.1"),
        ({"below": 0.5, "slice": "perturbation"}, 5, "RR@5 is not kept by 'perturbation'"),
        ({"below": 0.5, "slice": "category", "where": '{ service = "a" }'}, 6, "both given"),
        ({"below": 0.5, "where": '{ service = "a", category = "b" }'}, 5, "more than one column"),
        ({"below": 0.5, "where": '{ servic = "a" }'}, 5, "'servic'"),
        ({"below": 0.5, "actions": '["page"]'}, 5, "there is no [[action]] with name = 'page'"),
        (
            {"below": 0.5, "with": '[{ metric = "RCS@10", above = 1 }]'},
            5,
            "not measured on the same",
        ),
        (
            {"below": 0.5, "metric": "overlap@10", "with": '[{ metric = "RCS@10", above = 1 }]'},
            5,
            "RCS@10 is not measured on the same rows as RetrievalOverlap@10",
        ),
        ({"below": 0.5, "metric": "overlap@10", "slice": "perturbation"}, 5, "slices: none"),
        ({"below": 0.5, "with": "[{ above = 1 }]"}, 5, "rule[0].with[0].metric is missing"),
        ({"below": 0.5, "with": '[{ metric = "R@5", above = 1, n = 1 }]'}, 5, "rule[0].with[0].n"),
        ({"below": 0.5, "with": '["a"]'}, 5, "rule[0].with[0] must be a table"),
        ({"below": 0.5, "with": 3}, 5, "rule[0].with must be a list"),
        ({"below": 0.5, "metric": ""}, 3, "rule[0].metric must not be empty"),
        ({"below": 0.5, "metric": 3}, 3, "rule[0].metric must be a string, not 3"),
        ({"below": 0.5, "metric": "coverage:p95"}, 3, "coverage has no percentiles"),
        ({"below": 0.5, "metric": "latency:p101"}, 3, "latency:p101 is no percentile"),
        ({"above": 0.5, "metric": "latency:p95", "beyond_interval": True}, 5, "has no interval"),
        ({"below": 0.5, "for": 0}, 5, "rule[0].for must be at least 1"),
        ({"below": 0.5, "times": 2}, 5, "unknown key rule[0].times"),
        ({"below": 0.5, "severity": "P3"}, 5, "rule[0].severity must be 'P0', 'P1' or 'P2'"),
        ({"below": 0.5, "summary": '{ fr = "x" }'}, 5, 'must be texts for "zh" and "en"'),
    ],
)
def test_a_fault_is_told_at_its_line(tmp_path, keys, line, message):
    """With what is wrong in words."""
    given = {"id": "own", "metric": "RR@5", **keys}
    found = faults(tmp_path, one_rule(**given))
    assert len(found) == 1
    assert found[0].startswith(f"alerts.toml:{line}: ")
    assert message in found[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rule = 3\n", "rule must be a list of tables: [[rule]]"),
        ("[channel]\n", "channel must be a list of tables: [[channel]]"),
        ("baseline = 3\n", "baseline must be a table: [baseline]"),
        ("[baseline]\nalpha = 2\n", "baseline.alpha must be at most 1, not 2"),
        ("[baseline]\nalfa = 0.2\n", "unknown key baseline.alfa"),
        ("[[rule]]\nbelow = 1\n", "rule[0].id is missing"),
        ('[[health]]\nmetric = "RR@5"\nhealthy = 1\n', "unknown key health[0].healthy"),
        (2 * '[[rule]]\nid = "mrr-drop"\n', "rule[1].id: 'mrr-drop' is given twice"),
        (2 * '[[health]]\nmetric = "mrr@5"\n', "health[1].metric: 'mrr@5' is given twice"),
    ],
)
def test_tables_that_are_none_are_refused(tmp_path, text, message):
    """Whatever kind they are of."""
    assert any(message in fault for fault in faults(tmp_path, text))


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path):
    """Who names a file means it."""
    with pytest.raises(UsageError, match="no such file"):
        load_rules(tmp_path / "alerts.toml")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "RR@5", "baseline", "p"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*key_names(Rule), "other"]), JUNK.filter(bool)))
def test_whatever_stands_in_a_rule_is_a_rule_or_a_fault(tmp_path_factory, keys):
    """Never another error."""
    lines = "\n".join(f"{key} = {_inline(value)}" for key, value in keys.items())
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(f"[[rule]]\n{lines}\n", encoding="utf-8")
    with suppress(ConfigError):
        assert load_rules(path).rules


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {_inline(one)}' for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps("" if value is None else value)


def test_the_shipped_file_holds_no_more_than_it_says():
    """Every table of it is a rule or a colour."""
    assert tomllib.loads(SHIPPED.read_text(encoding="utf-8")).keys() == {"rule", "health"}
