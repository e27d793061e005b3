"""What the gateway has done since it started, countable at any moment."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

SETTLED = ("stored", "duplicate", "quarantined")


class GatewayCounters:
    """Counts by name; several threads may add.

    The books balance: ``captured`` is the sum of stored, duplicate, quarantined, all of dropped,
    and those that wait.

    >>> counters = GatewayCounters()
    >>> counters.count("captured", 3)
    >>> counters.drop("queue_full")
    >>> counters.settle({"stored": 1, "duplicate": 0, "quarantined": 0, "dropped": 0})
    >>> counters.waiting()
    1
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, name: str, amount: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._counts[name] += amount

    def add(self, deltas: Mapping[str, int]) -> None:
        """Count several things at once."""
        with self._lock:
            self._counts.update(deltas)

    def drop(self, reason: str, amount: int = 1) -> None:
        """Count captures of which nothing is kept, by reason."""
        if amount:
            with self._lock:
                self._dropped[reason] += amount

    def settle(self, balance: Mapping[str, int]) -> None:
        """Count what the intake made of some rows, at once, so that the books always balance."""
        with self._lock:
            for name in SETTLED:
                self._counts[name] += balance[name]
            if balance["dropped"]:
                self._dropped["intake"] += balance["dropped"]

    def waiting(self) -> int:
        """Captures that are neither stored nor lost yet."""
        with self._lock:
            return self._waiting()

    def _waiting(self) -> int:
        settled = sum(self._counts[name] for name in SETTLED) + self._dropped.total()
        return self._counts["captured"] - settled

    def as_json(self) -> dict[str, object]:
        """All counts; ``dropped`` by reason."""
        with self._lock:
            named = {name: self._counts[name] for name in ("requests", "captured", *SETTLED)}
            others = dict(sorted(self._counts.items()))
            return {
                **named,
                "dropped": self._dropped.total(),
                "dropped_by": dict(sorted(self._dropped.items())),
                "waiting": self._waiting(),
                "running": self._counts["running"],
                **{name: count for name, count in others.items() if name not in named},
            }
