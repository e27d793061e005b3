"""The clock of the span assembler goes on whatever happens, and ends in order."""

from __future__ import annotations

import threading

from ragnostic.errors import StoreError
from ragnostic.gateway.span_settling import Settler


class Assembler:
    """Fails at first, then works."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.calls = 0
        self.worked = threading.Event()

    def settle(self):
        """One look."""
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        self.worked.set()
        return 0


class Sums:
    """Counters that may be down too."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.found = 0

    def add(self, deltas):
        """Add to a count."""
        if self.errors:
            raise self.errors.pop(0)
        self.found += deltas["settle_failed"]


DOWN = StoreError("the queue is busy", retryable=True), OSError(28, "No space left")


def test_it_goes_on_after_a_failure():
    """Which is counted."""
    assembler, sums = Assembler(*DOWN), Sums()
    settler = Settler(assembler, sums, every_s=0.001)
    settler.start()
    assert assembler.worked.wait(10)
    settler.stop()
    assert sums.found == 2


def test_it_does_what_is_due_before_it_ends():
    """At once, however long its steps are."""
    assembler = Assembler()
    settler = Settler(assembler, every_s=1000)
    settler.start()
    settler.stop()
    assert assembler.calls == 1


def test_it_needs_no_counters_and_survives_theirs():
    """Neither is a reason to stop."""
    for counters in (None, Sums(*DOWN)):
        assembler = Assembler(*DOWN)
        settler = Settler(assembler, counters, every_s=0.001)
        settler.start()
        assert assembler.worked.wait(10)
        settler.stop()
