"""From what was seen of an index to findings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.index_contents import Contents, Reading, drawn, read_contents
from ragnostic.corpus.index_expected import Expected
from ragnostic.corpus.index_findings import (
    KINDS,
    build_findings,
    content_findings,
    search_findings,
    stale_findings,
    stale_limit,
    vector_findings,
    version_findings,
    version_order,
)
from ragnostic.corpus.index_recall import Exact, Point
from ragnostic.ports import Neighbours, StoredBatch
from ragnostic.records import Chunk
from ragnostic.report.index_words import ADVICE, TITLES


def test_every_kind_has_a_title_and_an_advice():
    """In the order of the kinds."""
    assert tuple(TITLES) == tuple(ADVICE) == KINDS


@given(
    st.lists(st.floats(0.97, 0.99), min_size=5, max_size=60),
    st.integers(1, 4),
)
def test_what_all_vectors_lose_makes_none_stale(cosines, stale):
    """Quantisation spreads all; those far below all others are still told."""
    even = [0.98 + (one - 0.98) / 1000 for one in cosines]
    found = Contents(cosines=even, compared=[str(n) for n in range(len(even))])
    assert list(stale_findings(found, None)) == []
    low = [0.5] * min(stale, len(even) // 3)
    found = Contents(cosines=even + low, compared=[str(n) for n in range(len(even) + len(low))])
    counts = [one.count for one in stale_findings(found, None)]
    assert counts == ([len(low)] if low else [])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_at_most_half_of_the_vectors_stand_out(cosines):
    """The limit lies below the median."""
    assert sum(one < stale_limit(cosines) for one in cosines) * 2 <= len(cosines)


def test_a_threshold_of_ones_own_is_kept_to():
    """Even where the median is low."""
    found = Contents(cosines=[0.5, 0.7, 0.9], compared=["a", "b", "c"])
    (told,) = stale_findings(found, 0.8)
    assert (told.kind, told.count, told.examples) == ("stale_vector", 2, ("a", "b"))
    assert [one.kind for one in stale_findings(found, None)] == ["other_model"]
    assert list(stale_findings(Contents(), None)) == []


@pytest.mark.parametrize(
    "versions", [["v2", "v10"], ["2025-11", "2026-02"], ["1.9.0", "1.10.0"], ["v1", "3"]], ids=str
)
def test_versions_are_ordered_by_their_numbers(versions):
    """The second is the newer one."""
    assert version_order(versions[0]) < version_order(versions[1])


def test_one_version_a_document_is_no_finding():
    """Nor is a document whose versions are not known."""
    found = Contents(versions={"d": {"1": ["a", "b"]}})
    assert list(version_findings(found, [])) == []


def truth(middle: float, cosine: float) -> Exact:
    """Of one query that got the id a."""
    return Exact(
        np.array([0.9]), np.array([1]), ({"a": cosine},), ({"a": cosine},), np.array([middle])
    )


def test_an_index_that_returns_the_farthest_is_told():
    """By the cosines of what came back, whatever its scores say."""
    usual = [Neighbours(("a",), (0.1,))]
    asked = {"taken": None, "target": 0.9}
    (told,) = search_findings(usual, truth(0.5, 0.1), [], **asked)
    assert (told.kind, told.facts["how"]) == ("direction", "farthest")
    assert list(search_findings(usual, truth(0.5, 0.8), [], **asked)) == []
    assert list(search_findings(usual, None, [], **asked)) == []


def test_recall_is_judged_as_the_index_is_set():
    """Not by what a larger effort reaches."""
    curve = [
        Point(10, usual=True, recall=0.8, low=0.7, high=0.9, p50_ms=1.0, p95_ms=2.0, short=6),
        Point(99, usual=False, recall=1.0, low=1.0, high=1.0, p50_ms=3.0, p95_ms=4.0, short=0),
    ]
    usual = [Neighbours(("a",), (1.0,))]
    asked = {"taken": None, "target": 0.9}
    (told,) = search_findings(usual, truth(0.1, 0.9), curve, **asked)
    assert (told.kind, told.count, told.facts["recall"]) == ("low_recall", 6, 0.8)
    assert list(search_findings(usual, truth(0.1, 0.9), curve, **{**asked, "target": 0.8})) == []


def test_lengths_are_of_no_account_by_cosine():
    """By inner product they are, and by distance."""
    found = Contents(rows=4, norms=(1.0, 2.0))
    found.not_unit.add(["a"])
    assert list(vector_findings(found, 3, 3, "cosine")) == []
    assert [one.kind for one in vector_findings(found, 3, 3, "l2")] == ["not_unit"]
    assert [one.kind for one in vector_findings(found, 3, 4, "cosine")] == ["dimension"]


def batch(**texts: str) -> StoredBatch:
    """Rows with texts and a vector each."""
    nothing = (None,) * len(texts)
    vectors = np.ones((len(texts), 1), dtype=np.float32)
    return StoredBatch(
        tuple(texts), vectors, (1,) * len(texts), tuple(texts.values()), nothing, nothing
    )


@given(st.permutations(["a", "b", "c", "d", "b"]), st.integers(1, 5))
def test_batches_and_order_change_no_finding(ids, size):
    """The same rows are the same index."""
    parts = [ids[start : start + size] for start in range(0, len(ids), size)]
    stored = [
        StoredBatch(
            tuple(part),
            np.ones((len(part), 2), np.float32),
            (2,) * len(part),
            tuple(f"text of {id_}" for id_ in part),
            (None,) * len(part),
            (None,) * len(part),
        )
        for part in parts
    ]
    chunks = {name: Chunk(name, "d", 0, 1, 1, f"text of {name}") for name in ("a", "b", "c", "e")}
    expected = Expected(chunks)
    found = read_contents(iter(stored), 5, Reading(expected))
    told = {one.kind: one.count for one in content_findings(found, expected)}
    assert told == {"missing": 1, "orphan": 1, "duplicate_id": 1, "duplicate_text": 1}


def test_an_index_that_names_no_document_cannot_be_held_against_documents():
    """Nothing is called missing then."""
    expected = Expected({"c": Chunk("c", "d", 0, 1, 1, "x")}, "document")
    found = read_contents([batch(a="x")], 1, Reading(expected))
    assert list(content_findings(found, expected)) == []


@given(st.sets(st.text(max_size=5), min_size=1, max_size=30), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_sample_holds_the_smaller_one(ids, one, two):
    """So that two checks with different samples agree on what they share."""
    small, large = sorted((one, two))
    assert {id_ for id_ in ids if drawn(id_, small)} <= {id_ for id_ in ids if drawn(id_, large)}


def test_without_an_earlier_build_nothing_is_said_of_ids():
    """It is not tested."""
    assert list(build_findings(None)) == []
