"""Records and chunks as Arrow tables."""

from __future__ import annotations

from ragnostic.offline.chunks_table import chunks_table, with_doc_ids
from ragnostic.offline.records_table import asked_sha256, records_table
from ragnostic.records import Chunk, EvalQuery, GoldSpan, Hits

_CHUNKS = {
    name: Chunk(name, f"doc-{name}", 0, 4, 2, f"text {name}", context="Title") for name in "abc"
}


def test_a_record_holds_query_stages_and_judgments():
    """Absent stages are null, failures keep their reason, latencies are added up."""
    queries = [
        EvalQuery(
            "q1",
            "年假几天",
            group="g",
            category="hr",
            frequency=3,
            source="human",
            labels={"team": "a"},
        ),
        EvalQuery("q2", "how many days", answerable=False, language="fr"),
    ]
    stages = {
        "retrieve": [
            Hits(("a", None), scores=(1.0, 0.5), top_k=2, took_ms=1.5),
            Hits(top_k=2, status="failed", error="timed out"),
        ],
        "rerank": [Hits(("a",), took_ms=2.0, truncated=(True,)), None],
    }
    judged = {"ids": ["a"], "grades": [1.0], "weights": [1.0], "items": [0], "facets": [None]}
    first, second = records_table(queries, stages, [judged, None], "gold").to_pylist()
    assert first["record_id"] == first["query_id"] == "q1"
    assert (first["language"], second["language"]) == ("zh", "fr")
    assert (first["latency_ms"], second["latency_ms"]) == (3.5, None)
    assert (first["outcome"], second["outcome"]) == ("ok", "failed")
    assert (first["judge"], second["judge"]) == ("gold", None)
    assert first["retrieve"]["scores"] == [1.0, 0.5]
    assert first["retrieve"]["ids"] == ["a", None]
    assert first["rerank"]["truncated"] == [True]
    assert second["rerank"] is None
    assert second["retrieve"]["error"] == "timed out"
    assert second["answerable"] is False
    assert (first["labels"], second["labels"]) == ([("team", "a")], None)
    assert (first["group"], first["frequency"], first["category"]) == ("g", 3, "hr")


def test_chunks_are_those_that_occur_in_rankings_or_judgments():
    """Sorted by id; what a service showed stands in where the corpus does not have it."""
    stages = {
        "retrieve": [
            Hits(
                ("c", "x", None, "y"),
                doc_ids=("?", "X", None, None),
                texts=("", "shown", "z", None),
            )
        ],
        "rerank": [None],
    }
    table = chunks_table(stages, [{"ids": ["a", None, "gone"]}, None], _CHUNKS, store_text=True)
    assert [(row["id"], row["doc_id"], row["text"]) for row in table.to_pylist()] == [
        ("a", "doc-a", "text a"),
        ("c", "doc-c", "text c"),
        ("x", "X", "shown"),
    ]
    bare = chunks_table(stages, [None], _CHUNKS, store_text=False)
    assert bare["text"].null_count == len(bare) == 2
    assert bare["tokens"].to_pylist() == [2, 2]


def test_document_ids_are_filled_in_where_the_retriever_gave_none():
    """And only there."""
    stages = {"s": [Hits(("a", "?")), Hits(("a",), doc_ids=("own",)), Hits(("?",)), None]}
    found = with_doc_ids(stages, _CHUNKS)["s"]
    assert [hits and hits.doc_ids for hits in found] == [("doc-a", None), ("own",), None, None]


def test_a_query_is_known_by_what_is_asked_and_not_by_where_it_stands():
    """Text, answerable and gold change it; order of gold, ids, category and place do not."""
    one, two = GoldSpan(id="a", facets={"x": 1.0, "y": 2.0}), GoldSpan(doc_id="d", quote="q")
    asked = EvalQuery("q1", "how", ((one, two), (two,)))
    same = EvalQuery("q2", "how", ((two,), (two, one)), category="c", frequency=3)
    assert asked_sha256(asked) == asked_sha256(same)
    others = [
        EvalQuery("q1", "how?", asked.gold),
        EvalQuery("q1", "how", asked.gold, answerable=False),
        EvalQuery("q1", "how", ((one, two),)),
        EvalQuery("q1", "how", ((one, two), (GoldSpan(doc_id="d", quote="q", grade=2.0),))),
    ]
    assert len({asked_sha256(query) for query in (asked, *others)}) == 5


def test_the_digest_of_a_query_stays_the_same_for_ever():
    """Runs of today and of next year are compared by it."""
    gold = ((GoldSpan(doc_id="leave.md", quote="25 days"),),)
    assert asked_sha256(EvalQuery("q", "年假几天", gold)) == "2e2911fb4798a348"
    (row,) = records_table([EvalQuery("q", "年假几天", gold)], {}, [None], "gold").to_pylist()
    assert row["asked_sha256"] == "2e2911fb4798a348"
