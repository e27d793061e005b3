"""Silences: what they hold back, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ragnostic.errors import UsageError
from ragnostic.monitor.alerts.silences import Silence, check_silence, silence_of

START = datetime(2026, 3, 2, tzinfo=UTC)
END = START + timedelta(hours=2)


def silence(**values) -> Silence:
    """A silence of two hours."""
    return Silence(**{"start": START, "end": END, "reason": "sale", "author": "li"} | values)


@pytest.mark.parametrize(
    ("matchers", "covered"),
    [
        ({}, True),
        ({"rule": "mrr-*"}, True),
        ({"rule": "rcs-*"}, False),
        ({"severities": ("P1", "P2")}, True),
        ({"severities": ("P0",)}, False),
        ({"labels": {"category": "退款"}}, True),
        ({"labels": {"category": "orders"}}, False),
        ({"labels": {"service": "a"}}, False),
    ],
)
def test_every_matcher_has_to_fit(matchers, covered):
    """A slice that the alert is not limited to fits no value."""
    assert silence(**matchers).covers("mrr-drop", "P1", {"category": "退款"}) is covered


def test_it_holds_from_its_start_to_before_its_end():
    """Of several, the one that ends last is named."""
    short, long = silence(id=1), silence(id=2, end=END + timedelta(hours=1))
    assert silence_of([short, long], "r", "P0", {}, START) == long
    assert silence_of([short], "r", "P0", {}, END) is None
    assert silence_of([short], "r", "P0", {}, START - timedelta(seconds=1)) is None


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"end": START}, "not after its start"),
        ({"reason": " "}, "--reason"),
        ({"author": ""}, "--by"),
    ],
)
def test_one_that_makes_no_sense_is_refused(values, told):
    """With what is missing."""
    with pytest.raises(UsageError, match=told):
        check_silence(silence(**values))
