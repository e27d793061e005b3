"""BM25: order, ties, languages."""

from __future__ import annotations

import pytest

from ragnostic.adapters.bm25 import Bm25Retriever
from ragnostic.adapters.tokeniser import tokeniser
from ragnostic.errors import UsageError
from ragnostic.ports import Resources


def bm25(chunks, progress=lambda *_: None, **options) -> Bm25Retriever:
    """The retriever over these chunks."""
    resources = Resources(chunks=chunks, progress=progress)
    return Bm25Retriever.build(Bm25Retriever.Options(**options), resources)


def test_only_chunks_that_share_a_term_are_hits_best_first(make_chunks):
    """A zero score is no hit; the document id and the time come along."""
    found = bm25(make_chunks(a="red fox", b="red fox and red fox", c="blue sea"))
    hits = found.retrieve("RED foxes!", 10)["retrieve"]
    assert hits.ids == ("b", "a")
    assert hits.scores is not None
    assert hits.scores[0] > hits.scores[1] > 0
    assert (hits.doc_ids, hits.top_k) == (("b.md", "a.md"), 10)
    assert hits.took_ms is not None


def test_the_score_is_lucenes(make_chunks):
    """The sum of idf · tf / (tf + k1·(1 − b + b·length/mean)), idf = ln(1 + (N − n + .5)/(n + .5)).

    Two chunks, one with the term, once, both of mean length: ln 2 / 2.2.
    """
    hits = bm25(make_chunks(a="fox den", b="hen egg")).retrieve("fox", 1)["retrieve"]
    assert hits.scores == pytest.approx((0.693147 / 2.2,), abs=1e-6)


def test_equal_scores_are_ordered_by_id_descending_also_at_the_cut(make_chunks):
    """METRICS 1.4: one tie order everywhere."""
    found = bm25(make_chunks(**dict.fromkeys(["b", "d", "a", "c"], "fox"), z="hen"))
    assert found.retrieve("fox", 9)["retrieve"].ids == ("d", "c", "b", "a")
    assert found.retrieve("fox", 2)["retrieve"].ids == ("d", "c")


@pytest.mark.parametrize("query", ["", "the of", "，。", "unknown"])
def test_a_query_without_a_known_term_has_no_hits(make_chunks, query):
    """Not an error: an empty ranking."""
    assert bm25(make_chunks(a="red fox")).retrieve(query, 5)["retrieve"].ids == ()


def test_chunks_without_any_word_can_be_indexed(make_chunks):
    """Nothing divides by zero."""
    assert bm25(make_chunks(a="", b="。。")).retrieve("fox", 5)["retrieve"].ids == ()


def test_progress_is_told_and_an_empty_corpus_is_refused(make_chunks):
    """A bar for the index; a hint for the missing corpus."""
    told = []
    bm25(make_chunks(a="x", b="y"), progress=lambda *step: told.append(step))
    assert told == [("index", 2, 2)]
    with pytest.raises(UsageError, match="needs a corpus"):
        bm25([])


def test_chinese_and_english_are_found_in_one_corpus_and_in_one_text(make_chunks):
    """Width and case do not matter; Chinese words are found inside longer ones."""
    chunks = make_chunks(zh="报销需要提交ＶＰＮ申请", en="How to reset my VPN tokens", x="无关")
    found = bm25(chunks)
    assert set(found.retrieve("vpn", 5)["retrieve"].ids) == {"zh", "en"}
    assert found.retrieve("怎么报销", 5)["retrieve"].ids == ("zh",)
    assert found.retrieve("resetting token", 5)["retrieve"].ids == ("en",)


def test_the_language_setting_narrows_what_is_done():
    """Setting zh leaves Latin words alone; en takes Han by character; numbers stay whole."""
    text = "The 规定 of １,０００.5 employees_x"
    assert tokeniser("auto")(text) == ["规定", "1,000.5", "employe", "x"]
    assert tokeniser("zh")(text) == ["the", "规定", "of", "1,000.5", "employees", "x"]
    assert tokeniser("en")(text) == ["规", "定", "1,000.5", "employe", "x"]
