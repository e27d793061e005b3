"""Rule files as Prometheus reads them."""

from __future__ import annotations

import json

import yaml

from ragnostic.exporters.prometheus_rules import (
    AlertingRule,
    RecordingRule,
    RuleGroup,
    rules_text,
    selector,
)


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
