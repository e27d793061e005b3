"""Times that people write, and windows that are cut into local days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import UsageError
from ragnostic.monitor.windows import Window, checked_zone, moment

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01", "2026-02-28T16:00:00+00:00"),
        ("2026-03-01T08:00", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01T08:00:00Z", "2026-03-01T08:00:00+00:00"),
        (" 2026-03-01T08:00:00.5-02:00 ", "2026-03-01T10:00:00.500000+00:00"),
        ("now", "2026-03-10T12:00:00+00:00"),
        ("now-90m", "2026-03-10T10:30:00+00:00"),
        ("now-24h", "2026-03-09T12:00:00+00:00"),
        ("now-7d", "2026-03-03T12:00:00+00:00"),
        ("now-1w", "2026-03-03T12:00:00+00:00"),
    ],
)
def test_a_time_is_read_in_the_zone(text, expected):
    """Dates, instants with and without an offset, and times before now."""
    assert moment(text, zone="Asia/Shanghai", now=NOW).isoformat() == expected


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01", "now+1h", "now-1y", "12:00", "now-999999w"]
)
def test_what_is_no_time_is_refused(text):
    """With the forms that are."""
    with pytest.raises(UsageError, match="is no time"):
        moment(text, zone="UTC", now=NOW)


def test_a_zone_must_exist():
    """Named in the message."""
    for name in ("Mars/Olympus", "", "../etc/passwd"):
        with pytest.raises(UsageError, match="no time zone"):
            checked_zone(name)


def test_a_window_must_have_a_length():
    """The end lies after the start."""
    with pytest.raises(UsageError, match="half-open"):
        Window.parse("2026-03-02", "2026-03-02", zone="UTC", now=NOW)


@given(st.integers(0, 5000), st.integers(1, 90 * 24), st.sampled_from(["Asia/Shanghai", "UTC"]))
def test_the_days_of_a_window_make_it_up(start_h, hours, zone):
    """Without gap or overlap, each within one local day."""
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=start_h)
    window = Window(start, start + timedelta(hours=hours), zone)
    days = list(window.days())
    assert days[0][1] == window.start
    assert days[-1][2] == window.end
    for (_, _, end), (_, begin, _) in pairwise(days):
        assert end == begin
    for day, begin, end in days:
        local = begin.astimezone(checked_zone(zone)).date()
        assert (
            day == local == (end - timedelta(microseconds=1)).astimezone(checked_zone(zone)).date()
        )


def test_days_of_a_changing_clock_are_whole():
    """Of 23 and 25 hours where summer time begins and ends."""
    zone = "Europe/Berlin"
    for date, hours in (("2026-03-29", 23), ("2026-10-25", 25)):
        following = (datetime.fromisoformat(date) + timedelta(days=1)).date().isoformat()
        window = Window.parse(date, following, zone=zone, now=NOW)
        assert window.end - window.start == timedelta(hours=hours)
        assert len(list(window.days())) == 1
