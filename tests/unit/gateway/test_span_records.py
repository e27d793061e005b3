"""Record rows of a trace: one a retrieval (METRICS 13)."""

from __future__ import annotations

import runpy
from pathlib import Path

from ragnostic.gateway.span_reader import read_span
from ragnostic.gateway.span_records import holds_back, trace_rows
from ragnostic.gateway.span_tree import SpanTree
from ragnostic.gateway.validation import check_row

BUILD = runpy.run_path(str(Path(__file__).parent / "span_builders.py"))
TRACE, START = BUILD["TRACE"], BUILD["START"]
model, reranker, retriever, span, step = (
    BUILD[name] for name in ("model", "reranker", "retriever", "span", "step")
)
ids = BUILD["span_id"]


def rows(*spans, **options):
    """The rows of a trace, each one that the intake takes."""
    found = trace_rows(SpanTree(map(read_span, spans)), **options)
    for row in found:
        check_row(row)
    return found


CHAT = [
    step("root", asked="how much?", said="Five.", took=400, resource={"service.name": "shop"}),
    retriever("r", "root", ("a", "five days", 0.9), ("b", "six", 0.4), at=10, took=80),
    reranker("k", "root", [("a", "five days"), ("b", "six")], [("a", None, 0.7)], at=90, took=20),
    model("m", "root", "Five.", "Use: five days", at=110, took=200),
]


def test_a_whole_conversation():
    """Every field of the record, from the span that knows it."""
    (row,) = rows(*CHAT)
    detail = row.pop("revision")
    assert detail > 10
    assert row == {
        "record_id": f"{TRACE}:{ids('r')}",
        "trace_id": TRACE,
        "span_id": ids("r"),
        "ts": START + 10 * 10**6,
        "service": "shop",
        "model_version": "m-1",
        "source": "otlp",
        "query": "how long?",
        "answer": "Five.",
        "context_ids": ["a"],
        "outcome": "ok",
        "latency_ms": 400.0,
        "stages": {
            "retrieve": {
                "ids": ["a", "b"],
                "scores": [0.9, 0.4],
                "texts": ["five days", "six"],
                "status": "ok",
                "took_ms": 80.0,
            },
            "rerank": {"ids": ["a"], "scores": [0.7], "status": "ok", "took_ms": 20.0},
        },
        "labels": {"retriever": "r", "llm_model": "m-1", "context_from": "prompt"},
    }


def test_three_retrievals_are_three_records():
    """Of one agent in one trace, each by the span that asked."""
    spans = [step("root", kind="AGENT")]
    spans += [retriever(f"r{n}", "root", (f"d{n}",), query=f"q{n}", at=n) for n in range(3)]
    found = rows(*spans)
    assert [row["query"] for row in found] == ["q0", "q1", "q2"]
    assert len({row["record_id"] for row in found}) == 3


def test_the_question_of_the_step_above_where_the_retriever_has_none():
    """Or of the reranker."""
    above = step("root", asked='{"question": "how much?"}')
    assert rows(above, retriever("r", "root", ("a",), query=""))[0]["query"] == "how much?"
    asked = span(
        "k",
        "root",
        {
            "openinference.span.kind": "RERANKER",
            "reranker.query": "which?",
            "reranker.input_documents.0.document.id": "a",
        },
        at=200,
    )
    assert rows(above, retriever("r", "root", ("a",), query=""), asked)[0]["query"] == "which?"
    assert "query" not in rows(retriever("r", "", ("a",), query=""))[0]


def test_who_asked_is_told_by_any_span():
    """The nearest that knows."""
    front = span("front", attributes={"session.id": "s1", "user.id": "u1"})
    row = rows(front, step("root", "front"), retriever("r", "root", ("a",)))[0]
    assert (row["session_id"], row["user_id"]) == ("s1", "u1")
    elsewhere = span("other", "gone", {"session.id": "s2"})
    assert rows(retriever("r", "", ("a",)), elsewhere)[0]["session_id"] == "s2"


def test_metadata_become_labels_and_columns():
    """The retriever's over those of the steps above."""
    above = span(
        "root", "", {"openinference.span.kind": "CHAIN", "metadata": '{"shop": 1, "a": 1}'}
    )
    below = retriever("r", "root", ("a",))
    told = span(
        "r",
        "root",
        {**below.attributes, "metadata": {"shop": 2, "category": "leave", "query_id": "q7"}},
    )
    (row,) = rows(above, told)
    assert row["labels"] == {"retriever": "r", "shop": "2", "a": "1"}
    assert (row["category"], row["query_id"]) == ("leave", "q7")


