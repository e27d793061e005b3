"""Terms and the chunks that hold them."""

from __future__ import annotations

from ragnostic.judges import terms as module
from ragnostic.judges.plain_text import plain
from ragnostic.judges.span_index import SpanIndex
from ragnostic.judges.terms import Terms

TEXTS = plain(["Acme 保修 24 个月", "Acme 保修", "保修 24 个月", "24 个月"])


def loaded() -> Terms:
    """Terms of the little corpus."""
    found = Terms(SpanIndex.build(TEXTS))
    found.load([" acme ", "保修", " 24 个月", " 5 天"])
    return found


def test_chunks_with_all_terms():
    """Only the chunks that hold every term; a term that is nowhere leaves none."""
    terms = loaded()
    assert terms.all_of([" acme ", "保修"]).tolist() == [0, 1]
    assert terms.all_of([" 24 个月", "保修", " acme "]).tolist() == [0]
    assert terms.all_of([" 5 天", "保修"]).tolist() == []
    assert terms.all_of(["保修"]).tolist() == [0, 1, 2]
    assert terms.count("保修") == 3


def test_terms_are_remembered_until_they_are_too_many(monkeypatch):
    """A term is looked up once; the memory is emptied when it is full, before the next load."""
    terms = loaded()
    before = terms["保修"]
    terms.load(["保修"])
    assert terms["保修"] is before
    monkeypatch.setattr(module, "_KEPT", 1)
    terms.load(["保修"])
    assert terms["保修"] is not before
    assert set(terms.known) == {"保修"}
