"""What became of everything that came in: nothing is lost without a count (DESIGN 5, promise 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import NamedTuple, Protocol


class Where(NamedTuple):
    """The place of a row: a file or a way in, its physical line from 1, its first byte from 0; of
    a row made of spans the trace.

    >>> print(Where("log.jsonl", 8, 420), Where("gateway"))
    log.jsonl:8 gateway
    """

    source: str
    line: int | None = None
    offset: int | None = None
    trace: str | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


class Unreadable(NamedTuple):
    """What stands in the place of a row that could not even be read: why, and what was there."""

    reason: str
    raw: bytes | str = b""


@dataclass(frozen=True, slots=True)
class Balance:
    """Rows received, and what became of each; ``received`` is the sum of the others, always.

    ``dropped`` are rows of which nothing is kept, not even their text: the disk is full, say.

    >>> Balance(2, stored=1, quarantined=1) + Balance(1, duplicate=1)
    Balance(received=3, stored=1, duplicate=1, quarantined=1, dropped=0)
    >>> Balance(2, stored=1)
    Traceback (most recent call last):
    ValueError: 2 received, but 1 accounted for
    """

    received: int = 0
    stored: int = 0
    duplicate: int = 0
    quarantined: int = 0
    dropped: int = 0

    def __post_init__(self) -> None:
        known = self.stored + self.duplicate + self.quarantined + self.dropped
        if known != self.received:
            raise ValueError(f"{self.received} received, but {known} accounted for")

    def __add__(self, other: Balance) -> Balance:
        names = [field.name for field in fields(self)]
        return Balance(*(getattr(self, name) + getattr(other, name) for name in names))

    def as_json(self) -> dict[str, int]:
        """The five counts by name."""
        return asdict(self)


class Counters(Protocol):
    """Where counts are kept over the life of a store."""

    def add(self, deltas: Mapping[str, int]) -> None:
        """Add to counts by name."""
        ...
