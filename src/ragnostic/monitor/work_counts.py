"""What a worker has done, in numbers that add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import pyarrow as pa
import pyarrow.compute as pc

_MAPPINGS = ("judged", "failures")
_UNSAID = "no reason was given"
_REASONS = 20
"""How many different reasons are kept: a service may put the time into each."""


@dataclass(frozen=True, slots=True)
class Work:
    """Events taken from the queue, and what became of them: events = records + replaced +
    quarantined. ``judged`` counts judgments by their status, ``failures`` the reasons of those that
    failed, the most frequent ones. ``retrieved`` counts chunks in rankings, ``unknown`` those of
    them that the corpus snapshot does not have.

    >>> one = Work(events=3, records=2, quarantined=1, judged={"judged": 2})
    >>> (one + Work(events=1, records=1, judged={"failed": 1})).judged
    {'judged': 2, 'failed': 1}
    """

    events: int = 0
    records: int = 0
    replaced: int = 0
    quarantined: int = 0
    scores: int = 0
    retrieved: int = 0
    unknown: int = 0
    judged: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Work) -> Work:
        numbers = [field.name for field in fields(self) if field.name not in _MAPPINGS]
        sums = {name: getattr(self, name) + getattr(other, name) for name in numbers}
        failures = Counter(self.failures) + Counter(other.failures)
        return Work(
            **sums,
            judged=dict(Counter(self.judged) + Counter(other.judged)),
            failures=dict(failures.most_common(_REASONS)),
        )

    def as_json(self) -> dict[str, object]:
        """The counts by name."""
        names = [field.name for field in fields(self)]
        return {name: getattr(self, name) for name in names}


def chunk_counts(scores: pa.Table) -> dict[str, int]:
    """``retrieved`` and ``unknown`` chunks of scored rows, where there is a snapshot."""
    known = scores.filter(pc.is_valid(scores["unknown"]))
    sums = {"retrieved": pc.sum(known["results"]), "unknown": pc.sum(known["unknown"])}
    return {name: int(total.as_py() or 0) for name, total in sums.items()}


def status_counts(judgments: pa.Table) -> dict[str, int]:
    """How often each status stands in a table of judgments."""
    counts = pc.value_counts(judgments["status"]).to_pylist()
    return {entry["values"]: entry["counts"] for entry in counts}


def failure_reasons(judgments: pa.Table) -> dict[str, int]:
    """Why judgments failed: the first line of evidence of each, and how often it stands."""
    failed = judgments.filter(pc.equal(judgments["status"], "failed"))
    evidence = failed["evidence"].to_pylist()
    reasons = Counter(next((text for text in said or () if text), _UNSAID) for said in evidence)
    return dict(reasons.most_common(_REASONS))
