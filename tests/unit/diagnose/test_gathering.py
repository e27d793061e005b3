"""Evidence: each fact from its source, and None where the source is not at hand."""

from __future__ import annotations

from ragnostic.diagnose.causes import first_cause
from ragnostic.diagnose.exact import Rank
from ragnostic.diagnose.gathering import Again, Known, Stages, cut_by_reranker, gather
from ragnostic.diagnose.gold_places import Place
from ragnostic.diagnose.misses import Asked, Found, Item
from ragnostic.records import Chunk

CHUNKS = {
    name: Chunk(name, "d", 0, len(text), 4, text)
    for name, text in {"a": "the VPN needs a token", "b": "leave is 20 days"}.items()
}


class TableSearch:
    """Ranks from a table: (query, chunk id) → rank."""

    def __init__(self, table):
        self.table = table

    def __call__(self, searched):
        """As Known.search makes one."""
        self.ids = [chunk.id for chunk in searched.all]
        return self

    def ranks(self, queries, wanted, progress):
        """The best rank of those wanted; None where nothing is wanted."""
        del progress
        return [
            min((Rank(self.table.get((q, self.ids[p]), 99), 0.5) for p in one), key=rank_of)
            if one
            else None
            for q, one in zip(queries, wanted, strict=True)
        ]


def rank_of(one):
    """For sorting."""
    return one.rank


def item(ids=("a",), ranks=(None,), **more):
    """A missed item."""
    return Item("q", 0, ids, 1.0, ranks, weight=1.0, missed=True, **more)


def evidence(one, known, *, stages=None, sent=("vpn",), answer=None):
    """Of one item."""
    asked = {"q": Asked("q", "vpn", sent, {}, answer)}
    names = tuple(f"s{n}" for n in range(len(one.ranks)))
    found = Found(names, 5, asked, (one,))
    (seen,) = gather(found, stages or Stages(20, reranked=False), known).values()
    return seen


def test_without_a_corpus_nothing_is_known_of_it():
    """And no cause that needs it is given."""
    seen = evidence(item(), Known())
    assert (seen.in_corpus, seen.indexed, seen.exact) == (None, None, None)
    assert first_cause(seen) == "unexplained"


def test_exact_ranks_by_the_users_words_and_by_what_was_sent():
    """The best of several texts that were sent counts."""
    search = TableSearch({("vpn", "a"): 3, ("x", "a"): 40, ("y", "a"): 30})
    seen = evidence(item(), Known(chunks=CHUNKS, search=search), sent=("x", "y"))
    assert (seen.exact, seen.sent_exact) == (3, 30)
    assert first_cause(seen) == "rewriting"


def test_what_is_retrieved_needs_no_exact_search():
    """Its rank says enough."""
    search = TableSearch({("vpn", "a"): 3})
    seen = evidence(item(ranks=(9,)), Known(chunks=CHUNKS, search=search))
    assert (seen.exact, seen.retrieved, seen.final) == (None, 9, 9)


def test_an_index_that_holds_another_text_is_stale():
    """White space and case do not make a text another."""
    for held, same in ((" The vpn needs a TOKEN", True), ("an older text", False), (None, None)):
        seen = evidence(item(), Known(chunks=CHUNKS, index={"a": held}))
        assert (seen.indexed, seen.same_text) == (True, same)
    assert evidence(item(), Known(chunks=CHUNKS, index={"b": None})).indexed is False


def test_a_cut_span_is_ranked_as_if_it_were_whole():
    """By a passage that is no competition to the chunks."""
    uncut = Chunk("uncut", "d", 0, 9, 4, "both halves")
    place = Place(in_corpus=True, halves=("both", "halves"), uncut=uncut)
    search = TableSearch({("vpn", "a"): 50, ("vpn", "uncut"): 2})
    seen = evidence(item(), Known(chunks=CHUNKS, place_of=lambda _: place, search=search))
    assert (seen.exact, seen.uncut, seen.halves) == (50, 2, ("both", "halves"))
    assert first_cause(seen) == "cut_by_chunker"


