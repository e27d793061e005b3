"""Times as logs write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.strict_json import RowError
from ragnostic.evalset.record_values import duration_s, instant, local_day

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        1767225600, 1767225600.0, 1767225600000, 1767225600000000, 1767225600000000000,
        "2026-01-01T00:00:00Z", "2026-01-01T08:00:00+08:00", "2026-01-01",
    ],
)  # fmt: skip
def test_one_moment_in_every_spelling(value):
    """Seconds to nanoseconds by magnitude, and ISO 8601."""
    assert instant(value) == MOMENT


def test_text_without_an_offset_is_in_the_zone():
    """Shanghai is eight hours ahead."""
    assert instant("2026-01-01T08:00:00", "Asia/Shanghai") == MOMENT


@pytest.mark.parametrize(
    "value",
    ["", "yesterday", "1999-12-31", "2100-01-01", 0, -5, 1, 1e30, float("nan"), float("inf"), True,
     None, [1], 10**40],
)  # fmt: skip
def test_what_is_no_plausible_time_is_refused(value):
    """Named, never guessed."""
    with pytest.raises(RowError, match="ts"):
        instant(value)


@given(st.one_of(st.none(), st.text(), st.floats(), st.integers(), st.booleans()))
def test_anything_is_an_instant_of_our_age_or_refused(value):
    """No other error."""
    try:
        found = instant(value)
    except RowError:
        return
    assert 2000 <= found.year < 2100


def test_midnight_belongs_to_the_new_day():
    """In the configured zone."""
    assert local_day(instant("2026-03-01T16:00:00Z"), "Asia/Shanghai").isoformat() == "2026-03-02"
    assert local_day(instant("2026-03-01T16:00:00Z"), "UTC").isoformat() == "2026-03-01"


def test_durations_are_seconds():
    """From nanoseconds; equal ends are no time at all."""
    assert duration_s(1_000_000_000, 1_200_000_000) == pytest.approx(0.2)
    assert duration_s(5, 5) == 0


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [(2, None, "no end"), (None, 2, "no start"), (2_000_000_000, 1_500_000_000, "0.5 s before")],
)
def test_a_span_without_both_ends_in_order_has_no_duration(start, end, said):
    """Said in words."""
    with pytest.raises(RowError, match=said):
        duration_s(start, end)
