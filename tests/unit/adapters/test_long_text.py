"""Long candidates: nothing is lost, nothing is too long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.adapters.long_text import pieces, segments, truncate
from ragnostic.text import count_tokens

TEXT = st.text(alphabet="ab 。.!\n年假？1 x", max_size=300)


@given(TEXT, st.integers(1, 40))
def test_segments_hold_everything_but_white_space_and_none_is_too_long(text, limit):
    """Each token of ours is at most four characters, so a limit of one can always be met."""
    found = segments(text, limit, count_tokens)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(count_tokens(segment) <= limit for segment in found)


@given(TEXT, st.integers(1, 40))
def test_truncation_keeps_the_longest_beginning_that_fits(text, limit):
    """One more character would be too many tokens, unless the text ends there."""
    found = truncate(text + "x", limit, count_tokens)
    assert (text + "x").startswith(found)
    assert count_tokens(found) <= limit
    if found != text + "x":
        assert count_tokens((text + "x")[: len(found) + 1]) > limit


def test_segments_end_at_sentence_ends_where_they_can():
    """Two short sentences share a segment, a long one is cut."""
    text = "一二三。四五。六七八九十甲乙丙丁戊。己。"
    assert segments(text, 8, count_tokens) == [
        "一二三。四五。",
        "六七八九十甲乙丙",
        "丁戊。",
        "己。",
    ]


def test_a_long_text_of_white_space_still_gives_one_piece():
    """A counter that counts spaces finds it too long; there is no sentence in it."""
    found = pieces(" " * 50, 20, "max_over_segments", len)
    assert (found.texts, found.truncated) == ((" " * 20,), False)


def test_only_truncation_marks_a_candidate_as_truncated():
    """Segments lose nothing."""
    text = "One two. " * 30
    assert pieces(text, 20, "truncate", count_tokens).truncated
    assert not pieces(text, 20, "max_over_segments", count_tokens).truncated
    assert pieces("short", 20, "truncate", count_tokens).texts == ("short",)


def test_the_work_grows_with_the_text_and_not_with_its_square():
    """What is counted in all stays a small multiple of the text."""
    counted = 0

    def counting(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return count_tokens(text)

    text = "This is a sentence of some words. " * 3000
    segments(text, 512, counting)
    assert counted < 20 * len(text)
