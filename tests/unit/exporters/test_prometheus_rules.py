"""Rule files as Prometheus reads them."""

from __future__ import annotations

import json
from datetime import timedelta

import yaml
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.exporters.prometheus_rules import (
    AlertingRule,
    RecordingRule,
    RuleGroup,
    literal,
    rules_text,
    selector,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_what_is_written_is_what_was_meant():
    """Also texts with colons, quotes and Chinese; empty parts are left out."""
    hostile = 'a: "b" {{ $value }}\n退款'
    rules = [
        RecordingRule("a:b", "up", {"x": hostile}),
        RecordingRule("a:c", "up"),
        AlertingRule("A", "up < 1", annotations={"summary": hostile}),
    ]
    (group,) = yaml.safe_load(rules_text([RuleGroup("g", rules)]))["groups"]
    assert group["rules"] == [
        {"record": "a:b", "expr": "up", "labels": {"x": hostile}},
        {"record": "a:c", "expr": "up"},
        {"alert": "A", "expr": "up < 1", "annotations": {"summary": hostile}},
    ]


def test_a_label_value_ends_where_it_should():
    """As JSON escapes quotes, backslashes and line ends, so does PromQL."""
    value = 'q"\\\n'
    assert selector("a", {"x": value}) == f"a{{x={json.dumps(value)}}}"


@given(TEXT, TEXT)
def test_texts_come_back_as_they_were(value, words):
    """Line breaks, control characters; in expressions, labels and annotations."""
    expr = f"{selector('x', {'category': value})} > 1\nor y"
    rule = AlertingRule("a", expr, labels={"rule": words}, annotations={"summary": words})
    (group,) = yaml.safe_load(rules_text([RuleGroup("g", [rule], "why")]))["groups"]
    (read,) = group["rules"]
    assert (read["expr"], read["labels"]["rule"]) == (expr, words)
    assert read["annotations"]["summary"] == words


def test_lines_stay_lines_and_comments_stand_before_their_group():
    """A person can read the file."""
    rule = AlertingRule("a", "x\nor y", timedelta(hours=1, minutes=10), keep=timedelta(seconds=90))
    text = rules_text([RuleGroup("g", [rule], "why\n\nso")], "head")
    assert text == (
        "# head\ngroups:\n# why\n#\n# so\n- name: g\n  rules:\n  - alert: a\n    expr: |-\n"
        "      x\n      or y\n    for: 1h10m\n    keep_firing_for: 1m30s\n"
    )


def test_a_template_in_a_text_is_text():
    """Nobody's summary asks Prometheus for anything."""
    assert literal("{{ query }}") == '{{ "{{" }} query }}'
