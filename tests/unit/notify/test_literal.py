"""Texts of others stay texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.notify.literal import link_url, literal, one_line, unlinked, whole_line

MARKUP = set("<>[]`*_~|\\!&{}#")
ANY = st.text(st.one_of(st.characters(), st.sampled_from("<>@[]()`*_~|!&#:/.\u202e\n wevil13")))


@given(ANY)
def test_no_mark_of_markup_is_left(text):
    """Nor anything invisible; making it literal twice changes nothing more."""
    kept = literal(text)
    assert not MARKUP & set(kept)
    assert all(mark.isprintable() or mark in "\u200c\u200d" for mark in kept)
    assert literal(kept) == kept
    assert "://" not in kept


@given(ANY)
def test_no_address_or_mention_is_left_in_plain_text(text):
    """What a client finds without markup."""
    kept = unlinked(text)
    assert "://" not in kept
    assert not re.search(r"[A-Za-z0-9]\.[A-Za-z]{2}", kept)
    assert not re.search(r"@(?!\d{1,4}\b)", kept)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("RBO(p=0.9)@10 is 0.95", "RBO(p=0.9)@10 is 0.95"),
        ("MRR@5.", "MRR@5."),
        ("@13800001111", "＠13800001111"),
        ("a@evil.example", "a＠evil．example"),
        ("mailto:a@b.cd", "mailto：a＠b．cd"),
        ("www.evil.example", "www．evil．example"),
        ("退款要几天？", "退款要几天？"),
        ("13:00", "13:00"),
        ("", ""),
    ],
)
def test_what_reads_like_an_address_is_broken_and_nothing_else(text, kept):
    """Numbers, times and cutoffs stay as they are."""
    assert literal(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [("- x", "－ x"), ("+ x", "＋ x"), ("12. x", "12． x"), ("=== x", "＝== x"), ("−0.1", "−0.1")],
)
def test_a_line_begins_no_list(text, kept):
    """Nor a rule or a heading underlined."""
    assert whole_line(text) == kept


@given(ANY)
def test_one_line_is_one_line(text):
    """Without ends of lines, tabs, or blanks at its ends."""
    assert "\n" not in one_line(text)
    assert one_line(text) == one_line(text).strip()


@given(st.text().map("https://wiki.example/{}".format))
def test_an_address_ends_no_markup_early(url):
    """None of the marks that end it is left."""
    assert not set('()<>|[] "\n`') & set(link_url(url))


@pytest.mark.parametrize(
    "url",
    ["", "docs/mrr.md", "ftp://a.example", "https://", "http://[::1]/", "https://[x", "data:,"],
)
def test_what_is_no_address_is_none(url):
    """It is told as a text then."""
    assert link_url(url) == ""
