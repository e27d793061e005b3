"""The index of a corpus against a plain search."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.judges import span_index
from ragnostic.judges.span_index import SpanIndex, encode

# Letters whose bytes overlap in GB18030 (a second byte may be a Latin letter), and 4-byte ones.
LETTERS = st.sampled_from([*"ab ,1", *"保修期丂亐", "é", "😀", "\U00020000"])
TEXTS = st.lists(st.text(LETTERS, max_size=30), min_size=1, max_size=6)


def brute(texts: list[str], pieces: list[str]) -> list[tuple[int, int]]:
    """(piece, chunk) by Python's own search."""
    return [
        (number, chunk)
        for number, piece in enumerate(pieces)
        for chunk, text in enumerate(texts)
        if piece and piece in text
    ]


@given(TEXTS, st.data())
def test_look_up_equals_a_search_of_every_text(texts: list[str], data: st.DataObject):
    """Pieces of any length are found in the texts that hold them, and in no others."""
    cut = st.sampled_from(texts).flatmap(
        lambda text: st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(
            lambda ends: text[min(ends) : max(ends)]
        )
    )
    pieces = data.draw(st.lists(st.one_of(cut, st.text(LETTERS, max_size=20)), max_size=8))
    found = SpanIndex.build(texts).holders(pieces)
    assert list(zip(*(part.tolist() for part in found), strict=True)) == brute(texts, pieces)


def test_many_places_are_compared_in_rounds(monkeypatch):
    """More places than are compared at once are found all the same."""
    monkeypatch.setattr(span_index, "_AT_ONCE", 3)
    texts = ["保修期一", "保修期二", "保修期三", "保修期四"]
    piece, chunk = SpanIndex.build(texts).holders(["保修期", "期三", "修"])
    assert piece.tolist() == [0, 0, 0, 0, 1, 2, 2, 2, 2]
    assert chunk.tolist() == [0, 1, 2, 3, 2, 0, 1, 2, 3]


def test_places_are_bytes_and_their_surroundings_are_text():
    """A place tells what stands before and behind it in its chunk only."""
    index = SpanIndex.build(["abc", "保修期为两年"])
    encoded = encode(["修期"])
    _, place = index.find(encoded, encoded.first, encoded.last)
    assert index.chunk_of(place).tolist() == [1]
    assert index.around(1, int(place[0]), 4) == ("保", "为两年")


def test_an_empty_corpus_holds_nothing():
    """Neither no chunks nor empty chunks hold a piece; no pieces are found anywhere."""
    for texts in ([], ["", ""]):
        assert SpanIndex.build(texts).holders(["a", "保修期为两年"])[0].tolist() == []
    assert SpanIndex.build(["a"]).holders([])[0].tolist() == []
    assert len(SpanIndex.build(["", "a"])) == 2


def test_lead_bytes_of_all_characters():
    """The bytes counted for each character are those of the codec."""
    text = "aé保😀\uffff\U0010ffff"
    encoded = encode([text])
    assert np.diff(encoded.lead).tolist() == [len(c.encode("gb18030")) for c in text + "\n"]
