"""The check of a vector index: one pass for its contents, one for its recall."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragnostic.corpus.index_builds import compare_builds
from ragnostic.corpus.index_contents import Contents, Reading, read_contents
from ragnostic.corpus.index_expected import Expected
from ragnostic.corpus.index_findings import (
    KINDS,
    IndexFinding,
    Taken,
    build_findings,
    content_findings,
    search_findings,
    stale_findings,
    vector_findings,
    version_findings,
)
from ragnostic.corpus.index_recall import (
    Asked,
    Exact,
    Point,
    ask,
    choose,
    exact,
    points,
    returned_ids,
)
from ragnostic.ports import Embedder, Progress, VectorStore, no_progress

_ROWS = 2048
"""Rows of the index in memory at a time: of 1,536 dimensions 12 MB."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is checked, and how far. ``sample`` 0 embeds all; ``queries`` are texts; ``before``: id
    → digest of an earlier build; ``listing`` keeps those of this one.
    """

    expected: Expected | None
    queries: Sequence[str] = ()
    k: int = 10
    efforts: Sequence[int] = ()
    sample: int = 500
    stale_below: float | None = None
    target: float = 0.95
    taken: Taken | None = None
    before: Mapping[str, int] | None = None
    listing: bool = False


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """What was found. ``curve`` by effort; ``advice``: the quickest point that reaches the target;
    ``effort`` is the name of what is set, "" where the search is exact.
    """

    rows: int
    dimension: int
    space: str
    effort: str
    expected: int | None
    compared: int
    queries: int
    k: int
    target: float
    findings: tuple[IndexFinding, ...]
    curve: tuple[Point, ...]
    listing: Mapping[str, int]
    untested: tuple[str, ...] = ()

    @property
    def usual(self) -> Point | None:
        """The point that the index is set to."""
        return next((point for point in self.curve if point.usual), None)

    @property
    def advice(self) -> Point | None:
        """The quickest point that reaches the target."""
        return choose(self.curve, self.target)

    def as_json(self) -> dict[str, Any]:
        """The object of ``index check --json``."""
        return {
            "rows": self.rows,
            "dimension": self.dimension,
            "space": self.space,
            "expected": self.expected,
            "compared": self.compared,
            "findings": [
                {
                    "kind": one.kind,
                    "count": one.count,
                    "of": one.of,
                    "examples": list(one.examples),
                    "facts": dict(one.facts),
                }
                for one in self.findings
            ],
            "recall": {
                "k": self.k,
                "queries": self.queries,
                "target": self.target,
                "effort": self.effort or None,
                "curve": [_point(point) for point in self.curve],
                "advice": None if self.advice is None else self.advice.effort,
            },
            "untested": list(self.untested),
        }


def _point(point: Point) -> dict[str, Any]:
    return {name: getattr(point, name) for name in Point.__slots__}


def check_index(
    store: VectorStore,
    wanted: Wanted,
    embedder: Embedder | None,
    progress: Progress = no_progress,
    clock: Callable[[], float] = time.perf_counter,
) -> IndexCheck:
    """Read all of the index, search it, and say what is wrong."""
    total = store.count()
    queries = list(wanted.queries) if embedder is not None else []
    vectors = embedder.embed(queries, "query", progress) if embedder and queries else None
    embedded = None if embedder is None else int(embedder.embed(["?"], "query").shape[1])
    fits = embedded == store.dimension
    reading = Reading(
        wanted.expected,
        share=wanted.sample / total if wanted.sample and total else 1.0,
        embed=(lambda texts: embedder.embed(texts, "passage")) if embedder and fits else None,
        listing=wanted.listing or wanted.before is not None,
        progress=progress,
    )
    contents = read_contents(store.scan(_ROWS), total, reading)
    rounds: list[Asked] = []
    truth: Exact | None = None
    k = min(wanted.k, max(total, 1))
    if vectors is not None and fits and total:
        rounds = ask(store, vectors, k, _efforts(store, wanted, k), clock=clock, progress=progress)
        truth = exact(store.scan(_ROWS), vectors, k, store.space, returned_ids(rounds))
    curve = () if truth is None else tuple(points(rounds, truth))
    usual = next((one.found for one in rounds if one.usual), ())
    builds = None
    if wanted.before is not None:
        builds = compare_builds(wanted.before, contents.digests)
    found = [
        *content_findings(contents, wanted.expected),
        *version_findings(contents, usual),
        *vector_findings(contents, store.dimension, embedded, store.space),
        *stale_findings(contents, wanted.stale_below),
        *search_findings(usual, truth, curve, taken=wanted.taken, target=wanted.target),
        *build_findings(builds),
    ]
    return IndexCheck(
        rows=contents.rows,
        dimension=store.dimension,
        space=store.space,
        effort=store.effort,
        expected=None if wanted.expected is None else len(wanted.expected.chunks),
        compared=len(contents.cosines),
        queries=len(queries) if truth is not None else 0,
        k=k,
        target=wanted.target,
        findings=tuple(sorted(found, key=lambda one: KINDS.index(one.kind))),
        curve=curve,
        listing=contents.digests,
        untested=tuple(_untested(contents, wanted, embedder=embedder is not None, fits=fits)),
    )


def _efforts(store: VectorStore, wanted: Wanted, k: int) -> list[int | None]:
    """In order, the usual one among them; a store without efforts is asked once."""
    if not store.effort:
        return [store.usual_effort]
    given = set(wanted.efforts or store.efforts(k))
    if store.usual_effort is not None:
        given.add(store.usual_effort)
    return [*sorted(given)]


def _untested(contents: Contents, wanted: Wanted, *, embedder: bool, fits: bool) -> list[str]:
    """Kinds that nothing could be said about."""
    lacking: list[str] = []
    if wanted.expected is None:
        lacking += ["missing", "orphan"]
    if not contents.with_text:
        lacking += ["duplicate_text", "stale_text"]
    if not contents.versions:
        lacking += ["several_versions"]
    if not contents.cosines:
        lacking += ["stale_vector"]
    if not (embedder and fits and wanted.queries):
        lacking += ["direction", "low_recall"]
    if wanted.before is None:
        lacking += ["unstable_ids"]
    return lacking
