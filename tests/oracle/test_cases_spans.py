"""The field's own cases about spans, other instances of their kinds, and ten real spans."""

from __future__ import annotations

import json
import random

import pytest

from ragnostic.gateway.balance import Where
from ragnostic.gateway.intake import Intake
from ragnostic.gateway.openinference_lines import read_openinference_lines
from ragnostic.gateway.otlp_json import decode_json
from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.span_assembler import SpanAssembler
from ragnostic.gateway.span_reader import read_span
from ragnostic.gateway.span_store import MemorySpans
from ragnostic.gateway.span_tree import SpanTree
from ragnostic.gateway.spans import Span, make_span
from ragnostic.store.queue import SqliteQueue

pytestmark = pytest.mark.shared


@pytest.fixture
def case(shared):
    """Reads a case by its id."""

    def read(name):
        return json.loads((shared / "cases" / f"{name}.json").read_text(encoding="utf-8"))

    return read


def shape(batches):
    """What is known of the traces in batches of spans, as the case asks for it."""
    store, traces, refused = MemorySpans(), [], []
    assembler = SpanAssembler(store, list)
    for batch in batches:
        decoded = decode_json(json.dumps(batch))
        refused += decoded.refused
        assembler.add(decoded.spans)
        traces += [span.trace_id for span in decoded.spans]
    found = {"dropped": len(refused), "trace_ids": sorted(set(traces)), "traces": 0, "spans": 0}
    found |= {"roots": [], "children": {}, "orphans": []}
    for trace_id in found["trace_ids"]:
        tree = assembler._tree(trace_id)
        found["traces"] += 1
        found["spans"] += len(tree.spans)
        found["roots"] += tree.roots
        found["orphans"] += tree.orphans
        found["children"] |= {key: list(below) for key, below in tree.children.items()}
    return found


def test_spans_out_of_order(case):
    """Children first, a retry, a parent that never comes: in every order of the batches."""
    given = case("gateway-spans-out-of-order")
    for seed in range(6):
        batches = list(given["given"]["batches"])
        random.Random(seed).shuffle(batches)
        assert shape(batches) == given["expect"]


def test_spans_out_of_order_in_capital_letters_and_two_traces():
    """Another instance: ids are compared without their case."""

    def batch(*spans):
        keys = ("traceId", "spanId", "parentSpanId")
        written = [dict(zip(keys, span, strict=True)) for span in spans]
        return {"resourceSpans": [{"scopeSpans": [{"spans": written}]}]}

    one, two = "AB" * 16, "cd" * 16
    found = shape(
        [
            batch((one.lower(), "22" * 8, "AA" * 8), (two, "33" * 8, "44" * 8)),
            batch((one, "aa" * 8, ""), (two, "55" * 8, None), (two, "", "55" * 8)),
            batch((one, "AA" * 8, "")),
        ]
    )
    assert found == {
        "spans": 4,
        "traces": 2,
        "trace_ids": [one.lower(), two],
        "roots": ["aa" * 8, "55" * 8],
        "children": {"aa" * 8: ["22" * 8]},
        "orphans": ["33" * 8],
        "dropped": 1,
    }


@pytest.mark.parametrize("mark", ["汉", "🀄", "é", "a", "e\u0301"])
def test_a_huge_attribute(case, mark):
    """Cut at a character, its length kept, its neighbour untouched; for other characters too."""
    given = case("gateway-huge-attribute")
    limit, expect = given["given"]["limit_bytes"], given["expect"]
    spans, written = {}, []
    for place, row in enumerate(given["given"]["batch"], 1):
        attributes = []
        for name, value in row["attributes"].items():
            text = value if isinstance(value, str) else mark * value["times"]
            attributes.append({"key": name, "value": {"stringValue": text}})
        ids = {"traceId": "ab" * 16, "spanId": f"{place:016x}", "name": row["span"]}
        written.append({**ids, "attributes": attributes})
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": written}]}]})
    decoded = decode_json(body, limit)
    spans = {span.name: span for span in decoded.spans}
    assert list(spans) == expect["accepted"]
    assert [name for name, span in spans.items() if span.cuts] == expect["truncated"]
    kept = spans["s1"].attributes["output.value"]
    assert limit - 4 < len(kept.encode("utf-8")) <= expect["stored_bytes_at_most"]["s1"]
    assert spans["s1"].cuts["output.value"].bytes == len(mark.encode()) * 200_000
    if mark == "汉":
        assert spans["s1"].cuts["output.value"].bytes == expect["original_bytes_recorded"]["s1"]
    assert not any(sign in kept for sign in expect["must_not_contain"])
    assert spans["s2"].attributes["output.value"] == "ok"


