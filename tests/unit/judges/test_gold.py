"""The judge ``gold``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.chunkers import FixedChunker, RecursiveChunker
from ragnostic.judges.gold import GoldJudge
from ragnostic.records import Chunk, Document, EvalQuery, GoldSpan, Hits

#        0         1         2
#        0123456789012345678901234
TEXT = "aaaaaaaaaabbbbbbbbbbcccc"
CORPUS = [
    Chunk("c1", "D1", 0, 10, 3, TEXT[0:10]),
    Chunk("c2", "D1", 10, 20, 3, TEXT[10:20]),
    Chunk("c3", "D1", 20, 24, 1, TEXT[20:24]),
    Chunk("e1", "D2", 0, 3, 1, "one"),
    Chunk("D3", "D3", 0, 5, 1, "three"),
]


def query(*gold, query_id="q1", **fields):
    """A query with this gold; an item is a span or a tuple of alternatives."""
    items = tuple(item if isinstance(item, tuple) else (item,) for item in gold)
    return EvalQuery(query_id, "?", items, **fields)


def judged(asked, stages=None, chunks=CORPUS, documents=None, **settings):
    """(id, grade, item, facet) of each entry, and the judge."""
    judge = GoldJudge.build([asked], chunks, documents, **settings)
    lists = judge.judge(asked, stages or {})
    assert len({len(values) for values in lists.values()}) == 1
    rows = zip(lists["ids"], lists["grades"], lists["items"], lists["facets"], strict=True)
    return list(rows), judge


def found(asked, **settings):
    """Ids of each item, in order, and the kinds of the faults."""
    rows, judge = judged(asked, **settings)
    items = {}
    for identity, _, item, facet in rows:
        if facet is None:
            items.setdefault(item, []).append(identity)
    return list(items.values()), [fault.kind for fault in judge.faults]


def test_chunk_gold_keeps_id_grade_and_weight():
    """Each id is an item; grade 0 stays judged with weight 0."""
    asked = query(GoldSpan(id="c1", grade=3), GoldSpan(id="c2", grade=0))
    judge = GoldJudge.build([asked], CORPUS)
    assert judge.judge(asked, {}) == {
        "ids": ["c1", "c2"],
        "grades": [3.0, 0.0],
        "weights": [1.0, 0.0],
        "items": [0, 1],
        "facets": [None, None],
    }
    assert (judge.name, judge.faults, judge.dangling) == ("gold", [], frozenset())


def test_a_document_gold_is_one_item_of_all_its_chunks():
    """Named by doc_id, or by an id that only a document has; a chunk's id comes first."""
    all_chunks = ["c1", "c2", "c3"]
    gold = (GoldSpan(id="D1"), GoldSpan(doc_id="D1", grade=2), GoldSpan(id="D3"))
    assert found(query(*gold)) == ([all_chunks, all_chunks, ["D3"]], [])


@pytest.mark.parametrize(
    ("start", "end", "ids"),
    [
        (2, 6, ["c1"]),
        (8, 12, ["c1", "c2"]),
        (8, 13, ["c2"]),
        (0, 24, [None]),
        (0, 20, ["c1", "c2"]),
        (20, 24, ["c3"]),
    ],
)
def test_a_span_is_matched_by_chunks_that_cover_half_of_it(start, end, ids):
    """Half-open code points; exactly half is enough; none gives one null entry."""
    items, kinds = found(query(GoldSpan(doc_id="D1", start=start, end=end)))
    assert items == [ids]
    assert kinds == (["span_not_covered"] if ids == [None] else [])


def test_the_overlap_is_a_setting():
    """A share of 1 wants the whole span in one chunk."""
    gold = GoldSpan(doc_id="D1", start=8, end=13)
    assert found(query(gold), overlap=1.0)[0] == [[None]]
    assert found(query(gold), overlap=0.4)[0] == [["c1", "c2"]]


