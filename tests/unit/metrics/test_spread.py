"""METRICS 7: RDS."""

from __future__ import annotations

import numpy as np
import pytest

from ragnostic.metrics.spread import SAMPLED_ABOVE, relevance_spread, skew


def test_spread_is_the_median_pairwise_cosine_distance():
    """Right angles are at distance 1, equal directions at 0 (however long), opposite at 2."""
    columns, faults = relevance_spread(
        {"right": [[1, 0], [0, 1]], "same": [[1, 1], [2, 2]], "opposite": [[1, 0], [-3, 0]]}
    )
    assert columns.value.tolist() == pytest.approx([1.0, 0.0, 2.0])
    assert not faults


def test_rds_is_the_population_deviation_of_the_spreads():
    """Spreads 1 and 0: 0.5; a uniformly scattered space has 0."""
    two, _ = relevance_spread({"a": [[1, 0], [0, 1]], "b": [[1, 0], [1, 0]]})
    assert skew(two) == 0.5
    even, _ = relevance_spread({"a": [[1, 0], [0, 1]], "b": [[0, 1], [1, 0]]})
    assert skew(even) == 0


def test_fewer_than_two_relevant_chunks_have_no_spread():
    """And no spread at all has no deviation."""
    columns, _ = relevance_spread({"a": [[1, 0]], "b": []})
    assert np.isnan(columns.value).all()
    assert skew(columns) is None


@pytest.mark.parametrize("broken", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_a_vector_without_direction_is_a_fault(broken):
    """The query is named and has no value."""
    columns, (fault,) = relevance_spread({"q": [[1.0, 0.0], broken]})
    assert np.isnan(columns.value[0])
    assert (fault.kind, fault.ids) == ("zero_vector", ("q",))


def test_mixed_dimensions_are_a_fault():
    """Two models in one snapshot."""
    columns, (fault,) = relevance_spread({"q": [[1, 0], [1, 0, 0]]})
    assert np.isnan(columns.value[0])
    assert fault.kind == "dimension_mismatch"


def test_many_relevant_chunks_are_sampled_by_the_query_id():
    """The same query gives the same value, close to that of all pairs."""
    vectors = np.random.default_rng(0).normal(size=(SAMPLED_ABOVE + 20, 8)).tolist()
    once, _ = relevance_spread({"查询": vectors})
    again, _ = relevance_spread({"查询": vectors})
    other, _ = relevance_spread({"other": vectors})
    assert once.value[0] == again.value[0]
    assert once.value[0] != other.value[0]
    assert once.value[0] == pytest.approx(1.0, abs=0.1)


def test_rounding_never_leaves_the_range():
    """Equal long vectors are not at a negative distance."""
    vector = np.random.default_rng(1).normal(size=384).tolist()
    columns, _ = relevance_spread({"q": [vector] * 3})
    assert columns.value[0] >= 0
