"""Exact search in batches, recall and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.index_recall import (
    Asked,
    Point,
    ask,
    choose,
    exact,
    falls,
    farthest_first,
    points,
    returned_ids,
    similarities,
)
from ragnostic.ports import Neighbours, StoredBatch, Vectors


def batches(vectors: Vectors, size: int) -> Iterator[StoredBatch]:
    """The rows, named by number, so many at a time."""
    for start in range(0, len(vectors), size):
        part = vectors[start : start + size]
        ids = tuple(str(start + n) for n in range(len(part)))
        nothing = (None,) * len(part)
        yield StoredBatch(ids, part, (part.shape[1],) * len(part), nothing, nothing, nothing)


def drawn(seed: int, rows: int, width: int = 4) -> Vectors:
    """Whole numbers, so that ties occur."""
    return np.random.default_rng(seed).integers(-3, 4, (rows, width)).astype(np.float32)


def ranked(queries: Vectors, vectors: Vectors, k: int, space: str) -> list[Neighbours]:
    """By sorting everything."""
    scores, _ = similarities(queries, vectors, space)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return [
        Neighbours(tuple(map(str, row.tolist())), tuple(scores[at][row].tolist()))
        for at, row in enumerate(order)
    ]


@given(
    st.integers(0, 10_000),
    st.integers(1, 40),
    st.integers(1, 12),
    st.integers(1, 15),
    st.sampled_from(["cosine", "ip", "l2"]),
)
def test_exact_search_in_batches_is_sorting_everything(seed, rows, size, k, space):
    """Whatever the size of a batch; what is exact has recall 1, backwards or not among equals."""
    vectors, queries = drawn(seed, rows), drawn(seed + 1, 3)
    found = ranked(queries, vectors, k, space)
    backwards = [
        Neighbours(tuple(str(rows - 1 - int(id_)) for id_ in hits.ids), hits.scores)
        for hits in ranked(queries, vectors[::-1], k, space)
    ]
    rounds = [
        Asked(1, usual=True, found=tuple(found), took_ms=(1.0,) * 3),
        Asked(2, usual=False, found=tuple(backwards), took_ms=(1.0,) * 3),
    ]
    truth = exact(batches(vectors, size), queries, k, space, returned_ids(rounds))
    assert truth.reach.tolist() == [min(k, rows)] * 3
    assert truth.kth == pytest.approx([hits.scores[-1] for hits in found])
    assert [point.recall for point in points(rounds, truth)] == [1.0, 1.0]


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_recall_is_the_share_that_came_back(seed, kept):
    """Of different scores, so many of ten."""
    vectors = np.random.default_rng(seed).normal(size=(50, 4)).astype(np.float32)
    queries = vectors[:2]
    found = [
        Neighbours(hits.ids[:kept], hits.scores[:kept])
        for hits in ranked(queries, vectors, 10, "cosine")
    ]
    rounds = [Asked(None, usual=True, found=tuple(found), took_ms=(1.0, 3.0))]
    truth = exact(batches(vectors, 7), queries, 10, "cosine", returned_ids(rounds))
    (point,) = points(rounds, truth)
    assert point.recall == pytest.approx(kept / 10, abs=0.11)
    assert point.p50_ms == 2.0
    assert point.short == 2


def test_an_id_that_comes_twice_counts_once():
    """A place is wasted by it."""
    vectors = np.eye(3, dtype=np.float32)
    rounds = [Asked(None, usual=True, found=(Neighbours(("0", "0"), (1.0, 1.0)),), took_ms=(1.0,))]
    queries = np.array([[1.0, 0.5, 0.0]], dtype=np.float32)
    truth = exact(batches(vectors, 2), queries, 2, "cosine", returned_ids(rounds))
    assert points(rounds, truth)[0].recall == 0.5


def test_rows_without_a_direction_are_nobodys_neighbours():
    """NaN does not spoil the others; of nothing there is no recall."""
    vectors = np.array([[np.nan, 1], [1, 0], [0, 1]], dtype=np.float32)
    queries = np.array([[1.0, 0.0]], dtype=np.float32)
    rounds = [Asked(None, usual=True, found=(Neighbours(("1",), (1.0,)),), took_ms=(1.0,))]
    truth = exact(batches(vectors, 2), queries, 5, "ip", returned_ids(rounds))
    assert truth.reach.tolist() == [2]
    assert points(rounds, truth)[0].recall == 0.5
    nothing = exact(batches(vectors[:1], 2), queries, 5, "ip", returned_ids(rounds))
    assert points(rounds, nothing) == []


class Store:
    """Answers from a table; every answer takes as many seconds as the effort says."""

    space = "cosine"
    dimension = 2
    effort = "ef"
    usual_effort = 20

    def __init__(self) -> None:
        self.time = 0.0
        self.asked: list[int | None] = []

    def now(self) -> float:
        """Seconds."""
        return self.time

    def search(self, query: Vectors, k: int, effort: int | None = None) -> Neighbours:
        """See the class."""
        self.time += (effort or 1) / 1000
        self.asked.append(effort)
        return Neighbours(("a",), (1.0,))


def test_each_query_is_timed_alone_after_a_warm_up():
    """At each effort in its turn, by an injected clock."""
    store = Store()
    queries = np.ones((5, 2), dtype=np.float32)
    rounds = ask(store, queries, 3, [10, 20], clock=store.now)
    assert [one.usual for one in rounds] == [False, True]
    assert rounds[0].took_ms == pytest.approx((10.0,) * 5)
    assert rounds[1].took_ms == pytest.approx((20.0,) * 5)
    assert store.asked == [10] * 8 + [20] * 8


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([(0.9, 0.1)], True),
        ([(0.1, 0.9), (0.2, 0.3), (3.0, 1.0)], False),
        ([(0.5, 0.5)], None),
        ([()], None),
    ],
    ids=["similarity", "distance", "equal", "nothing"],
)
def test_the_scores_say_what_they_are(scores: Sequence[tuple[float, ...]], said):
    """By whether they fall along the rankings."""
    assert falls([Neighbours(tuple("ab"[: len(one)]), one) for one in scores]) is said


def test_results_that_are_farther_than_the_mean_are_counted():
    """The nearest are not, nor is an answer of unknown ids."""
    vectors = drawn(5, 60)
    vectors = vectors[np.linalg.norm(vectors, axis=1) > 0]
    queries = vectors[:4]
    near = ranked(queries, vectors, 5, "cosine")
    far = ranked(-queries, vectors, 5, "cosine")
    wanted = [frozenset(a.ids + b.ids) for a, b in zip(near, far, strict=True)]
    truth = exact(batches(vectors, 9), queries, 5, "cosine", wanted)
    assert farthest_first(near, truth) == 0
    assert farthest_first(far, truth) == 4
    assert farthest_first([Neighbours(("?",), (1.0,))] * 4, truth) == 0


def point(effort: int, recall: float, ms: float) -> Point:
    """One that the index is not set to."""
    return Point(
        effort, usual=False, recall=recall, low=recall, high=recall, p50_ms=ms, p95_ms=ms, short=0
    )


def test_the_quickest_effort_that_suffices_is_chosen():
    """None where none does."""
    curve = [
        point(effort, recall, ms)
        for effort, recall, ms in ((10, 0.8, 1.0), (20, 0.96, 2.0), (40, 0.99, 1.5))
    ]
    assert choose(curve, 0.95) == curve[2]
    assert choose(curve, 0.7) == curve[0]
    assert choose(curve, 1.0) is None
