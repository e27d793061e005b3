"""Cutting and splitting between whole characters, in the unit of a channel."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.notify.text_limits import (
    clusters,
    cut,
    json_bytes,
    packed,
    parts,
    split,
    utf8_bytes,
    utf16_units,
)

ANY = st.text(max_size=200)
SIZES = st.sampled_from([len, utf8_bytes, json_bytes, utf16_units])


@given(ANY)
def test_clusters_are_the_text(text):
    """Nothing is added or lost, and none is empty."""
    found = list(clusters(text))
    assert "".join(found) == text
    assert all(found)


@pytest.mark.parametrize(
    "cluster",
    [
        "é",
        "e\u0301\u0323",
        "👍🏽",
        "👩‍👩‍👧‍👦",
        "❤️",
        "🇨🇳",
        "1️⃣",
        "\r\n",
        "ก็",
        "🏴\U000e0067\U000e0062\U000e007f",
    ],
)
def test_what_is_seen_as_one_is_never_taken_apart(cluster):
    """Marks, skin tones, families, flags, key caps."""
    text = f"a{cluster}b"
    assert list(clusters(text)) == ["a", cluster, "b"]
    for limit in range(utf8_bytes(text) + 1):
        kept = cut(text, limit, note="")
        assert kept in {"", "a", f"a{cluster}", text}


def test_flags_are_pairs():
    """Three letters are a flag and a letter."""
    assert list(clusters("🇨🇳🇫")) == ["🇨🇳", "🇫"]


def test_a_pile_of_marks_ends():
    """A character of ten thousand marks may be cut."""
    text = "e" + "\u0301" * 10_000
    assert max(map(len, clusters(text))) == 32
    assert utf8_bytes(cut(text, 100)) <= 100


@given(ANY, st.integers(3, 60), SIZES)
def test_a_cut_text_is_a_beginning_within_the_limit_and_says_so(text, limit, size):
    """A text that fits is left alone."""
    kept = cut(text, limit, size=size)
    assert size(kept) <= limit
    assert kept == text or (kept.endswith("…") and text.startswith(kept[:-1]))
    assert (kept == text) == (size(text) <= limit) or kept == text


@given(ANY, st.integers(8, 60), SIZES)
def test_pieces_are_the_text_within_the_limit(text, limit, size):
    """Only line ends between them may go."""
    pieces = split(text, limit, size=size)
    assert "".join(pieces).replace("\n", "") == text.replace("\n", "")
    assert all(size(piece) <= limit or len(list(clusters(piece))) == 1 for piece in pieces)


def test_a_limit_below_one_character_still_ends():
    """Each character is a piece of its own then."""
    assert split("指标", 1) == ["指", "标"]


@given(st.lists(st.integers(0, 9)), st.integers(1, 20), st.integers(0, 2))
def test_packed_pieces_keep_their_order_and_the_limit(pieces, limit, gap):
    """Gaps between them count; one that is too large is alone."""
    found = packed(pieces, limit, int, gap=gap)
    assert [piece for group in found for piece in group] == pieces
    for group in found:
        assert len(group) == 1 or sum(group) + gap * (len(group) - 1) <= limit


def test_a_block_stays_whole_where_it_fits():
    """A new message is begun for it."""
    messages = parts(["a" * 30, "b" * 30], 51, label="Ragnostic ")
    assert messages == [f"Ragnostic (1/2)\n\n{'a' * 30}", f"Ragnostic (2/2)\n\n{'b' * 30}"]


def test_half_a_pair_of_surrogates_is_measured():
    """It comes from JSON, and is no reason to fail."""
    assert utf8_bytes("\ud800") == 3
    assert utf16_units("\ud800") == 1
    assert json_bytes("\ud800") == 3
