"""Hashes and exact equality of ids, against Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.scoring.strings import Strings

CHARACTERS = st.characters(exclude_categories=["Cs"])
IDS = st.text(CHARACTERS, max_size=40) | st.text(CHARACTERS, min_size=200, max_size=300)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.none() | IDS, max_size=12))
def test_equality_is_pythons_and_equal_ids_hash_alike(ids):
    """Any Unicode, empty, null, and longer than the hash reads."""
    strings = Strings.of(pa.array(ids, pa.string()))
    known = [i or "" for i in ids]
    assert [strings.bytes_at(i).decode() for i in range(len(ids))] == known
    assert strings.missing.tolist() == [not i for i in ids]
    left, right = (a.ravel() for a in np.indices((len(ids), len(ids))))
    expected = [a == b for a in known for b in known]
    assert strings.equal(left, strings, right).tolist() == expected
    hashes = strings.hashes()
    assert (hashes[left] == hashes[right]).tolist() == expected


@settings(deadline=None, max_examples=30)
@given(st.lists(IDS, min_size=1, max_size=6), st.integers(0, 5), st.integers(0, 6))
def test_a_slice_hashes_like_a_copy(ids, start, size):
    """Offsets into shared buffers are respected."""
    window = pa.array(ids).slice(min(start, len(ids)), size)
    copy = pa.array(window.to_pylist(), pa.string())
    assert Strings.of(window).hashes().tolist() == Strings.of(copy).hashes().tolist()


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
)
def test_every_string_type_hashes_alike(kind):
    """Also a chunked array."""
    plain = pa.array(["a", "文档-1", "", "x" * 300])
    expected = Strings.of(plain).hashes().tolist()
    assert Strings.of(plain.cast(kind)).hashes().tolist() == expected
    assert Strings.of(pa.chunked_array([plain])).hashes().tolist() == expected


def test_numbers_are_read_as_text():
    """7 is "7"."""
    same = Strings.of(pa.array([7])).hashes() == Strings.of(pa.array(["7"])).hashes()
    assert same.all()


def test_nothing_has_no_hashes():
    """An empty array, and one of nulls only."""
    assert len(Strings.of(pa.array([], pa.string())).hashes()) == 0
    assert Strings.of(pa.nulls(3, pa.string())).missing.all()
    assert Strings.of(pa.nulls(2)).missing.all()
    assert Strings.of(pa.array(["", ""])).missing.all()


def test_bytes_behind_a_null_are_not_read():
    """Arrow allows them there."""
    offsets, data = pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"ab")
    ids = pa.StringArray.from_buffers(2, offsets, data, pa.py_buffer(b"\x01"), null_count=1)
    strings = Strings.of(ids)
    assert strings.missing.tolist() == [False, True]
    assert strings.bytes_at(1) == b""


def test_the_hash_is_the_same_on_every_machine():
    """Pinned, since stored results may hold it."""
    found = Strings.of(pa.array(["a", "文档", "x" * 17, "y" * 300])).hashes().tolist()
    assert found == [
        Strings.of(pa.array([i])).hashes().tolist()[0] for i in ("a", "文档", "x" * 17, "y" * 300)
    ]
    assert found[0] == 0xA943A81CB71E3F5D


def test_a_forged_collision_is_told_apart(forge):
    """Equal 64-bit hashes, different bytes."""
    first, second = forge(42, 2)
    strings = Strings.of(pa.array([first, second, first]))
    assert len(set(strings.hashes().tolist())) == 1
    found = strings.equal(np.array([0, 0, 1]), strings, np.array([1, 2, 2]))
    assert found.tolist() == [False, True, False]
