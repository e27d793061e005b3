"""Suspicious chunk ids, and fingerprints."""

from __future__ import annotations

import pytest

from ragnostic.corpus.checks import check_ids
from ragnostic.corpus.fingerprint import fingerprint_chunks, fingerprint_file
from ragnostic.errors import DataError
from ragnostic.records import Chunk


def chunks(ids):
    """One chunk for each id."""
    return [Chunk(identity, "d", 0, 1, 1, "x") for identity in ids]


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        (["0", "1", "2"], ["ordinal_ids"]),
        (["a.md#1", "a.md#2", "b.md#1", "b.md#2", "b.md#3"], ["ordinal_ids"]),
        (["4983", "5836", "7912"], []),
        (["9f3a0c1d2e4b5a6f", "0f3a0c1d2e4b5a61"], []),
        (["handbook", "policy"], []),
        (["1"], []),
        ([], []),
        (["a", "b", "a"], ["duplicate_chunk_id"]),
    ],
)
def test_ids_that_only_count_or_repeat_are_named(ids, found):
    """Business keys and hashes are fine."""
    assert [fault.kind for fault in check_ids(chunks(ids))] == found


def test_a_fingerprint_of_chunks_sees_content_and_not_order():
    """Any change of id, place, context or text changes it."""
    one, two = Chunk("a", "d", 0, 1, 1, "x"), Chunk("b", "d", 1, 2, 1, "y")
    base = fingerprint_chunks([one, two])
    assert base == fingerprint_chunks([two, one])
    changed = Chunk("b", "d", 1, 2, 1, "y", "heading")
    assert base != fingerprint_chunks([one, changed])
    assert len(base) == 64


def test_a_fingerprint_of_a_folder_sees_names_and_bytes(tmp_path):
    """Hidden files are no part of it; a missing path is refused."""
    (tmp_path / "a.md").write_text("x")
    base = fingerprint_file(tmp_path)
    (tmp_path / ".hidden").write_text("y")
    assert fingerprint_file(tmp_path) == base
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    assert fingerprint_file(tmp_path) != base
    with pytest.raises(DataError, match="cannot be read"):
        fingerprint_file(tmp_path / "missing")
