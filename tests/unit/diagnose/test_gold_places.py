"""Where gold is: whole in a chunk, cut, elsewhere in the corpus, or nowhere."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.diagnose.gold_places import GoldPlaces
from ragnostic.judges.gold_items import GoldItem
from ragnostic.judges.gold_resolving import Resolved
from ragnostic.records import Chunk, Document, GoldSpan

TEXT = "Annual leave is 20 days. It lapses at the end of March. Ask the desk."
BORDERS = (0, 16, 40, len(TEXT))
CHUNKS = [
    Chunk(f"c{n}", "d", start, end, 5, TEXT[start:end])
    for n, (start, end) in enumerate(pairwise(BORDERS))
]
PLACES = GoldPlaces([Document("d", TEXT), Document("e", "Ｐlain  Text")], CHUNKS)


def test_a_span_inside_a_chunk_is_whole():
    """Also where only white space is cut off."""
    assert PLACES.of_span(GoldSpan(doc_id="d", quote="Annual leave")).halves == ()
    assert PLACES.of_span(GoldSpan(doc_id="d", start=0, end=16)).halves == ()


def test_a_span_over_a_border_is_shown_with_its_pieces():
    """And with the chunk that would hold it."""
    place = PLACES.of_span(GoldSpan(doc_id="d", quote="leave is 20 days. It lapses at the"))
    assert place.halves == ("leave is ", "20 days. It lapses at th", "e")[: len(place.halves)]
    assert "".join(place.halves) == "leave is 20 days. It lapses at the"
    assert place.uncut.text == TEXT[: len(TEXT)][place.uncut.start : place.uncut.end]
    assert "leave is 20 days. It lapses at the" in place.uncut.text


@pytest.mark.parametrize(
    ("span", "there"),
    [
        (GoldSpan(id="c1"), True),
        (GoldSpan(id="d"), True),
        (GoldSpan(doc_id="d"), True),
        (GoldSpan(id="gone"), False),
        (GoldSpan(doc_id="d", quote="30 days"), False),
        (GoldSpan(doc_id="gone", start=0, end=3), False),
    ],
)
def test_what_is_nowhere_is_not_in_the_corpus(span, there):
    """Ids are looked up, quotes searched for."""
    assert PLACES.of_span(span).in_corpus is there


@pytest.mark.parametrize(
    ("span", "where"),
    [
        (GoldSpan(doc_id="gone", quote="ask the DESK"), "d"),
        (GoldSpan(doc_id="d", quote="plain text"), "e"),
        (GoldSpan(doc_id="d", quote="30 days"), None),
    ],
)
def test_a_text_that_stands_elsewhere_is_named(span, where):
    """Case, width and white space aside: the gold names a document that has it no more."""
    place = PLACES.of_span(span)
    assert (place.in_corpus, place.elsewhere) == (False, where)


def test_of_alternatives_a_whole_one_counts():
    """Then one that is cut, then none."""
    cut = GoldSpan(doc_id="d", quote="leave is 20")
    whole, gone = GoldSpan(doc_id="d", quote="Ask the desk"), GoldSpan(id="gone")

    def place(*spans):
        return PLACES.of(Resolved(GoldItem(spans, 1.0, {}), ()))

    assert place(gone, cut, whole).halves == ()
    assert place(gone, cut).halves
    assert not place(gone).in_corpus


@given(st.integers(0, len(TEXT) - 1), st.integers(1, len(TEXT)))
def test_pieces_make_up_the_span(start, length):
    """Whatever the span: its pieces in order are the span, or a chunk holds it."""
    end = min(start + length, len(TEXT))
    place = PLACES.of_span(GoldSpan(doc_id="d", start=start, end=end))
    span = TEXT[start:end].strip() or TEXT[start:end]
    if place.halves:
        assert "".join(place.halves) == span
        assert len(place.halves) > 1
    else:
        assert any(span in chunk.text for chunk in CHUNKS)
