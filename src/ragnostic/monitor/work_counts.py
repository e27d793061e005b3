"""What a worker has done, in numbers that add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class Work:
    """Events taken from the queue, and what became of them: events = records + replaced +
    quarantined. ``judged`` counts judgments by their status.

    >>> one = Work(events=3, records=2, quarantined=1, judged={"judged": 2})
    >>> (one + Work(events=1, records=1, judged={"failed": 1})).judged
    {'judged': 2, 'failed': 1}
    """

    events: int = 0
    records: int = 0
    replaced: int = 0
    quarantined: int = 0
    scores: int = 0
    judged: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Work) -> Work:
        numbers = [field.name for field in fields(self) if field.name != "judged"]
        sums = {name: getattr(self, name) + getattr(other, name) for name in numbers}
        return Work(**sums, judged=dict(Counter(self.judged) + Counter(other.judged)))

    def as_json(self) -> dict[str, object]:
        """The counts by name."""
        names = [field.name for field in fields(self)]
        return {name: getattr(self, name) for name in names}


def status_counts(judgments: pa.Table) -> dict[str, int]:
    """How often each status stands in a table of judgments."""
    counts = pc.value_counts(judgments["status"]).to_pylist()
    return {entry["values"]: entry["counts"] for entry in counts}