@given(st.integers(1, 40), st.integers(0, 90), st.integers(1, 30), st.floats(0.05, 1))
def test_covering_chunks_are_exactly_those_of_the_definition(size, start, length, overlap):
    """Against |chunk ∩ span| / |span| ≥ overlap, chunk by chunk."""
    text = "word 年假 sentence. " * 8
    end = min(start + length, len(text))
    document = Document("D", text)
    chunks = FixedChunker(size, size // 2).chunk(document)
    expected = [
        chunk.id
        for chunk in chunks
        if len(set(range(chunk.start, chunk.end)) & set(range(start, end))) / (end - start)
        >= overlap - 1e-12
    ]
    asked = query(GoldSpan(doc_id="D", start=start, end=end))
    assert found(asked, chunks=chunks, overlap=overlap)[0] == [expected or [None]]


def test_a_quote_is_found_exactly_or_with_other_white_space():
    """In the documents, or in the text put together from the chunks."""
    document = Document("d", "Leave.\r\n\r\nFive  days\n a year. Five days?\n年假 五天。")
    chunks = RecursiveChunker(6, 0).chunk(document)
    for documents in ([document], None):
        for quote in ("Five days a year.", "Five days?", "年假\n五天。"):
            items, kinds = found(
                query(GoldSpan(doc_id="d", quote=quote)),
                chunks=chunks,
                documents=documents,
                overlap=0.1,
            )
            texts = " ".join(chunk.text for chunk in chunks if chunk.id in items[0])
            assert " ".join(quote.split()) in " ".join(texts.split())
            assert kinds == []


def test_a_quote_found_twice_takes_its_first_place():
    """With a fault that names query and document."""
    asked = query(GoldSpan(doc_id="D1", quote="b"), query_id="q7")
    items, kinds = found(asked)
    assert (items, kinds) == ([["c2"]], ["quote_repeated"])
    folded = query(GoldSpan(doc_id="d", quote="a b"))
    items, kinds = found(folded, chunks=[Chunk("x", "d", 0, 8, 4, "a  b a\nb")])
    assert (items, kinds) == ([["x"]], ["quote_repeated"])


def test_a_quote_that_is_not_there_keeps_a_null_entry():
    """R counts it; one fault a quote names its queries."""
    gold = GoldSpan(doc_id="D1", quote="zzz " * 30)
    queries = [query(gold, query_id=f"q{n}") for n in range(5)]
    judge = GoldJudge.build(queries, CORPUS)
    assert judge.judge(queries[0], {})["ids"] == [None]
    (fault,) = judge.faults
    assert (fault.kind, fault.count, fault.ids[0]) == ("quote_not_found", 5, "q0")
    assert "queries q0, q1, q2 and 2 more" in str(fault)


def test_a_quote_that_moved_is_found_where_it_stands_now():
    """Start and end are believed only if the quote is there."""
    right = GoldSpan(doc_id="D1", start=10, end=20, quote="b" * 10)
    moved = GoldSpan(doc_id="D1", start=0, end=10, quote="b" * 10)
    assert found(query(right)) == ([["c2"]], [])
    assert found(query(moved)) == ([["c2"]], ["span_moved"])


def test_a_span_beyond_its_document_is_named():
    """It is compared as it is given."""
    asked = query(GoldSpan(doc_id="D1", start=20, end=28))
    assert found(asked) == ([["c3"]], ["span_outside"])


def test_a_group_is_one_item_and_carries_its_highest_grade():
    """Alternatives share item and grade; a missing alternative does no harm."""
    group = (
        GoldSpan(id="c1", grade=1),
        GoldSpan(id="e1", grade=3),
        GoldSpan(doc_id="D1", quote="nowhere"),
    )
    rows, _ = judged(query(group, GoldSpan(id="c3")))
    assert rows == [("c1", 3, 0, None), ("e1", 3, 0, None), ("c3", 1, 1, None)]


def test_facets_add_entries_with_their_own_grade():
    """Overall entries have no facet."""
    gold = GoldSpan(id="c1", grade=2, facets={"basis": 3.0, "procedure": 0.0})
    rows, _ = judged(query(gold))
    assert rows == [("c1", 2, 0, None), ("c1", 3, 0, "basis"), ("c1", 0, 0, "procedure")]


def test_gold_given_twice_counts_once_with_its_highest_grade():
    """As items, in a group, or as the same group in another order; each is named."""
    first, again = GoldSpan(id="A", grade=1), GoldSpan(id="A", grade=2, facets={"f": 1.0})
    other = GoldSpan(id="B")
    rows, judge = judged(query(first, again, other), chunks=None)
    assert rows == [("A", 2, 0, None), ("A", 1, 0, "f"), ("B", 1, 1, None)]
    assert [(fault.kind, fault.ids) for fault in judge.faults] == [("duplicate_gold", ("q1", "A"))]
    assert "q1" in str(judge.faults[0])
    assert "'A'" in str(judge.faults[0])
    items, kinds = found(query((first, other), (other, first), (other, other)), chunks=None)
    assert (items, kinds) == ([["A", "B"], ["B"]], ["duplicate_gold"] * 2)


def test_gold_without_an_id_and_negative_grades_from_python():
    """Queries need not come from a file."""
    asked = query(GoldSpan(), (GoldSpan(id=""),), GoldSpan(id="c1", grade=-1))
    rows, judge = judged(asked)
    assert rows == [("c1", 0, 0, None)]
    assert [fault.kind for fault in judge.faults] == ["null_gold_id"] * 2


def test_dangling_gold_stays_in_r_and_is_listed():
    """Ids of chunks and of documents, with the share of queries."""
    queries = [
        query(GoldSpan(id="c1"), GoldSpan(id="old-1"), query_id="q1"),
        query(GoldSpan(doc_id="gone.md", quote="x"), query_id="q2"),
        query(GoldSpan(id="c2"), query_id="q3"),
        query(query_id="q4"),
    ]
    judge = GoldJudge.build(queries, CORPUS)
    assert judge.dangling == {"old-1", "gone.md"}
    assert judge.judge(queries[0], {})["ids"] == ["c1", "old-1"]
    assert judge.judge(queries[1], {})["ids"] == ["gone.md"]
    (fault,) = judge.faults
    assert (fault.kind, fault.count) == ("dangling_gold", 2)
    assert "2 gold ids are not in the corpus, in 2 of 3 queries (66.7%)" in fault.message
    for word in ("old-1 (query q1)", "gone.md (query q2)"):
        assert word in fault.message


def test_at_most_twenty_dangling_ids_are_named():
    """The count says how many there are."""
    asked = query(*(GoldSpan(id=f"x{n}") for n in range(30)))
    _, judge = judged(asked)
    (fault,) = judge.faults
    assert fault.count == 30
    assert fault.message.count("(query q1)") == 20
    assert fault.message.endswith(", …")


def test_near_matches_in_the_corpus_are_listed_and_not_matched():
    """Beside the dangling id."""
    items, kinds = found(query(GoldSpan(id="c1 ")))
    assert (items, kinds) == ([["c1 "]], ["dangling_gold", "near_match"])


def test_an_unanswerable_query_has_no_judgments():
    """Gold that it carries is a contradiction, and named."""
    asked = query(GoldSpan(id="c1"), answerable=False)
    assert found(asked) == ([], ["unanswerable_with_gold"])
    assert found(query(answerable=False)) == ([], [])


def test_a_query_without_gold_has_empty_lists_and_an_unknown_one_none():
    """Unscored is not unjudged."""
    asked = query()
    judge = GoldJudge.build([asked], CORPUS)
    assert judge.judge(asked, {})["ids"] == []
    assert judge.judge(query(query_id="other"), {}) is None


HITS = {
    "retrieve": Hits(
        ids=("s1", None, "s2", "s3", "D9"),
        doc_ids=("D1", "D1", "D2", None, None),
        texts=("He gets Five\nDAYS of", None, "leave a year.", None, "whole"),
    ),
    "rerank": Hits(ids=("s3", "s1", "s4"), doc_ids=("D4", "D1", "D2")),
    "bare": Hits(ids=("s5", "")),
}


@pytest.mark.parametrize(
    ("gold", "ids"),
    [
        (GoldSpan(id="s5"), ["s5"]),
        (GoldSpan(id="never"), ["never"]),
        (GoldSpan(id="D2"), ["s2", "s4"]),
        (GoldSpan(doc_id="D4"), ["s3"]),
        (GoldSpan(doc_id="D9", quote="anything"), ["D9"]),
        (GoldSpan(doc_id="D1", quote="five days"), ["s1"]),
        (GoldSpan(doc_id="D1", quote="five days of leave a year"), ["s1", "s2"]),
        (GoldSpan(doc_id="D1", quote="something else"), [None]),
        (GoldSpan(doc_id="D8"), [None]),
        (GoldSpan(doc_id="DX", start=4, end=13), ["s1"]),
        (GoldSpan(doc_id="unknown", start=4, end=13), [None]),
    ],
)
def test_gold_is_matched_against_the_hits_of_an_unknown_corpus(gold, ids):
    """By id, by document, by the words of a quote; all stages count."""
    documents = [Document("DX", "He: five days of it")]
    items, kinds = found(query(gold), stages=HITS, chunks=None, documents=documents, overlap=0.4)
    assert items == [ids]
    assert kinds == (["span_without_words"] if gold.doc_id == "unknown" else [])


def test_hits_from_outside_a_known_corpus_are_matched_too():
    """A service may have its own ids for the documents that we have."""
    stages = {"retrieve": Hits(ids=("c1", "s1"), doc_ids=("D1", "D1"), texts=("x", "b" * 9))}
    gold = GoldSpan(doc_id="D1", quote="b" * 10)
    assert found(query(gold), stages=stages) == ([["c2", "s1"]], [])


def test_near_matches_among_results_are_listed_once():
    """A service's ids and document ids are compared with the gold."""
    asked = query(GoldSpan(id="café"), GoldSpan(doc_id="D1 "))
    stages = {"retrieve": Hits(ids=("cafe\u0301",), doc_ids=("D1",))}
    judge = GoldJudge.build([asked], None)
    judge.judge(asked, stages)
    judge.judge(asked, stages)
    assert [(fault.kind, fault.ids) for fault in judge.faults] == [
        ("near_match", ("q1", "café", "cafe\u0301")),
        ("near_match", ("q1", "D1 ", "D1")),
    ]
    assert "'caf\\xe9'" in str(judge.faults[0])
