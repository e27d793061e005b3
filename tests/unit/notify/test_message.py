"""A notice in words: complete, in order, and harmless to the page."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.notify.message import heading, message, plain, severities, urgent_first
from ragnostic.ports import Notice

START = datetime(2026, 1, 4, 16, tzinfo=UTC)
NOTICE = Notice(
    "k",
    "firing",
    "P1",
    "r",
    "RR@5",
    0.7,
    0.8,
    "baseline",
    300,
    START,
    (START, START + timedelta(hours=1)),
    "Asia/Shanghai",
)


def fact(notice: Notice, label: str, language="en") -> str:
    """One fact by its label; '' where there is none."""
    return dict(message(notice, language).facts).get(label, "")


def test_the_worst_come_first_and_what_is_over_last():
    """Within the same, the order given is kept."""
    given_ = [
        replace(NOTICE, severity=severity, kind=kind, key=f"{severity} {kind}")
        for severity in ("P2", "P0", "P1")
        for kind in ("test", "resolved", "firing", "repeat")
    ]
    found = [notice.key for notice in urgent_first(given_)]
    assert found[:4] == ["P0 firing", "P0 repeat", "P0 resolved", "P0 test"]
    assert [key[:2] for key in found] == ["P0"] * 4 + ["P1"] * 4 + ["P2"] * 4


def test_several_are_counted_by_severity():
    """The worst first."""
    several = [NOTICE, replace(NOTICE, severity="P0"), NOTICE]
    assert heading(several, "en") == "Ragnostic: 3 notices (P0 × 1, P1 × 2)"
    assert heading(several, "zh") == "Ragnostic：3 条通知（P0 × 1，P1 × 2）"
    assert severities([], "en") == ""


@pytest.mark.parametrize(
    ("start", "hours", "shown"),
    [
        (START, 24, "2026-01-05"),
        (START, 1, "2026-01-05 00:00–01:00"),
        (START + timedelta(hours=23), 1, "2026-01-05 23:00–24:00"),
        (START + timedelta(hours=23), 2, "2026-01-05 23:00–2026-01-06 01:00"),
        (START, 48, "2026-01-05 00:00–2026-01-07 00:00"),
    ],
)
def test_a_window_is_shown_in_its_zone(start, hours, shown):
    """As short as it can be."""
    notice = replace(NOTICE, window=(start, start + timedelta(hours=hours)))
    assert fact(notice, "Window") == f"{shown} (Asia/Shanghai)"


@pytest.mark.parametrize("zone", ["", "No/Such", "../etc/passwd"])
def test_a_zone_that_this_machine_does_not_know_is_shown_in_utc(zone):
    """And says so."""
    assert fact(replace(NOTICE, zone=zone), "Since") == "2026-01-04 16:00 (UTC)"


def test_what_is_measured_comes_with_its_interval_and_count():
    """As far as they are known."""
    assert fact(NOTICE, "Measured") == "0.700 (n = 300)"
    assert fact(replace(NOTICE, low=0.65, high=0.75), "Measured") == (
        "0.700 (95% interval 0.650 to 0.750, n = 300)"
    )
    assert fact(replace(NOTICE, value=None), "Measured") == "n = 300"


def test_what_is_over_needs_no_looking_into():
    """No worst query, cause or summary; owner and rule stay."""
    notice = replace(
        NOTICE,
        worst_query="q",
        likely_cause={"en": "c"},
        summary={"en": "s"},
        owner="o",
    )
    assert fact(notice, "Worst example") == "q"
    assert message(notice, "en").sentences[1:] == ("s",)
    over = replace(notice, kind="resolved")
    assert not fact(over, "Worst example")
    assert not fact(over, "Likely cause")
    assert message(over, "en").sentences[1:] == ()
    assert fact(over, "Owner") == "o"


def test_a_text_in_the_other_language_is_better_than_none():
    """A rule may be written in one only."""
    notice = replace(NOTICE, summary={"en": "s"}, likely_cause={"zh": "因"})
    assert message(notice, "zh").sentences[1] == "s"
    assert fact(notice, "Likely cause") == "因"


def test_an_address_that_cannot_be_followed_is_told_as_text():
    """A file of the house, say."""
    found = message(replace(NOTICE, runbook="docs/mrr.md", link="https://a.example/x"), "en")
    assert found.links == (("Details", "https://a.example/x"),)
    assert found.facts[-1] == ("What to do", "docs/mrr.md")


def test_a_long_text_is_cut_and_says_by_how_much():
    """A query may be a whole document."""
    assert fact(replace(NOTICE, worst_query="退" * 1300), "最差查询示例", "zh") == (
        "退" * 300 + "…（略去 1000 字）"
    )


@given(st.text(), st.sampled_from(["zh", "en"]))
def test_any_text_is_one_line_everywhere(text, language):
    """Nothing of a notice adds a line or a fact of its own."""
    notice = replace(
        NOTICE,
        rule=text,
        metric=text,
        against=text,
        slice={text: text},
        worst_query=text,
        owner=text,
    )
    found = message(notice, language)
    assert len(plain(found, language).split("\n")) == 1 + len(found.sentences) + len(found.facts)
    assert all(mark.isprintable() or mark in "\n\u200c\u200d" for mark in plain(found, language))
