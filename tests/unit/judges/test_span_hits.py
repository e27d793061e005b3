"""Chunks that hold spans, and boilerplate."""

from __future__ import annotations

from ragnostic.judges.plain_text import plain
from ragnostic.judges.span_hits import span_hits
from ragnostic.judges.span_index import SpanIndex

SENTENCE = "员工每年享有15天带薪年休假并可以分次休完"
NEAR = "员工每年享受15天带薪年休假并可以分次休完"
SETTINGS = {"edits": 2, "min_edited": 20, "most": 20}


def hits(spans: list[str], texts: list[str], **settings: int) -> list:
    """Hits of spans and texts as they are written."""
    return span_hits(SpanIndex.build(plain(texts)), plain(spans), **{**SETTINGS, **settings})


def test_exact_and_edited_chunks_come_with_their_edits():
    """A span has all its chunks, those that hold it with edits too."""
    assert hits([SENTENCE], [NEAR, "无关", f"规定：{SENTENCE}。"]) == [((0, 1), (2, 0))]


def test_short_spans_have_no_edits():
    """Below the least length only the exact words count."""
    assert hits([SENTENCE], [NEAR], min_edited=30) == [()]
    assert hits([SENTENCE], [NEAR], edits=0) == [()]


def test_a_span_of_too_many_chunks_is_boilerplate():
    """What more chunks hold than the limit, exactly or with edits, says nothing."""
    assert hits(["请联系客服人员"], ["请联系客服人员"] * 3, most=2) == [None]
    assert hits(["请联系客服人员"], ["请联系客服人员"] * 3, most=3) == [((0, 0), (1, 0), (2, 0))]
    assert hits([SENTENCE], [SENTENCE, NEAR, NEAR], most=2) == [None]


def test_no_spans_and_no_chunks():
    """Nothing is held by nothing."""
    assert hits([], ["文字"]) == []
    assert hits(["保修期为两年"], []) == [()]
