"""Text from data is shown, whatever it holds."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.report.visible import excerpt, visible


@given(st.text(st.characters(codec=None)))
def test_nothing_invisible_or_turning_is_left(text):
    """After showing, no control, override, surrogate or separator character remains."""
    kept = set("\u200c\u200d\u00ad")
    for character in visible(text):
        assert unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}
        assert unicodedata.category(character) != "Cf" or character in kept
    visible(text).encode()


def test_line_ends_stay_only_where_asked():
    """A full text keeps its lines, an excerpt does not."""
    assert visible("a\r\nb\tc", newlines=True) == "a\nb\tc"
    assert visible("a\r\nb\tc") == "a  b c"


def test_non_characters_are_shown_by_code():
    """U+FFFE has no place in HTML and is written out."""
    assert visible("x\ufffe\U0001ffff") == "x⟨U+FFFE⟩⟨U+1FFFF⟩"


@given(st.text(), st.integers(1, 50))
def test_an_excerpt_is_one_short_line(text, limit):
    """At most the limit and an ellipsis, and no line end."""
    shown = excerpt(text, limit)
    assert len(shown) <= limit + 1
    assert len(shown.splitlines()) <= 1


def test_a_text_of_white_space_gives_an_ellipsis_only_when_cut():
    """White space folds away; what was cut is announced."""
    assert excerpt("   ", 10) == ""
    assert excerpt(" " * 100, 10) == "…"
