"""Secrets: found, required, never shown."""

from __future__ import annotations

import pytest

from ragnostic.adapters.environment import excerpt, expand, redact
from ragnostic.errors import UsageError


def test_both_forms_are_filled_and_white_space_around_a_value_is_taken_off():
    """``${NAME}`` inside a text, ``env:NAME`` as the whole text."""
    found = expand({"a": "Bearer ${K}", "b": "env:K", "c": "plain"}, {"K": "s3cret\n"}, "header")
    assert found.values == {"a": "Bearer s3cret", "b": "s3cret", "c": "plain"}
    assert found.secrets == ("s3cret",)


def test_all_missing_variables_are_named_at_once():
    """An empty variable counts as missing; each name comes once."""
    with pytest.raises(UsageError, match="variables ONE, TWO") as caught:
        expand({"a": "${ONE}${TWO}", "b": "env:ONE"}, {"TWO": " "}, "a header")
    assert "export ONE" in caught.value.hint


def test_a_value_that_no_header_may_hold_is_refused_without_showing_it():
    """Line breaks inside and non-ASCII characters would break or leak in the library's error."""
    with pytest.raises(UsageError, match="a header X") as caught:
        expand({"X": "env:K"}, {"K": "se\ncret"}, "a header")
    assert "cret" not in str(caught.value)


def test_short_secrets_are_not_redacted_since_they_would_blacken_everything():
    """A secret of three characters is no secret."""
    assert redact("abc", ["abc"]) == "abc"


def test_an_excerpt_is_one_short_printable_line():
    """Terminal escapes and megabytes do not reach the terminal."""
    assert excerpt("x" * 500) == "x" * 200 + "…"
    assert "\x1b" not in excerpt("\x1b[31mred\u202e")
