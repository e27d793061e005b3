"""A diagnosis: every missed item with its first cause, what mending each is worth, and examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragnostic.diagnose.causes import NAMES, UNEXPLAINED, first_cause, untested
from ragnostic.diagnose.evidence import Evidence
from ragnostic.diagnose.gains import Gain, gains
from ragnostic.diagnose.gathering import Key
from ragnostic.diagnose.misses import Found, Item

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Attributed:
    """A missed item with its cause and what speaks for it."""

    item: Item
    cause: str
    evidence: Evidence

    def as_json(self) -> dict[str, Any]:
        """For strict JSON."""
        return {
            "query_id": self.item.query_id,
            "ids": list(self.item.ids),
            "grade": self.item.grade,
            "cause": self.cause,
            "evidence": self.evidence.as_json(),
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where it is lost. ``misses`` in the order of the queries; ``gains`` in pipeline order.

    ``slices``: column → value → cause → misses. ``untested``: causes that could not be tested for
    items which stay unexplained, with how many those are.
    """

    found: Found
    misses: tuple[Attributed, ...]
    gains: tuple[Gain, ...]
    slices: Mapping[str, Mapping[str, Mapping[str, int]]]
    untested: Mapping[str, int]

    @property
    def metric(self) -> str:
        """The metric that gains are in."""
        return f"R@{self.found.k}"

    @property
    def first(self) -> Gain | None:
        """What to mend first: the largest expected gain of a cause that is known."""
        known = [gain for gain in self.gains if gain.cause != UNEXPLAINED]
        return max(known, key=lambda gain: gain.gain, default=None)

    def examples(self, cause: str, most: int = EXAMPLES) -> list[Attributed]:
        """Some misses of a cause: of different queries, the heaviest first."""
        chosen: dict[str, Attributed] = {}
        for one in sorted(self.misses, key=lambda one: -one.item.weight * one.item.grade):
            if one.cause == cause:
                chosen.setdefault(one.item.query_id, one)
        return list(chosen.values())[:most]

    def as_json(self) -> dict[str, Any]:
        """For strict JSON; every miss with its evidence."""
        first = self.first
        return {
            "metric": self.metric,
            "value": self.found.recall,
            "stages": list(self.found.stages),
            "queries": len(self.found.asked),
            "failed_queries": self.found.failed,
            "items": len(self.found.items),
            "missed": len(self.misses),
            "mend_first": None if first is None else first.cause,
            "causes": [gain.as_json() for gain in self.gains],
            "slices": {name: dict(values) for name, values in self.slices.items()},
            "untested": dict(self.untested),
            "misses": [one.as_json() for one in self.misses],
        }


def diagnose(found: Found, evidence: Mapping[Key, Evidence]) -> Diagnosis:
    """Give every missed item exactly one first cause, and say what mending each is worth."""
    misses = tuple(
        Attributed(item, first_cause(seen), seen)
        for item in found.missed
        for seen in (evidence[item.query_id, item.place],)
    )
    causes = {(one.item.query_id, one.item.place): one.cause for one in misses}
    unknown = [one.evidence for one in misses if one.cause == UNEXPLAINED]
    return Diagnosis(
        found,
        misses,
        tuple(gains(found.items, causes)),
        _slices(found, misses),
        Counter(name for seen in unknown for name in untested(seen)),
    )


def _slices(found: Found, misses: Sequence[Attributed]) -> dict[str, dict[str, dict[str, int]]]:
    counts: dict[str, dict[str, Counter[str]]] = {}
    for one in misses:
        for name, value in found.asked[one.item.query_id].slices.items():
            counts.setdefault(name, {}).setdefault(value, Counter())[one.cause] += 1
    return {
        name: {
            value: {cause: count[cause] for cause in NAMES if count[cause]}
            for value, count in sorted(values.items())
        }
        for name, values in sorted(counts.items())
        if len(values) > 1
    }
