"""The gain matrix, and collisions that must not change a score."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ragnostic.metrics import Metric
from ragnostic.offline.evaluation import evaluate, evaluate_records
from ragnostic.records import JUDGED_TYPE, record_schema
from ragnostic.scoring import Plan
from ragnostic.scoring.judgments import judgments
from ragnostic.scoring.matching import find, gain_matrix
from ragnostic.scoring.rankings import rankings

ALL = ["Success@2", "P@2", "RR", "R@2", "AP", "nDCG", "bpref", "Rprec", "Judged@2"]


def met(ranking_rows, judged_rows):
    """Rankings and judgments of a block."""
    lists = pa.array(ranking_rows, pa.list_(pa.string()))
    return rankings(lists), judgments(pa.array(judged_rows, JUDGED_TYPE))


def values(qrels, run):
    """Every per-query value, in the order of the qrels."""
    return [
        {k: v for k, v in row.items() if k != "query_id"}
        for row in evaluate(qrels, run, ALL).per_query.to_pylist()
    ]


def test_grades_stand_at_the_ranks_of_their_chunks():
    """Unjudged is -1, the ideal holds what was not found."""
    gains = gain_matrix(*met([["a", "x", "b"]], [{"ids": ["b", "a", "c"], "grades": [2, 0, 3]}]))
    assert gains.matrix.tolist() == [[0, -1, 2]]
    assert gains.ideal.tolist() == [[3, 2, 0]]
    assert gains.places is None


def test_the_second_chunk_of_an_item_gains_nothing_but_keeps_its_grade():
    """METRICS 1.8: one place, found at rank 2."""
    gains = gain_matrix(
        *met([["x", "a1", "a2"]], [{"ids": ["a1", "a2"], "grades": [1, 1], "items": [0, 0]}])
    )
    assert gains.matrix.tolist() == [[-1, 1, 1]]
    assert gains.ideal.tolist() == [[1]]
    assert gains.place_ranks.tolist() == [[0, 2]]


def test_a_chunk_with_two_items_fills_two_places():
    """So that nothing exceeds 1."""
    gains = gain_matrix(
        *met([["a"]], [{"ids": ["a", "a", None], "grades": [2, 1, 1], "items": [0, 1, 2]}])
    )
    assert gains.matrix.tolist() == [[2]]
    assert gains.places.tolist() == [[2, 1]]
    assert gains.ideal.tolist() == [[2, 1, 1]]


def test_fractions_of_grades_keep_their_bar():
    """0.7 as a 32-bit float is at least 0.7."""
    result = evaluate({"q": {"a": 0.7}}, {"q": ["a"]}, ["P(rel=0.7)@1"], grades="real")
    assert result["P(rel=0.7)@1"].mean == 1


def test_soft_weights_stand_beside_the_grades():
    """The highest where a chunk has several."""
    ranked, judged = met(
        [["a", "b"]],
        [{"ids": ["a", "a", "b"], "weights": [0.1, 0.3, None], "items": [0, 1, 2]}],
    )
    weights = gain_matrix(ranked, judged, with_weights=True).weights
    assert weights.tolist() == [[pytest.approx(0.3), 0.0]]


def test_nothing_retrieved_and_nothing_judged():
    """Shapes hold."""
    gains = gain_matrix(*met([[], []], [{"ids": ["a"]}, None]))
    assert gains.matrix.shape == (2, 0)
    assert gains.ideal.tolist() == [[1], [-1]]
    shared = gain_matrix(*met([[]], [{"ids": ["a", "b"], "items": [0, 0]}]))
    assert shared.place_ranks.shape == (1, 0)


def test_a_gold_id_is_not_taken_for_a_result_of_the_same_hash(forge):
    """Neither when it was not retrieved, nor when it stands behind it."""
    first, second = forge(99, 2)
    ranked, judged = met([[second, "x"], [second, first]], [{"ids": [first]}, {"ids": [first]}])
    assert find(ranked, judged).tolist() == [-1, 1]


def test_half_a_hash_is_verified_as_well(forge):
    """Only the lower 32 bits are compared at first."""
    first, second = forge(123, 2, bits=32)
    ranked, judged = met([[second, first], [second]], [{"ids": [first]}, {"ids": [first]}])
    assert find(ranked, judged).tolist() == [1, -1]


def test_a_gold_id_with_the_hash_of_padding_is_not_found_in_it(forge):
    """Padding points at the block's first id; row 1 is empty and its first cell has the hash ~2."""
    (odd,) = forge(~2, bits=32)
    ranked, judged = met([[odd, "a"], []], [{"ids": [odd]}, {"ids": [odd]}])
    assert find(ranked, judged).tolist() == [0, -1]


def test_collisions_change_no_value_of_any_metric(forge):
    """The same data with colliding and with ordinary ids, whole hashes and halves."""
    colliding, others = forge(2024, 4), forge(2024, 2, bits=32, seed=1)
    plain = [f"id-{i}" for i in range(6)]

    def data(i):
        qrels = {
            "q1": {i[0]: 2, i[1]: 0, i[4]: 1},
            "q2": {i[2]: 1, i[3]: 3},
            "q3": {i[0]: 1},
        }
        run = {
            "q1": [i[1], i[5], i[0], i[2], i[0], i[4]],
            "q2": [i[0], i[3], i[1]],
            "q3": [i[5], i[1], i[2], i[3]],
        }
        return qrels, run

    assert values(*data(colliding + others)) == values(*data(plain))


def test_collisions_change_no_value_of_records_that_judge_themselves(forge):
    """Repeated gold ids, groups and facets."""

    def scored(i):
        rows = [
            {
                "query_id": "q",
                "retrieve": {"ids": [i[3], i[1], i[0], i[1]]},
                "judged": {"ids": [i[0], i[1], i[0], i[2]], "grades": [1, 2, 1, 1]},
            },
            {
                "query_id": "r",
                "retrieve": {"ids": [i[1], i[0], i[2]]},
                "judged": {"ids": [i[0], i[2], i[3]], "items": [0, 0, 1]},
            },
        ]
        table = pa.Table.from_pylist(rows, record_schema(["retrieve"]))
        plan = Plan(tuple(Metric.parse(name) for name in ALL))
        return evaluate_records(table.to_batches(), plan).per_query.to_pylist()

    assert scored(forge(3, 4)) == scored(["a", "b", "c", "d"])
