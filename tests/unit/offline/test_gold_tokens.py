"""Tokens of a chunk that lie inside gold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.metrics import Metric
from ragnostic.offline.gold_tokens import covered, gold_tokens
from ragnostic.offline.inputs import Corpus, Inputs
from ragnostic.records import Chunk, Document, EvalQuery, GoldSpan

_TEXT = "一二三四五六七八九十"
_SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted).map(tuple))


@given(_SPANS, st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted).map(tuple))
def test_covered_parts_are_the_places_that_some_span_holds(spans, within):
    """Against sets of places; parts are in order and do not touch twice."""
    parts = list(covered(spans, within))
    places = [place for start, end in parts for place in range(start, end)]
    wanted = {place for start, end in spans for place in range(start, end)}
    assert places == sorted(wanted & set(range(*within)))


def test_tokens_are_counted_over_spans_and_quotes_of_the_chunks_document():
    """Chunks that are gold as a whole have no entry."""
    chunks = (
        Chunk("c1", "d", 0, 5, 5, _TEXT[:5]),
        Chunk("c2", "d", 5, 10, 5, _TEXT[5:]),
        Chunk("c3", "e", 0, 1, 1, "x"),
    )
    corpus = Corpus("docs", (Document("d", _TEXT), Document("e", "x")), chunks)
    gold = (
        (GoldSpan(doc_id="d", start=3, end=7), GoldSpan(doc_id="d", quote="八九")),
        (GoldSpan(doc_id="e"), GoldSpan(id="c3"), GoldSpan(doc_id="d", quote="no such")),
    )
    inputs = Inputs("x", (EvalQuery("q", "?", gold),), corpus, ())
    judged = [{"ids": ["c1", "c2", "c3", None]}]
    tokens = gold_tokens(inputs, judged, [Metric.parse("TokenPrecision")])
    assert tokens == {("q", "c1"): 2, ("q", "c2"): 4}
    assert gold_tokens(inputs, judged, [Metric.parse("RR@5")]) == {}
    assert gold_tokens(Inputs("x", (), None, ()), [], [Metric.parse("TokenPrecision")]) == {}
