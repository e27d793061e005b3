"""Where spans stand."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.span_places import SpanPlaces

SPANS = st.tuples(st.integers(1, 4), st.integers(1, 4))


@given(st.lists(SPANS))
def test_each_span_has_its_first_place(spans):
    """Whatever comes again, and whatever shares a trace or a span id."""
    places = SpanPlaces([Path("a.jsonl"), Path("b.jsonl")])
    first = {}
    for line, (trace, span) in enumerate(spans, 1):
        ids = f"{trace:032x}", f"{span:016x}"
        places.add(*ids, file=line % 2, line=line, offset=10 * line)
        first.setdefault(ids, ("ab"[line % 2] + ".jsonl", line, 10 * line, ids[0]))
    assert {ids: tuple(places.of(*ids)) for ids in first} == first
    assert places.of("f" * 32, "f" * 16) is None
