"""From what was seen of a vector index to findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ragnostic.corpus.index_builds import Builds
from ragnostic.corpus.index_contents import Contents
from ragnostic.corpus.index_expected import Examples, Expected
from ragnostic.corpus.index_recall import Exact, Point, falls, farthest_first
from ragnostic.ports import Neighbours, Space

Taken = Literal["similarity", "distance"]
_OTHER_MODEL = 0.95
"""Median cosine below which it is not single vectors that are wrong, but what made them."""
_LEAST_GAP = 1e-3
_SPREADS = 10.0
"""Median deviations that a vector must lie below the others to be stale."""
_SHOWN = 5

KINDS = (
    "foreign_ids",
    "missing",
    "orphan",
    "duplicate_id",
    "duplicate_text",
    "several_versions",
    "stale_text",
    "stale_vector",
    "other_model",
    "dimension",
    "no_vector",
    "not_finite",
    "zero_vector",
    "not_unit",
    "direction",
    "low_recall",
    "unstable_ids",
    "reused_ids",
)
"""In the order in which they are shown: what is there, its vectors, how it is searched."""


@dataclass(frozen=True, slots=True)
class IndexFinding:
    """Something that is wrong: ``count`` of ``of``, the first of them, and what was measured."""

    kind: str
    count: int
    of: int
    examples: tuple[str, ...] = ()
    facts: Mapping[str, float | str] = field(default_factory=dict)


def _of(kind: str, seen: Examples, of: int) -> Iterator[IndexFinding]:
    if seen.count:
        yield IndexFinding(kind, seen.count, of, tuple(seen.first))


def content_findings(found: Contents, expected: Expected | None) -> Iterator[IndexFinding]:
    """What is in the index and should not be, or the other way round."""
    rows = found.rows
    if expected is not None and rows and expected.chunks:
        if not found.known:
            yield IndexFinding("foreign_ids", rows, rows, tuple(found.orphans.first))
        else:
            yield from _missing(found, expected)
            yield from _of("orphan", found.orphans, rows)
    yield from _of("duplicate_id", found.duplicate_ids, rows)
    yield from _of("duplicate_text", found.duplicate_texts, found.with_text)
    yield from _of("stale_text", found.stale_texts, found.known)


def _missing(found: Contents, expected: Expected) -> Iterator[IndexFinding]:
    by_id = expected.match == "id"
    if not by_id and not found.with_document:
        return
    wanted = expected.chunks.keys() if by_id else expected.documents
    lacking = sorted(set(wanted) - (found.ids if by_id else found.documents))
    if lacking:
        yield IndexFinding("missing", len(lacking), len(wanted), tuple(lacking[:_SHOWN]))


def vector_findings(
    found: Contents, dimension: int, embedded: int | None, space: Space
) -> Iterator[IndexFinding]:
    """What is wrong with the vectors themselves; ``embedded``: dimension of the embedder."""
    rows = found.rows
    if embedded is not None and embedded != dimension:
        facts = {"index": float(dimension), "embedder": float(embedded)}
        yield IndexFinding("dimension", rows, rows, facts=facts)
    yield from _of("no_vector", found.no_vector, rows)
    yield from _of("not_finite", found.not_finite, rows)
    yield from _of("zero_vector", found.zero, rows)
    if space != "cosine" and found.not_unit.count and found.norms is not None:
        facts = {"shortest": found.norms[0], "longest": found.norms[1]}
        shown = tuple(found.not_unit.first)
        yield IndexFinding("not_unit", found.not_unit.count, rows, shown, facts)


def stale_findings(found: Contents, below: float | None) -> Iterator[IndexFinding]:
    """Vectors that are not what their texts are embedded to.

    What a vector loses in the index (half precision, quantisation) it loses with all others, so
    that a stale one is told by how far it lies from them.
    """
    if not found.cosines:
        return
    cosines = np.array(found.cosines)
    middle = float(np.median(cosines))
    if middle < 0:
        facts: dict[str, float | str] = {"cosine": middle, "how": "negated"}
        yield IndexFinding("direction", len(cosines), len(cosines), facts=facts)
        return
    if below is None and middle < _OTHER_MODEL:
        yield IndexFinding("other_model", len(cosines), len(cosines), facts={"cosine": middle})
        return
    limit = stale_limit(found.cosines) if below is None else below
    order = _below(found, limit)
    if order:
        yield IndexFinding(
            "stale_vector",
            len(order),
            len(cosines),
            tuple(found.compared[row] for row in order[:_SHOWN]),
            {"limit": limit, "lowest": float(cosines[order[0]])},
        )


def stale_ids(found: Contents, below: float | None = None) -> frozenset[str]:
    """The ids of all vectors that :func:`stale_findings` counts; none where all of them are other.

    >>> sorted(stale_ids(Contents(compared=list("abcd"), cosines=[1.0, 1.0, 0.9, 1.0])))
    ['c']
    """
    if "stale_vector" not in {one.kind for one in stale_findings(found, below)}:
        return frozenset()
    limit = stale_limit(found.cosines) if below is None else below
    return frozenset(found.compared[row] for row in _below(found, limit))


def _below(found: Contents, limit: float) -> list[int]:
    """Places of the cosines below the limit, the lowest first."""
    cosines = np.array(found.cosines)
    return [int(row) for row in np.argsort(cosines, kind="stable") if cosines[row] < limit]


def stale_limit(cosines: Sequence[float]) -> float:
    """The cosine below which one stands out from the others.

    >>> round(stale_limit([1.0, 1.0, 1.0, 0.9]), 4)
    0.999
    """
    values = np.array(cosines)
    middle = float(np.median(values))
    spread = float(np.median(np.abs(values - middle)))
    return middle - max(_LEAST_GAP, _SPREADS * spread)


def search_findings(
    usual: Sequence[Neighbours],
    truth: Exact | None,
    curve: Sequence[Point],
    *,
    taken: Taken | None,
    target: float,
) -> Iterator[IndexFinding]:
    """What is wrong with what comes back."""
    if truth is None:
        return
    n = len(usual)
    falling = falls(usual)
    if taken is not None and falling is not None and falling != (taken == "similarity"):
        facts: dict[str, float | str] = {
            "how": "scores",
            "is": "similarity" if falling else "distance",
            "taken": taken,
        }
        yield IndexFinding("direction", n, n, facts=facts)
    backward = farthest_first(usual, truth)
    if backward * 2 > n:
        yield IndexFinding("direction", backward, n, facts={"how": "farthest"})
    set_ = next((point for point in curve if point.usual), None)
    if set_ is not None and set_.recall < target:
        facts = {"recall": set_.recall, "low": set_.low, "high": set_.high, "target": target}
        yield IndexFinding("low_recall", set_.short, n, facts=facts)


def version_findings(found: Contents, usual: Sequence[Neighbours]) -> Iterator[IndexFinding]:
    """Documents that are there in several versions, and which of them comes first."""
    several = found.of_several_versions()
    if not several:
        return
    place = {
        id_: (name, version)
        for name, held in several.items()
        for version, ids in held.items()
        for id_ in ids
    }
    newest = {name: max(held, key=version_order) for name, held in several.items()}
    oldest = {name: min(held, key=version_order) for name, held in several.items()}
    counts = {"newest_first": 0.0, "oldest_first": 0.0, "both_returned": 0.0}
    for hits in usual:
        firsts: dict[str, list[str]] = {}
        for id_ in hits.ids:
            if id_ in place:
                name, version = place[id_]
                firsts.setdefault(name, []).append(version)
        for name, order in firsts.items():
            if len(set(order)) > 1:
                counts["both_returned"] += 1
                counts["newest_first"] += order[0] == newest[name]
                counts["oldest_first"] += order[0] == oldest[name]
    shown = tuple(
        f"{name} ({', '.join(sorted(several[name], key=version_order))})"
        for name in sorted(several)[:_SHOWN]
    )
    yield IndexFinding("several_versions", len(several), len(found.documents), shown, counts)


def version_order(version: str) -> list[tuple[int, int, str]]:
    """A key by which numbers count as numbers: v10 comes after v9, 2026-02 after 2025-11.

    >>> sorted(["v10", "v9"], key=version_order)
    ['v9', 'v10']
    """
    return [
        (1, int(part), "") if part.isdecimal() else (0, 0, part)
        for part in re.findall(r"\d+|\D+", version)
    ]


def build_findings(builds: Builds | None) -> Iterator[IndexFinding]:
    """Ids that do not stay with their texts."""
    if builds is None:
        return
    if builds.moved:
        shown = tuple(f"{before} → {now}" for before, now in builds.moved[:_SHOWN])
        yield IndexFinding("unstable_ids", len(builds.moved), builds.texts, shown)
    if builds.reused:
        shown = tuple(builds.reused[:_SHOWN])
        yield IndexFinding("reused_ids", len(builds.reused), builds.texts, shown)
