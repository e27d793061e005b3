"""Long tables to rankings and judgments (METRICS 1.3, 1.4)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.evalset.grouping import Queries, judged_table, rank_batch, rank_faults, rank_order

HITS = st.lists(
    st.tuples(
        st.sampled_from("pqr"),
        st.sampled_from(["a", "B", "文", "文2", "é", "z" * 20, "😀", "ｚ"]),
        st.sampled_from([0.0, 1.0, 2.0, -1.0, 1e300, float("inf"), float("-inf")]),
    ),
    max_size=25,
)


def ranked(hits, **options):
    """Rankings by query, and the ties."""
    queries, chunks = (pa.array([h[i] for h in hits], pa.string()) for i in (0, 1))
    batch, ties = rank_batch(queries, chunks, np.array([h[2] for h in hits], float), **options)
    return {
        q: s["ids"] for q, s in zip(*(batch[i].to_pylist() for i in range(2)), strict=True)
    }, ties


def expected(hits, sign=1):
    """METRICS 1.4 in plain Python: score descending, then id descending by code point."""
    found = {}
    for query, chunk, score in hits:
        found.setdefault(query, []).append((sign * score, chunk))
    return {q: [c for _, c in sorted(rows, reverse=True)] for q, rows in found.items()}


@settings(deadline=None, max_examples=150)
@given(HITS)
def test_rankings_are_by_score_and_ties_by_id_descending(hits):
    """Whatever the order of the rows; infinite scores tie as well."""
    rankings, ties = ranked(hits)
    assert rankings == expected(hits)
    scores = {}
    for query, _, score in hits:
        scores.setdefault(query, []).append(score)
    assert ties == sum(len(values) - len(set(values)) for values in scores.values())
    assert ranked(hits, score_order="distance")[0] == expected(hits, -1)


def test_float32_rounds_scores_before_they_are_compared():
    """1 + 1e-9 ties with 1, and what is too large for 32 bits is infinite."""
    hits = [("q", "a", 1 + 1e-9), ("q", "b", 1.0), ("q", "c", 1e300)]
    assert ranked(hits) == ({"q": ["c", "a", "b"]}, 0)
    assert ranked(hits, score_precision="float32") == ({"q": ["c", "b", "a"]}, 1)


def test_rows_in_order_stay_where_they_are():
    """No sorting where none is needed."""
    order, ties = rank_order(np.array([0, 0, 1]), pa.array(["b", "a", "c"]), np.array([2.0, 1, 3]))
    assert (order.tolist(), ties) == ([0, 1, 2], 0)


def test_queries_keep_the_order_of_their_first_row():
    """Also when their rows are scattered."""
    grouped = Queries.of(pa.array(["b", "a", "b", "c", "a"])).group()
    assert grouped.query_ids.to_pylist() == ["b", "a", "c"]
    assert grouped.lists(pa.array([1, 2, 3, 4, 5])).to_pylist() == [[1, 3], [2, 5], [4]]


def faults_of(ranks, scores, order="similarity"):
    """Rank faults of one query."""
    size = len(ranks)
    return rank_faults(
        pa.array(["q"] * size), np.array(scores, float), np.array(ranks, float), order
    )


@pytest.mark.parametrize(
    ("ranks", "scores", "order"),
    [
        ([1, 2, 3], [3, 2, 1], "similarity"),
        ([3, 2, 1], [1, 2, 3], "similarity"),
        ([1, 2], [5, 5], "similarity"),
        ([1, 2], [0.1, 0.2], "distance"),
        ([np.nan, np.nan], [1, 2], "similarity"),
        ([1, 1], [1, 2], "similarity"),
        ([1, np.inf], [np.inf, np.inf], "similarity"),
        ([], [], "similarity"),
    ],
)
def test_ranks_that_agree_with_the_scores_are_no_fault(ranks, scores, order):
    """Nor are unknown or tied ones."""
    assert faults_of(ranks, scores, order) == []


def test_ranks_that_contradict_the_scores_are_named():
    """The scores are believed."""
    (fault,) = faults_of([1, 2], [1, 2])
    assert (fault.kind, fault.ids) == ("rank_disagrees_with_score", ("q",))
    many = pa.array([f"q{i // 2}" for i in range(60)])
    ranks = np.array([1.0, 2.0] * 30)
    (fault,) = rank_faults(many, ranks, ranks, "similarity")
    assert fault.count == 30
    assert fault.message.endswith("q19 and 10 more")


def judged(*rows):
    """Qrels by query, and the kinds of faults with their counts."""
    queries, chunks = (pa.array([r[i] for r in rows], pa.string()) for i in (0, 1))
    table, faults = judged_table(queries, chunks, np.array([r[2] for r in rows], float))
    gold = {
        row["query_id"]: dict(zip(row["judged"]["ids"], row["judged"]["grades"], strict=True))
        for row in table.to_pylist()
    }
    return gold, {fault.kind: fault for fault in faults}


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("pq"),
            st.sampled_from(["a", "b", "丁", "", None]),
            st.sampled_from([-1.0, 0.0, 2.0]),
        ),
        max_size=15,
    )
)
def test_a_pair_given_twice_counts_once_with_its_highest_grade(rows):
    """Null and empty ids are left out; a query without anything left stays."""
    expected_gold = {}
    for query, chunk, value in rows:
        gold = expected_gold.setdefault(query, {})
        if chunk:
            gold[chunk] = max(value, gold.get(chunk, value))
    gold, faults = judged(*rows)
    assert gold == expected_gold
    nothing = sum(not chunk for _, chunk, _ in rows)
    kept = sum(map(len, gold.values()))
    assert faults["null_gold_id"].count == nothing if nothing else "null_gold_id" not in faults
    twice = len(rows) - nothing - kept
    assert faults["duplicate_gold"].count == twice if twice else "duplicate_gold" not in faults


def test_the_fault_names_query_and_id():
    """And how many more there are."""
    _, faults = judged(*[("q", "a", 1)] * 23)
    assert "q (a)" in faults["duplicate_gold"].message
    assert faults["duplicate_gold"].message.endswith("and 2 more")


def test_gold_ids_of_one_hash_are_not_duplicates(forge):
    """And a real repetition behind another id of that hash is."""
    first, second = forge(1, 2)
    gold, faults = judged(("q", first, 1), ("q", second, 2), ("q", first, 3), ("r", first, 1))
    assert gold == {"q": {first: 3, second: 2}, "r": {first: 1}}
    assert faults["duplicate_gold"].count == 1
