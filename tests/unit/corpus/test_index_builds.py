"""Two builds of one index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.index_builds import compare_builds, read_listing, write_listing
from ragnostic.errors import DataError, PathError, StoreError

LISTINGS = st.dictionaries(st.text(max_size=3), st.integers(-(1 << 63), (1 << 63) - 1), max_size=9)


@given(LISTINGS)
def test_a_build_is_stable_beside_itself(listing):
    """Also where texts are there twice."""
    found = compare_builds(listing, listing)
    assert (found.moved, found.reused) == ((), ())
    assert found.texts == len(set(listing.values()))


@given(st.lists(st.integers(0, 1000), unique=True, min_size=2, max_size=20))
def test_ids_that_count_all_move_when_one_is_put_in_front(texts):
    """Each text has the id after the one that it had."""
    before = {str(n): text for n, text in enumerate(texts)}
    now = {str(n): text for n, text in enumerate([-1, *texts])}
    found = compare_builds(before, now)
    assert len(found.moved) == found.texts == len(texts)
    assert set(found.reused) == set(before)


def test_texts_that_come_and_go_are_no_change_of_ids():
    """Only what is in both builds says anything; a changed text under its id is fine."""
    assert compare_builds({"a": 1, "b": 2}, {"a": 3, "c": 4}) == compare_builds({}, {})


def test_a_copy_under_a_second_id_does_not_move_a_text():
    """One id that stays is enough."""
    assert compare_builds({"a": 1}, {"a": 1, "b": 1}).moved == ()


def test_a_listing_comes_back_as_it_was_kept(tmp_path):
    """In a folder that is made for it."""
    path = tmp_path / "kept" / "build.parquet"
    listing = {"a": 1 << 62, "中": -5}
    write_listing(path, listing)
    assert read_listing(path) == listing


def test_what_is_no_listing_is_told(tmp_path):
    """Absent, something else, and a place that cannot be written."""
    with pytest.raises(PathError, match="no such file"):
        read_listing(tmp_path / "absent")
    (tmp_path / "other").write_text("x")
    with pytest.raises(DataError, match="no listing"):
        read_listing(tmp_path / "other")
    with pytest.raises(StoreError, match="cannot write"):
        write_listing(tmp_path / "other" / "below", {})