@pytest.mark.parametrize("shift", [0, 777])
def test_a_span_that_ends_before_it_starts(case, shift, tmp_path):
    """The row stays, its latency is unknown, the fault is counted and names it."""
    given = case("input-negative-duration")
    expect, rows = given["expect"], given["given"]["rows"]
    queue = SqliteQueue(tmp_path / "queue.sqlite")
    intake = Intake(queue, Quarantine(tmp_path))
    assembler = SpanAssembler(MemorySpans(), intake.accept)
    ids = {}
    for place, row in enumerate(rows, 1):
        trace_id, span_id = f"{place:032x}", f"{place:016x}"
        ids[row["query"]] = f"{trace_id}:{span_id}"
        attributes = {"openinference.span.kind": "RETRIEVER", "input.value": row["query"]}
        start, end = row["start_ns"] + shift, row["end_ns"] and row["end_ns"] + shift
        times = {"start_ns": start, "end_ns": end}
        assembler.add([make_span(trace_id, span_id, attributes=attributes.items(), **times)])
    assembler.flush()
    stored = [
        json.loads(event.payload)
        for partition in range(queue.partitions)
        for event in queue.read(partition, 0, 100)
    ]
    queue.close()
    assert len(stored) == expect["rows_kept"]
    latency = {row["query"]: row.get("latency_ms") for row in stored}
    assert latency == {
        query: None if seconds is None else pytest.approx(seconds * 1000)
        for query, seconds in expect["latency_s"].items()
    }
    known = [took for took in latency.values() if took is not None]
    assert sum(known) / len(known) == pytest.approx(expect["mean_latency_s"] * 1000)
    for fault in expect["faults"]:
        assert [ids[query] for query in fault["must_name"]] == sorted(
            set(intake.fault_ids[fault["type"]])
        )


@pytest.fixture
def real(shared):
    """The ten real spans."""
    path = shared / "data" / "openinference" / "spans.jsonl"
    return list(read_openinference_lines(path.read_text(encoding="utf-8").splitlines()))


def records(spans):
    """The records of spans, by the name of what retrieved."""
    rows = []
    assembler = SpanAssembler(MemorySpans(), rows.extend)
    assembler.add(spans)
    assembler.flush()
    labels = ("retriever", "reranker")
    return {
        next(row["labels"][name] for name in labels if name in row["labels"]): row
        for row, where in rows
        if where == Where("otlp", trace=row["trace_id"])
    }


def test_the_real_spans_are_all_read(real):
    """In their roles."""
    assert all(isinstance(span, Span) for span in real)
    roles = [read_span(span).role for span in real]
    counts = {role: roles.count(role) for role in set(roles)}
    assert counts == {
        "retriever": 3,
        "reranker": 1,
        "embedding": 1,
        "llm": 1,
        "agent": 1,
        "chain": 3,
    }
    assert SpanTree(map(read_span, real)).orphans == ()


def test_the_real_retrievals_are_the_records_that_one_reads(real):
    """Three retrievers, and a reranker that was tried by itself; embedding is no retrieval."""
    found = records(real)
    assert sorted(found) == [
        "CohereRanker.run",
        "bedrock.retrieve",
        "bedrock.retrieve_and_generate",
        "knowledge_base",
    ]
    questions = [found[name]["query"] for name in sorted(found)]
    assert questions == [
        "Who won the World Cup in 2022?",
        "What is task Decomposition?",
        "What is Task Decomposition?",
        "What is task decomposition?",
    ]


def test_the_real_hits_without_ids(real):
    """Five chunks of one document are five ids, the same chunk is the same id everywhere."""
    found = records(real)
    retrieve = found["bedrock.retrieve"]["stages"]["retrieve"]
    base = found["knowledge_base"]["stages"]["retrieve"]
    both = found["bedrock.retrieve_and_generate"]["stages"]["retrieve"]
    assert len(set(retrieve["ids"])) == 5
    assert set(retrieve["doc_ids"]) == {"2222"}
    assert retrieve["ids"] == base["ids"]
    assert both["ids"] == [retrieve["ids"][0]] * 2  # the recording has the same text twice
    assert found["knowledge_base"]["labels"]["ids_from"] == "text"
    assert [round(score, 4) for score in retrieve["scores"]] == [
        0.6244,
        0.3701,
        0.2538,
        0.2205,
        0.1818,
    ]
    assert "scores" not in base
    assert "scores" not in both


def test_the_real_answers_and_contexts(real):
    """All five chunks stand in the prompt; the answer is the agent's, without the model's tags."""
    found = records(real)
    base = found["knowledge_base"]
    assert base["context_ids"] == base["stages"]["retrieve"]["ids"]
    assert base["answer"].startswith("Task decomposition is a technique")
    assert "<answer>" not in base["answer"]
    assert base["labels"]["llm_model"] == "claude-3-5-sonnet-20240620"
    assert base["stages"]["retrieve"]["took_ms"] == pytest.approx(1118.21)
    both = found["bedrock.retrieve_and_generate"]
    assert both["answer"].startswith("Task Decomposition is a technique")
    assert "answer" not in found["bedrock.retrieve"]


def test_the_real_reranker(real):
    """Three candidates, two let through, with its scores."""
    row = records(real)["CohereRanker.run"]
    retrieve, rerank = row["stages"]["retrieve"], row["stages"]["rerank"]
    assert len(retrieve["ids"]) == 3
    assert rerank["ids"] == [retrieve["ids"][1], retrieve["ids"][0]]
    assert (rerank["scores"], rerank["top_k"]) == ([0.7140302, 0.51580286], 2)
    assert row["labels"]["rerank_model"] == "rerank-v3.5"
