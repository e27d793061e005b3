"""METRICS 6: QER."""

from __future__ import annotations

import numpy as np
import pytest

from ragnostic.metrics.efficiency import query_efficiency, ratio_of_sums


def _columns(used, seconds, fanout):
    return query_efficiency(*(np.array(x, dtype=float) for x in (used, seconds, fanout)))


def test_three_used_chunks_in_a_fifth_of_a_second():
    """15 useful chunks per retrieval-second."""
    assert _columns([3], [0.2], [1]).value[0] == pytest.approx(15.0)


def test_qer_is_a_ratio_of_sums():
    """3 in 0.2 s and 0 in 0.8 s: 3.0, not the mean 7.5 of the ratios."""
    assert ratio_of_sums(_columns([3, 0], [0.2, 0.8], [1, 1])) == pytest.approx(3.0)


def test_parallel_requests_cost_their_number():
    """Fanout 2 halves it; a fanout that was not logged is 1."""
    assert _columns([3, 3], [0.2, 0.2], [2, np.nan]).value.tolist() == pytest.approx([7.5, 15.0])


def test_a_negative_or_missing_duration_leaves_both_sums():
    """Only the third query counts."""
    found = _columns([5, 5, 1], [-1, np.nan, 0.5], [1, 1, 1])
    assert np.isnan(found.value[:2]).all()
    assert ratio_of_sums(found) == pytest.approx(2.0)


def test_without_any_duration_there_is_no_ratio():
    """None rather than infinity."""
    assert ratio_of_sums(_columns([5], [np.nan], [1])) is None