def test_retrievers_inside_a_retriever_are_what_it_costs():
    """One record; the wordings are what was searched, their number the fan-out."""
    outer = retriever("outer", "", ("a",))
    parts = [retriever(f"p{n}", "outer", ("a",), query=f"wording {n}", at=n) for n in range(3)]
    (row,) = rows(outer, *parts)
    assert (row["fanout"], row["searched"]) == (3, ["wording 0", "wording 1", "wording 2"])
    (row,) = rows(outer, retriever("p", "outer", ("a",)))
    assert "fanout" not in row
    assert "searched" not in row


def test_the_embedding_model_is_the_model_version():
    """The nearest one; else the answering model's."""
    embedding = {"openinference.span.kind": "EMBEDDING", "embedding.model_name": "e-5"}
    (row,) = rows(*CHAT, span("e", "r", embedding))
    assert (row["model_version"], row["labels"]["embedding_model"]) == ("e-5", "e-5")


def test_an_open_trace_holds_back_what_may_become_part_of_another():
    """A retriever whose caller has not come, a reranker whose retrieval has not."""
    for waiting in (retriever("r", "lost", ("a",)), reranker("k", "", [("a",)], [("a",)])):
        tree = SpanTree([read_span(waiting)])
        assert trace_rows(tree, is_closed=False) == []
        assert holds_back(tree)
        assert len(trace_rows(tree)) == 1
    tree = SpanTree(map(read_span, CHAT))
    assert not holds_back(tree)
    assert trace_rows(tree, is_closed=False) == trace_rows(tree)


def test_an_orphan_is_kept_and_says_so():
    """Its parent never came; it has no latency but its own."""
    (row,) = rows(retriever("r", "lost", ("a",), took=7))
    assert row["labels"]["parent"] == "missing"
    assert "latency_ms" not in row
    assert row["stages"]["retrieve"]["took_ms"] == 7.0


def test_a_reranker_by_itself_is_a_record():
    """Of what it was given and what it made of it."""
    (row,) = rows(step("root", asked="who?"), reranker("k", "root", [("a",), ("b",)], [("b",)]))
    assert row["span_id"] == ids("k")
    assert [stage["ids"] for stage in row["stages"].values()] == [["a", "b"], ["b"]]
    assert row["context_ids"] == ["b"]
    assert row["labels"] == {
        "reranker": "k",
        "retrieve_from": "rerank input",
        "context_from": "rerank",
    }


def test_a_reranker_that_let_nothing_through():
    """Nothing was given to the model, and that is known."""
    empty = span(
        "k",
        "",
        {
            "openinference.span.kind": "RERANKER",
            "reranker.input_documents": [{"document.id": "a"}],
            "reranker.output_documents": [],
        },
    )
    (row,) = rows(empty)
    assert row["context_ids"] == []


def test_a_failed_retrieval_is_no_empty_one():
    """It is counted as failed, with its words."""
    (row,) = rows(retriever("r", "", status=2, message="time-out"))
    assert (row["outcome"], row["stages"]["retrieve"]["error"]) == ("failed", "time-out")


def test_ids_made_of_texts_are_said():
    """So that nobody looks for them in an index."""
    (row,) = rows(retriever("r", "", (None, "five days")))
    assert row["labels"]["ids_from"] == "text"


def test_clocks_that_are_wrong_are_faults_of_the_record():
    """The row stays; what has no duration has none."""
    backwards = retriever("r", "root", ("a",), took=-40)
    (row,) = rows(step("root", took=-1), backwards)
    assert row["labels"]["faults"] == "negative_duration"
    checked = check_row(row)
    assert "took_ms" not in checked.row["stages"]["retrieve"]
    assert "latency_ms" not in checked.row
    assert checked.faults == ("negative_duration", "negative_duration")


def test_a_span_without_any_time_has_no_ts():
    """The intake sets such a row aside, with the reason."""
    timeless = retriever("r", "", ("a",))
    tree = SpanTree([read_span(timeless)])
    (reading,) = tree.spans.values()
    bare = SpanTree([type(reading)("t", "r", role="retriever", documents=reading.documents)])
    assert "ts" not in trace_rows(bare)[0]


def test_what_was_cut_is_told():
    """By role and attribute, with the true length."""
    long = model("m", "r", "汉" * 100, limit=30)
    (row,) = rows(retriever("r", "", ("a",)), step("s"), long)
    assert "capture" not in row
    (row,) = rows(
        step("root"), retriever("r", "root", ("a",)), model("m", "root", "汉" * 100, limit=30)
    )
    cut = row["capture"]["cut"]["llm:llm.output_messages.0.message.content"]
    assert (row["capture"]["truncated"], cut["bytes"]) == (True, 300)
    assert row["answer"] == "汉" * 10


def test_a_trace_without_retrieval_gives_nothing():
    """Not every trace is ours."""
    assert rows(span("GET /")) == []
    assert rows(step("root"), model("m", "root", "a")) == []
