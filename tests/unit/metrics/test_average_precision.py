"""METRICS 4: average precision."""

from __future__ import annotations

import numpy as np
import pytest

from ragnostic.metrics.average_precision import average_precision
from ragnostic.metrics.inputs import gains

EXAMPLE = [[1, 0, 1, 1, 0]]


def test_the_worked_example():
    """[R,N,R,R,N], R = 3: (1 + 2/3 + 3/4)/3 = 0.8056."""
    assert average_precision(gains(EXAMPLE)).value[0] == pytest.approx(0.8056, abs=5e-5)


def test_the_three_ways_to_divide():
    """R = 4, of which the top 3 hold two: sum 5/3 over 4, over min(4, 3), over 2."""
    given = gains(EXAMPLE, ideal=[[1, 1, 1, 1]])
    values = [
        average_precision(given, k=3, norm=norm).value[0] for norm in ("relevant", "min", "hits")
    ]
    assert values == pytest.approx([5 / 12, 5 / 9, 5 / 6])


def test_without_a_cutoff_norm_min_divides_by_r():
    """min(R, no limit) is R."""
    given = gains(EXAMPLE)
    assert average_precision(given, norm="min").value == average_precision(given).value


def test_nothing_found_is_zero_and_nothing_relevant_is_no_value():
    """Also for norm=hits, whose divisor is 0."""
    found = average_precision(gains([[0], [0]], ideal=[[1], [0]]), norm="hits").value
    assert found[0] == 0
    assert np.isnan(found[1])
