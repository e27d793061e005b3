"""What an approximate index misses, at several efforts, and what each costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragnostic.ports import (
    Neighbours,
    Progress,
    Space,
    StoredBatch,
    Vectors,
    VectorStore,
    no_progress,
)
from ragnostic.stats.intervals import mean_interval

Scores = npt.NDArray[np.float64]
_MARGIN = 1e-4
"""Share of a score by which float32, or half precision, may be wrong: as near counts as equal."""
_WARM_UP = 3
"""Searches before the clock runs."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One effort: what came back for each query, and after how many milliseconds.

    ``effort`` None: exact by nature, nothing can be set.
    """

    effort: int | None
    usual: bool
    found: tuple[Neighbours, ...]
    took_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Exact:
    """The truth about each query, by comparing it with every vector.

    ``kth``: the score of the k-th nearest; ``reach``: how many neighbours there are, up to k;
    ``scores``: query → id → score, of what the index returned; ``middle``: the mean cosine of all
    rows with the query, and ``cosines`` those of what was returned.
    """

    kth: Scores
    reach: npt.NDArray[np.int64]
    scores: tuple[Mapping[str, float], ...]
    cosines: tuple[Mapping[str, float], ...]
    middle: Scores


@dataclass(frozen=True, slots=True)
class Point:
    """Recall against exact search at one effort, with its 95 % interval, and its time."""

    effort: int | None
    usual: bool
    recall: float
    low: float
    high: float
    p50_ms: float
    p95_ms: float
    short: int
    """Queries for which at least one near neighbour did not come back."""


def ask(
    store: VectorStore,
    queries: Vectors,
    k: int,
    efforts: Sequence[int | None],
    *,
    clock: Callable[[], float],
    progress: Progress = no_progress,
) -> list[Asked]:
    """Every query at every effort, one at a time, as a service asks."""
    rounds: list[Asked] = []
    for number, effort in enumerate(efforts):
        for query in queries[:_WARM_UP]:
            store.search(query, k, effort)
        found, took = [], []
        for query in queries:
            started = clock()
            found.append(store.search(query, k, effort))
            took.append((clock() - started) * 1000)
        usual = effort == store.usual_effort
        rounds.append(Asked(effort, usual, tuple(found), tuple(took)))
        progress("search the index", number + 1, len(efforts))
    return rounds


def exact(
    batches: Iterable[StoredBatch],
    queries: Vectors,
    k: int,
    space: Space,
    returned: Sequence[frozenset[str]],
) -> Exact:
    """Compare each query with every vector, a batch at a time; ``returned``: ids by query whose
    scores are wanted.
    """
    best = np.full((len(queries), k), -np.inf)
    total, rows = np.zeros(len(queries)), 0
    scores: list[dict[str, float]] = [{} for _ in queries]
    cosines: list[dict[str, float]] = [{} for _ in queries]
    for batch in batches:
        sound = np.isfinite(batch.vectors).all(axis=1)
        if not sound.any():
            continue
        ids = [batch.ids[row] for row in np.flatnonzero(sound).tolist()]
        vectors = batch.vectors[sound]
        near, cosine = similarities(queries, vectors, space)
        both = np.concatenate([best, near], axis=1)
        best = -np.partition(-both, k - 1, axis=1)[:, :k]
        total += cosine.sum(axis=1)
        rows += len(ids)
        places = {id_: at for at, id_ in enumerate(ids)}
        for query, wanted in enumerate(returned):
            for id_ in wanted & places.keys():
                at = places[id_]
                scores[query][id_] = max(near[query, at], scores[query].get(id_, -np.inf))
                cosines[query][id_] = float(cosine[query, at])
    ordered = -np.sort(-best, axis=1)
    reach = np.isfinite(ordered).sum(axis=1)
    last = np.take_along_axis(ordered, np.maximum(reach - 1, 0)[:, None], axis=1)[:, 0]
    return Exact(last, reach, tuple(scores), tuple(cosines), total / max(rows, 1))


def similarities(queries: Vectors, vectors: Vectors, space: Space) -> tuple[Scores, Scores]:
    """(by the index's own space, cosine), higher is nearer: each (n_queries, n_vectors).

    >>> one = np.array([[3.0, 4.0]], dtype=np.float32)
    >>> [part.round(2).tolist() for part in similarities(one / 5, one, "l2")]
    [[[-16.0]], [[1.0]]]
    """
    asked, held = queries.astype(np.float64), vectors.astype(np.float64)
    product = asked @ held.T
    lengths = np.linalg.norm(held, axis=1)
    own = np.linalg.norm(asked, axis=1)[:, None]
    cosine = product / np.maximum(own * lengths, 1e-30)
    if space == "l2":
        return 2 * product - lengths**2 - own**2, cosine
    return (product if space == "ip" else cosine), cosine


def points(rounds: Sequence[Asked], truth: Exact) -> list[Point]:
    """Recall and time of each effort. Of equal scores any may be returned."""
    found = []
    for one in rounds:
        shares = np.array([_share(hits, truth, at) for at, hits in enumerate(one.found)])
        known = shares[~np.isnan(shares)]
        if not len(known):
            continue
        mean = float(known.mean())
        low, high = mean_interval(known, (0.0, 1.0)) or (mean, mean)
        p50, p95 = np.percentile(one.took_ms, [50, 95]).tolist()
        found.append(
            Point(one.effort, one.usual, mean, low, high, p50, p95, short=int((known < 1).sum()))
        )
    return found


def _share(hits: Neighbours, truth: Exact, at: int) -> float:
    """Of the k nearest of one query, the share that came back."""
    if truth.reach[at] == 0:
        return float("nan")
    least = truth.kth[at] - _MARGIN * max(abs(truth.kth[at]), 1.0)
    scores = truth.scores[at]
    near = sum(1 for id_ in dict.fromkeys(hits.ids) if scores.get(id_, -np.inf) >= least)
    return float(min(1.0, near / truth.reach[at]))


def returned_ids(rounds: Sequence[Asked]) -> list[frozenset[str]]:
    """All ids that came back, by query."""
    return [
        frozenset().union(*(one.found[at].ids for one in rounds))
        for at in range(len(rounds[0].found) if rounds else 0)
    ]


def falls(found: Sequence[Neighbours]) -> bool | None:
    """Whether scores fall along the rankings, as a similarity does; None where all are equal.

    >>> falls([Neighbours(("a", "b"), (0.1, 0.4))])
    False
    """
    down = sum(1 for hits in found if hits.scores and hits.scores[0] > hits.scores[-1])
    up = sum(1 for hits in found if hits.scores and hits.scores[0] < hits.scores[-1])
    return None if down == up else down > up


def farthest_first(found: Sequence[Neighbours], truth: Exact) -> int:
    """Queries whose results are less like them than the mean of the whole index is."""
    return sum(
        1
        for at, hits in enumerate(found)
        if (known := [truth.cosines[at][id_] for id_ in hits.ids if id_ in truth.cosines[at]])
        and float(np.mean(known)) < truth.middle[at] - _MARGIN
    )


def choose(curve: Sequence[Point], target: float) -> Point | None:
    """The quickest point that reaches the target; None where none does."""
    good = [point for point in curve if point.recall >= target]
    return min(good, key=lambda point: (point.p50_ms, point.effort or 0), default=None)
