"""An event log in memory, for tests of what hands events to one."""

from __future__ import annotations

import json
from typing import Any

from ragnostic.ports import AppendResult


class MemoryLog:
    """Keeps events by id and revision; fails as often as it is told to."""

    partitions = 16

    def __init__(self) -> None:
        self.events: dict[tuple[str, int], bytes] = {}
        self.failures = 0

    def append(self, events):
        """As the port says."""
        if self.failures:
            self.failures -= 1
            raise OSError("no space left on device")
        before = len(self.events)
        for event in events:
            self.events.setdefault((event.id, event.revision), event.payload)
        stored = len(self.events) - before
        return AppendResult(stored, len(events) - stored)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What was stored, in order."""
        return [json.loads(payload) for payload in self.events.values()]


class MemoryState:
    """Positions and counters in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.counts: dict[str, int] = {}

    def position(self, source):
        """As the port says."""
        return self.kept.get(source)

    def set_position(self, source, position):
        """As the port says."""
        self.kept[source] = dict(position)

    def add(self, deltas):
        """As the port says."""
        for name, amount in deltas.items():
            self.counts[name] = self.counts.get(name, 0) + amount
