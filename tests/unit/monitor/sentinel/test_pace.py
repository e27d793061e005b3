"""The pace of calls."""

from __future__ import annotations

import pytest

from ragnostic.monitor.sentinel.pace import Pace


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.time, self.slept = 100.0, []

    def now(self):
        """Seconds."""
        return self.time

    def sleep(self, seconds):
        """Is over at once."""
        self.slept.append(round(seconds, 6))
        self.time += seconds


def paced(rate, *times):
    """What is slept by calls that come at these times."""
    clock = Clock()
    pace = Pace(rate, clock)
    for at in times:
        clock.time = clock.time if at is None else at
        pace.wait()
    return clock.slept


@pytest.mark.parametrize(
    ("rate", "times", "slept"),
    [
        (None, (100.0, 100.0), []),
        (4.0, (100.0, None, None), [0.25, 0.25]),
        (4.0, (100.0, 100.1, 100.9, None), [0.15, 0.25]),
        (4.0, (100.0, 20.0, None), [0.25, 0.25]),
    ],
    ids=["no rate", "at once", "after a pause no haste", "the clock is set back"],
)
def test_calls_are_kept_apart(rate, times, slept):
    """By one over the rate, and never longer."""
    assert paced(rate, *times) == slept
