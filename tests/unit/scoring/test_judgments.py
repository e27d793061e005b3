"""The judged column as flat arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.errors import DataError
from ragnostic.records import JUDGED_TYPE
from ragnostic.scoring.judgments import FACETS, judgments


def judged(*rows):
    """A judged column."""
    return pa.array(rows, JUDGED_TYPE)


def item_count(found):
    """Distinct items of each row."""
    return [len(set(found.items[found.rows == row])) for row in range(len(found.judged))]


def test_negative_grades_are_nought_and_none_is_one():
    """METRICS 1.5."""
    found = judgments(judged({"ids": ["a", "b", "c"], "grades": [2, -1, None]}, {"ids": ["d"]}))
    assert found.grades.tolist() == [2.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("grade", ["inf", "nan"])
def test_a_grade_that_is_no_number_is_refused(grade):
    """There is no gain for it; only an absent grade counts as 1."""
    with pytest.raises(DataError, match=rf"row 1: judged\.grades holds {grade}"):
        judgments(judged({"ids": ["a"]}, {"ids": ["b"], "grades": [float(grade)]}))


def test_lists_that_are_not_parallel_are_refused():
    """With the row, and both lengths."""
    with pytest.raises(DataError, match=r"row 1: judged.grades has 1 values for 2 ids"):
        judgments(judged({"ids": ["a"], "grades": [1]}, {"ids": ["a", "b"], "grades": [1]}))


def test_a_row_without_grades_among_rows_with_them_has_grade_one():
    """A member may be null for one row only."""
    found = judgments(judged({"ids": ["a"], "grades": [3]}, {"ids": ["b", "c"]}))
    assert found.grades.tolist() == [3.0, 1.0, 1.0]


def test_a_null_id_counts_only_where_it_names_an_item():
    """An item that no chunk matches keeps a null id (METRICS 1.8); a null alone is nothing."""
    found = judgments(judged({"ids": ["a", None, ""], "items": [0, 1, None]}))
    assert found.items.tolist() == [0, 1]


def test_a_gold_id_given_twice_is_one_item():
    """METRICS 1.3; in another row it is another."""
    found = judgments(judged({"ids": ["a", "b", "a"]}, {"ids": ["a"]}))
    assert item_count(found) == [2, 1]


def test_an_id_given_twice_beside_explicit_items_is_one_item_more():
    """Entries without an item never join one that was named."""
    found = judgments(judged({"ids": ["a", "b", "a", "a"], "items": [5, 5, None, None]}))
    assert item_count(found) == [2]


def test_gold_ids_of_one_hash_are_different_items(forge):
    """And a repetition behind another id of that hash is still one."""
    first, second = forge(11, 2)
    found = judgments(judged({"ids": [first, second, first]}, {"ids": [first, second]}))
    assert item_count(found) == [2, 2]
    assert found.items[0] == found.items[2]


def test_a_facet_is_a_view():
    """Overall, one dimension, and the dimensions as items."""
    column = judged(
        {"ids": ["a", "a", "b"], "grades": [1, 2, 3], "facets": [None, "basis", "结论"]},
        {"ids": ["c"]},
    )
    assert judgments(column).grades.tolist() == [1.0, 1.0]
    assert judgments(column, "basis").grades.tolist() == [2.0]
    assert judgments(column, "none").grades.tolist() == []
    assert item_count(judgments(column, FACETS)) == [2, 0]


def test_a_row_that_is_null_is_not_judged():
    """Other than one with an empty list."""
    found = judgments(judged(None, {"ids": []}))
    assert found.judged.tolist() == [False, True]


def test_wide_lists_and_columns_of_null_are_read():
    """As other tools write them."""
    kind = pa.struct([("ids", pa.large_list(pa.large_string())), ("grades", pa.null())])
    found = judgments(pa.array([{"ids": ["a"], "grades": None}], kind))
    assert found.grades.tolist() == [1.0]
    assert found.strings.bytes_at(0) == b"a"


def test_a_struct_without_ids_is_refused():
    """It holds no judgments."""
    with pytest.raises(DataError, match="no member 'ids'"):
        judgments(pa.array([{"x": 1}]))


def test_weights_are_kept_and_unknown_ones_are_nan():
    """Soft relevance of the label-free judges."""
    found = judgments(judged({"ids": ["a", "b"], "weights": [0.25, None]}))
    assert found.weights[0] == 0.25
    assert np.isnan(found.weights[1])
