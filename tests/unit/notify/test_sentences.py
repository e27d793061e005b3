"""What happened, in a sentence that is right for every way a value can be."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ragnostic.notify.sentences import number, title, what_happened
from ragnostic.ports import Notice

NOW = datetime(2026, 1, 5, tzinfo=UTC)
NOTICE = Notice("k", "firing", "P0", "r", "RCS@10", 0.6, 0.65, "limit", 100, NOW, (NOW, NOW), "UTC")
NAMED = "RCS@10 (rerank consistency)"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, f"{NAMED} is 0.600, below its limit of 0.650."),
        ({"value": 0.7}, f"{NAMED} is 0.700, above its limit of 0.650."),
        ({"value": 0.65}, f"{NAMED} is 0.650 (limit: 0.650)."),
        ({"value": 0.6499}, f"{NAMED} is 0.6499, below its limit of 0.6500."),
        ({"reference": None}, f"{NAMED} is 0.600."),
        ({"value": None}, f"{NAMED} has no value in this window."),
        ({"value": float("nan")}, f"{NAMED} has no value in this window."),
        (
            {"against": "yesterday"},
            f"{NAMED} fell from 0.650 (yesterday) to 0.600: −0.0500 (−8%).",
        ),
        (
            {"against": "last week", "value": 0.8, "reference": 0.4},
            f"{NAMED} rose from 0.400 (last week) to 0.800: +0.400 (+100%).",
        ),
        (
            {"against": "baseline", "reference": 0.0},
            f"{NAMED} rose from 0.0000 (baseline) to 0.600: +0.600.",
        ),
        ({"kind": "repeat"}, f"Still firing. {NAMED} is 0.600, below its limit of 0.650."),
        ({"kind": "resolved", "value": 0.9}, f"{NAMED} is back at 0.900 (limit: 0.650)."),
        ({"kind": "resolved", "value": None}, f"The alert on {NAMED} is over."),
        (
            {"kind": "rebaselined"},
            f"{NAMED} has stayed at 0.600: its new baseline (before: 0.650). Alert closed.",
        ),
        (
            {"metric": "empty", "value": 0.2, "reference": 0.05, "against": "baseline"},
            "empty (retrievals without results) rose from 5.0% (baseline) to 20.0%: +15.0%.",
        ),
        ({"metric": "mine"}, "mine is 0.600, below its limit of 0.650."),
        (
            {"against": "last month"},
            f"{NAMED} fell from 0.650 (last month) to 0.600: −0.0500 (−8%).",
        ),
    ],
)
def test_the_sentence_says_what_happened(changes, sentence):
    """For every kind, comparison and absence."""
    assert what_happened(replace(NOTICE, **changes), "en") == sentence


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "[P0] RCS@10 is too low"),
        ({"value": 0.7}, "[P0] RCS@10 is too high"),
        ({"against": "baseline"}, "[P0] RCS@10 fell"),
        ({"value": None}, "[P0] alert on RCS@10"),
        ({"kind": "repeat"}, "[P0] still: RCS@10 is too low"),
        ({"kind": "resolved"}, "[P0] resolved: RCS@10"),
        ({"kind": "rebaselined"}, "[P0] new baseline: RCS@10"),
        ({"kind": "test"}, "[P0] test: RCS@10 is too low"),
        ({"slice": {"b": "2", "a": ""}}, "[P0] RCS@10 is too low (a = –, b = 2)"),
    ],
)
def test_the_title_is_shorter_still(changes, told):
    """Severity first: it is what a telephone shows."""
    assert title(replace(NOTICE, **changes), "en") == told


def test_a_title_has_an_end():
    """However long the value of a slice is."""
    assert len(title(replace(NOTICE, slice={"category": "x" * 5000}), "en")) == 120


@pytest.mark.parametrize(
    ("metric", "value", "shown"),
    [
        ("QER@5", 8.25, "8.250"),
        ("QER@5", 123.456, "123.5"),
        ("RDS", -0.01, "-0.0100"),
        ("latency:p95", 0.9996, "1000 ms"),
        ("MRR@5", float("inf"), "–"),
    ],
)
def test_a_number_has_the_places_that_it_is_read_by(metric, value, shown):
    """By metric and size."""
    assert number(metric, value) == shown


def test_a_time_is_in_the_language():
    """Seconds and milliseconds have names."""
    assert number("latency:p50", 2.0, "zh") == "2.00 秒"
    assert number("latency:p50", 0.02, "zh") == "20 毫秒"