def test_an_answer_beyond_what_the_reranker_reads():
    """Only where the chunk was cut, and the answer's end lies behind the limit."""

    def beyond(answer, cut, limit=3):
        stages = Stages(
            20, reranked=True, limit=limit, count=lambda text: len(text.split()), cut_off=cut
        )
        one = item(ranks=(2, 9))
        return evidence(one, Known(chunks=CHUNKS), stages=stages, answer=answer).beyond_limit

    cut = {"q": frozenset({"a"})}
    assert beyond("a token", cut) is True
    assert beyond("the VPN", cut) is False
    assert beyond("not there", cut) is None
    assert beyond("a token", cut, limit=None) is None
    assert beyond("a token", {}) is False


def test_where_a_span_is_given_its_end_counts():
    """Not the answer's text."""
    place = Place(in_corpus=True, document="d", span=(0, 7))
    stages = Stages(
        20, reranked=True, limit=3, count=lambda t: len(t.split()), cut_off={"q": frozenset("a")}
    )
    known = Known(chunks=CHUNKS, place_of=lambda _: place)
    seen = evidence(item(ranks=(2, 9)), known, stages=stages, answer="a token")
    assert seen.beyond_limit is False


def test_one_chunk_that_was_read_whole_is_enough():
    """Then the answer was not cut off."""
    stages = Stages(20, reranked=True, limit=1, cut_off={"q": frozenset("a")})
    seen = evidence(item(("a", "b"), (2, 9)), Known(chunks=CHUNKS), stages=stages)
    assert seen.beyond_limit is False


def test_likeness_is_that_of_the_chunk_that_is_most_alike():
    """Shared words of the query."""
    seen = evidence(item(("b", "a")), Known(chunks=CHUNKS))
    assert (seen.overlap, seen.hints) == (1.0, ())


def test_marks_of_the_reranker_by_record():
    """Records without cut texts have none."""
    rows = [
        {"record_id": "q", "rerank": {"ids": ["a", "b"], "truncated": [True, False]}},
        {"record_id": "r", "rerank": {"ids": ["a"], "truncated": None}},
        {"record_id": "s", "rerank": None},
    ]
    assert cut_by_reranker(iter(rows), "rerank") == {"q": frozenset({"a"})}


def test_the_index_is_asked_again_for_what_only_it_can_have_lost():
    """With every text that was sent; not where something else explains the miss."""
    asked = []

    def again(texts, depth, progress):
        del progress
        asked.append((tuple(texts), depth))
        return [Again(frozenset({"b"}), frozenset({"a", "b"})) for _ in texts]

    near = TableSearch({("vpn", "a"): 3})
    seen = evidence(item(), Known(chunks=CHUNKS, search=near, again=again))
    assert (seen.by_index, seen.by_effort) == (False, True)
    assert asked == [(("vpn",), 20)]
    far = TableSearch({("vpn", "a"): 40})
    assert evidence(item(), Known(chunks=CHUNKS, search=far, again=again)).by_index is None
    exact = Known(chunks=CHUNKS, search=near, again=again, approximate=False)
    assert evidence(item(), exact).by_index is None


def test_an_index_without_an_effort_says_nothing_of_a_larger_one():
    """That is not known, not false."""
    search = TableSearch({("vpn", "a"): 3})
    known = Known(chunks=CHUNKS, search=search, again=lambda *_: [Again(frozenset({"a"}), None)])
    seen = evidence(item(), known)
    assert (seen.by_index, seen.by_effort) == (True, None)
    assert first_cause(seen) == "fusion"


def test_a_vector_of_another_text_is_stale_where_no_other_chunk_is_fresh():
    """One that was not looked at says nothing."""
    both, index = item(ids=("a", "b")), {"a": None, "b": None}
    for fresh, said in (({"a": False}, False), ({"a": False, "b": True}, True), ({}, None)):
        seen = evidence(both, Known(chunks=CHUNKS, index=index, fresh=fresh))
        assert seen.same_vector is said
        assert (first_cause(seen) == "not_indexed") == (said is False)
