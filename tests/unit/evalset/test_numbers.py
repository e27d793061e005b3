"""Grades and scores are read strictly."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.strict_json import RowError
from ragnostic.evalset.numbers import grade, number, score


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2.50", 2.5), (" 1 ", 1.0), ("-1e3", -1000.0), (7, 7.0), ("inf", math.inf),
        (np.float32(0.5), 0.5), (Decimal("1.5"), 1.5), ("nan", None), ("1_0", None), ("１", None),
        ("", None), ("abc", None), ("0x10", None), (None, None), (True, None), ([1], None),
        (10**400, None), (float("nan"), None),
    ],
)  # fmt: skip
def test_what_is_a_number_and_what_is_none(value, expected):
    """Underscores and other digits are Python's, not a data file's."""
    assert number(value) == expected


def test_grades_are_whole_unless_fractions_are_allowed():
    """1.0 is 1; negative ones are kept, and count as 0 later."""
    assert [grade(g) for g in ("1.0", -1, 3)] == [1.0, -1.0, 3.0]
    assert grade("0.5", "real") == 0.5
    with pytest.raises(RowError, match="is a fraction"):
        grade("0.5")


@pytest.mark.parametrize("value", ["x", "nan", "inf", "-inf", None, "1e300", 1e31, True])
@pytest.mark.parametrize("allowed", ["whole", "real"])
def test_a_grade_that_is_no_number_is_named(value, allowed):
    """Infinite and absurd ones, too."""
    with pytest.raises(RowError) as caught:
        grade(value, allowed)
    assert repr(value) in str(caught.value)


def test_scores_may_be_infinite_but_not_nan():
    """METRICS 1.4."""
    assert score("-inf") == -math.inf
    with pytest.raises(RowError, match="score 'NaN' is no number"):
        score("NaN")


@given(st.text() | st.floats() | st.integers() | st.binary() | st.lists(st.integers()))
def test_anything_is_a_number_or_none(value):
    """Never another error."""
    found = number(value)
    assert found is None or not math.isnan(found)
