"""Files of rules: whatever stands in a text comes back as it was."""

from __future__ import annotations

from datetime import timedelta

import yaml
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.exporters.prometheus_rules import (
    Alerting,
    Group,
    Recording,
    literal,
    quoted,
    rules_text,
    selector,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT, TEXT)
def test_texts_come_back_as_they_were(value, words):
    """Quotes, line breaks, control characters; in expressions, labels and annotations."""
    rules = [
        Recording("a:b", selector("x", {"category": value}), {"rule": words}),
        Alerting("a", "x > 1", annotations={"summary": words}),
    ]
    (group,) = yaml.safe_load(rules_text([Group(value, rules)]))["groups"]
    assert group["name"] == value
    assert group["rules"][0]["labels"] == {"rule": words}
    assert group["rules"][0]["expr"] == f"x{{category={quoted(value)}}}"
    assert yaml.safe_load(quoted(value)) == value
    assert group["rules"][1]["annotations"] == {"summary": words}


def test_what_is_empty_is_left_out():
    """No ``for`` of nothing, no empty labels; comments stand before their group."""
    text = rules_text([Group("g", [Alerting("a", "x\nor y")], "why\n\nso")], "head")
    assert text == (
        '# head\ngroups:\n  # why\n  #\n  # so\n  - name: "g"\n    rules:\n      - alert: "a"\n'
        "        expr: |-\n          x\n          or y\n"
    )


def test_spans_are_written_out():
    """``for`` and ``keep_firing_for`` in the units of Prometheus."""
    rule = Alerting("a", "x", timedelta(hours=1, minutes=10), timedelta(seconds=90))
    (group,) = yaml.safe_load(rules_text([Group("g", [rule])]))["groups"]
    assert (group["rules"][0]["for"], group["rules"][0]["keep_firing_for"]) == ("1h10m", "1m30s")


def test_half_a_pair_is_no_text():
    """What cannot be encoded is replaced, so that the file can be written."""
    assert quoted("a\ud800") == '"a\ufffd"'
    assert quoted("\U000e0001") == '"\\U000e0001"'


def test_a_template_in_a_text_is_text():
    """Nobody's summary asks Prometheus for anything."""
    assert literal("{{ query }}") == '{{ "{{" }} query }}'
