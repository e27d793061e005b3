"""Counts that are written now and then."""

from __future__ import annotations

import pytest

from ragnostic.monitor.gathered_counters import GatheredCounters


class Sink:
    """Keeps what it is told; refuses as often as it should."""

    def __init__(self):
        self.told, self.refusals = [], 0

    def add(self, deltas):
        """Keep, or refuse."""
        if self.refusals:
            self.refusals -= 1
            raise OSError("disk full")
        self.told.append(dict(deltas))


def test_counts_are_written_when_their_time_has_come():
    """Once a second at most, and at the end."""
    now, sink = [0.0], Sink()
    counters = GatheredCounters(sink, 1.0, lambda: now[0])
    for moment in (0.1, 0.9, 1.0, 1.5):
        now[0] = moment
        counters.add({"stored": 1, "dropped": 0})
    assert sink.told == [{"stored": 3}]
    counters.flush()
    counters.flush()
    assert sink.told == [{"stored": 3}, {"stored": 1}]


def test_what_could_not_be_written_is_kept():
    """For the next time; only the end says so, as a count must not cost a record."""
    sink = Sink()
    sink.refusals = 2
    counters = GatheredCounters(sink, 0)
    counters.add({"stored": 2})
    with pytest.raises(OSError, match="disk full"):
        counters.flush()
    counters.flush()
    assert sink.told == [{"stored": 2}]
