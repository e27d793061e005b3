"""Spans become records whatever order they come in, and nothing is lost on the way."""

from __future__ import annotations

import json
import random
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import StoreError
from ragnostic.gateway.balance import Where
from ragnostic.gateway.span_assembler import MAX_TRACE_SPANS, SpanAssembler
from ragnostic.gateway.span_store import MemorySpans
from ragnostic.store.state import State

BUILD = runpy.run_path(str(Path(__file__).parent / "span_builders.py"))
TRACE = BUILD["TRACE"]
model, reranker, retriever, span, step = (
    BUILD[name] for name in ("model", "reranker", "retriever", "span", "step")
)
OTHER = "11" * 16


class Bench:
    """An assembler with a clock to be set, a sink that may be down, and what came out."""

    def __init__(self, store=None, **options):
        self.time = 0.0
        self.is_down = False
        self.rows = []
        self.counts = {}
        self.store = MemorySpans() if store is None else store
        self.assembler = SpanAssembler(
            self.store, self.emit, counters=self, now=lambda: self.time, **options
        )

    def emit(self, rows):
        """The sink."""
        if self.is_down:
            raise StoreError("the queue is busy", retryable=True)
        self.rows += [row for row, _ in rows]
        self.places = [where for _, where in rows]

    def add(self, deltas):
        """The counters."""
        for name, amount in deltas.items():
            self.counts[name] = self.counts.get(name, 0) + amount

    def give(self, *spans, at=None):
        """Spans that come at a time; the records that are due then."""
        self.time = self.time if at is None else at
        return self.assembler.add(spans)

    def settle(self, at):
        """Ids of the records that come out at a time."""
        self.time = at
        before = len(self.rows)
        assert self.assembler.settle() == len(self.rows) - before
        return [row["span_id"][-2:] for row in self.rows[before:]]

    def final(self):
        """The newest revision of each record, as the lake would have it."""
        found = {}
        for row in self.rows:
            known = found.get(row["record_id"])
            assert known is None or known["revision"] <= row["revision"]
            found[row["record_id"]] = row
        return {key: without_revision(row) for key, row in found.items()}


def without_revision(row):
    """What a row says, but for the number of its revision."""
    return {name: value for name, value in row.items() if name != "revision"}


ROOT = step("root", asked="how much?", said="Five.", took=400)
ASKED = retriever("r1", "root", ("a", "five"), ("b", "six"), at=10)


def test_a_trace_gives_its_records_when_it_has_been_quiet():
    """Not before; and once."""
    bench = Bench(settle_s=10)
    assert bench.give(ASKED, at=0) == 1
    bench.give(ROOT, at=8)
    assert bench.settle(at=12) == []
    assert bench.settle(at=18) == [b"r1".hex()[-2:]]
    assert bench.settle(at=100) == []
    assert bench.rows[0]["latency_ms"] == 400.0
    assert bench.places == [Where("otlp", trace=TRACE)]


def test_a_late_span_that_changes_a_record_gives_it_a_higher_revision():
    """One that changes nothing gives nothing."""
    bench = Bench()
    bench.give(ROOT, ASKED, at=0)
    assert len(bench.settle(at=20)) == 1
    bench.give(span("tool", "root"), at=30)
    assert bench.settle(at=50) == []
    bench.give(model("m", "root", "Five.", at=110), at=60)
    assert len(bench.settle(at=80)) == 1
    first, second = bench.rows
    assert second["record_id"] == first["record_id"]
    assert second["revision"] > first["revision"]
    assert second["labels"]["llm_model"] == "m-1"


def test_the_same_span_again_is_a_duplicate():
    """A retry of the sender changes nothing, late or not."""
    bench = Bench()
    assert bench.give(ROOT, ASKED, at=0) == 2
    assert bench.give(ROOT, at=1) == 0
    bench.settle(at=20)
    assert bench.give(ROOT, ASKED, at=30) == 0
    assert bench.settle(at=50) == []
    assert bench.counts["spans_kept"] == 2
    assert bench.counts["spans_duplicate"] == 3


def test_a_span_that_is_sent_before_it_has_ended():
    """The fuller version is believed, in either order."""
    begun = retriever("r1", "root", at=10, took=-(10**9))
    for spans in ((begun, ASKED), (ASKED, begun)):
        bench = Bench()
        bench.give(ROOT, *spans, at=0)
        bench.settle(at=20)
        assert bench.rows[0]["stages"]["retrieve"]["ids"] == ["a", "b"]


def test_what_is_held_back_comes_when_the_trace_is_over():
    """A retriever whose caller never came; its spans are forgotten then."""
    bench = Bench(settle_s=10, keep_s=100)
    bench.give(retriever("r1", "lost", ("a",)), at=0)
    assert bench.settle(at=20) == []
    assert bench.assembler.open_traces == 1
    assert len(bench.settle(at=100)) == 1
    assert bench.assembler.open_traces == 0
    assert bench.store.spans_of(TRACE) == []
    assert bench.counts["traces_closed"] == 1


def test_a_span_that_comes_after_the_end_cannot_undo_a_record():
    """It knows less, so its revision is lower."""
    bench = Bench(settle_s=1, keep_s=2)
    bench.give(ROOT, ASKED, at=0)
    bench.settle(at=10)
    bench.give(ASKED, at=20)
    bench.settle(at=30)
    full, poor = bench.rows
    assert full["record_id"] == poor["record_id"]
    assert full["revision"] > poor["revision"]


def test_traces_without_retrieval_are_counted():
    """They give nothing, and that is known."""
    bench = Bench(settle_s=0, keep_s=0)
    bench.give(span("GET"), at=0)
    assert bench.settle(at=0) == []
    assert bench.counts["traces_without_retrieval"] == 1


def test_nothing_is_lost_while_the_sink_is_down():
    """It stays due, before and after the records are complete."""
    bench = Bench(settle_s=10, keep_s=100)
    bench.give(ROOT, ASKED, at=0)
    bench.give(reranker("k", "lost", [("z",)], [("z",)]), at=0)
    bench.is_down = True
    bench.time = 20
    with pytest.raises(StoreError):
        bench.assembler.settle()
    bench.is_down = False
    assert len(bench.settle(at=30)) == 1
    bench.is_down = True
    bench.time = 200
    with pytest.raises(StoreError):
        bench.assembler.settle()
    assert len(bench.store.spans_of(TRACE)) == 3
    bench.is_down = False
    assert len(bench.settle(at=201)) == 1


def test_spans_that_cannot_be_kept_are_not_acknowledged():
    """The error comes through, and the trace is not open."""

    class Broken(MemorySpans):
        def keep_spans(self, spans, now=None):
            raise StoreError("the disk is full", retryable=True)

    bench = Bench(Broken())
    with pytest.raises(StoreError):
        bench.give(ASKED)
    assert bench.assembler.open_traces == 0
    assert bench.counts == {}


def test_spans_that_come_while_records_are_made_are_kept():
    """Between the reading of a trace and its end."""
    bench = Bench(settle_s=1, keep_s=2)
    bench.give(ROOT, retriever("r0", "lost", ("z",)), at=0)
    inner = bench.emit

    def meanwhile(rows):
        inner(rows)
        if ASKED not in given:
            given.append(ASKED)
            bench.assembler.add([ASKED])

    given = []
    bench.assembler._emit = meanwhile
    bench.time = 10
    bench.assembler.settle()
    bench.assembler._emit = inner
    assert bench.assembler.open_traces == 1
    bench.settle(at=30)
    assert len(bench.final()) == 2
    assert bench.assembler.open_traces == 0


def test_a_trace_without_end_is_closed():
    """One id that a service never changes must not fill the memory."""
    bench = Bench()
    spans = [retriever(f"{n}", "root", (f"d{n}",), at=n) for n in range(MAX_TRACE_SPANS)]
    bench.give(ROOT, *spans, at=0)
    assert len(bench.settle(at=0)) == MAX_TRACE_SPANS
    assert bench.assembler.open_traces == 0


def test_many_traces_are_worked_on_in_turn():
    """More than one block of them."""
    bench = Bench(settle_s=1, keep_s=2)
    spans = [retriever("r", "", ("a",), trace=f"{n:032x}") for n in range(1, 200)]
    bench.give(*spans, at=0)
    assert len(bench.settle(at=1)) == 199
    assert bench.settle(at=2) == []
    assert bench.counts["traces_closed"] == 199


def test_texts_are_masked_before_they_are_kept():
    """Ids made of texts are made before."""
    bench = Bench(mask=lambda text: text.replace("five", "‹five›"))
    bench.give(retriever("r1", "", (None, "five days"), query="five?"), at=0)
    assert "‹five› days" in bench.store.spans_of(TRACE)[0].decode()
    bench.assembler.flush()
    (row,) = bench.rows
    assert row["query"] == "‹five›?"
    plain = Bench()
    plain.give(retriever("r1", "", (None, "five days")), at=0)
    plain.assembler.flush()
    assert row["stages"]["retrieve"]["ids"] == plain.rows[0]["stages"]["retrieve"]["ids"]


def test_a_restart_takes_up_where_it_was(tmp_path):
    """Spans of an earlier life give the same records, damaged ones are counted."""
    path = tmp_path / "state.sqlite"
    state = State(path)
    bench = Bench(state)
    bench.give(ASKED, at=0)
    state.keep_spans([(OTHER, "x", b"damaged"), (OTHER, "y", b"[]")])
    state.close()
    state = State(path)
    again = Bench(state)
    assert again.assembler.open_traces == 2
    again.give(ROOT, at=1)
    again.settle(at=400)
    state.close()
    assert [row["latency_ms"] for row in again.rows] == [400.0]
    assert again.counts["spans_damaged"] == 2


def turn(number, trace):
    """The spans of one turn: question, retrieval, reranking, answer."""
    root, at = f"s{number}", 100 * number
    found = [("a", f"text a {number}"), ("b", f"text b {number}")]
    return [
        step(root, "root", asked=f"question {number}", at=at, took=90, trace=trace),
        retriever(f"r{number}", root, *found, query="", at=at + 1, took=9, trace=trace),
        retriever(f"p{number}", f"r{number}", *found, at=at + 1, took=7, trace=trace),
        reranker(f"k{number}", root, found, found[:1], at=at + 20, took=9, trace=trace),
        model(f"m{number}", root, f"Answer {number}.", f"text a {number}", at=at + 30, trace=trace),
    ]


def traces():
    """Spans of three traces: an agent with turns, orphans, a reranker by itself."""
    spans = [step("root", kind="AGENT", took=900), *turn(1, TRACE), *turn(2, TRACE)]
    spans += [retriever("r9", "lost", ("z",), at=500), span("t", "root", at=5)]
    spans += [reranker("k9", "lost", [("y",)], [("y",)], trace=OTHER)]
    spans += [retriever("r", "", status=2, message="no", trace="22" * 16)]
    return spans


@given(st.integers(), st.lists(st.integers(1, 16), max_size=12), st.booleans())
def test_any_order_split_and_repetition_gives_the_same_records(seed, sizes, is_slow):
    """Whatever is emitted on the way, the newest revisions are those of the whole traces."""
    whole = Bench()
    whole.give(*traces(), at=0)
    whole.assembler.flush()
    chance = random.Random(seed)
    spans = traces() + chance.sample(traces(), 5)
    chance.shuffle(spans)
    bench = Bench(settle_s=1, keep_s=10**6)
    for number, size in enumerate([*sizes, len(spans)]):
        given, spans = spans[:size], spans[size:]
        bench.give(*given, at=10 * number)
        if is_slow:
            bench.settle(at=10 * number + 5)
    bench.assembler.flush()
    assert bench.final() == whole.final()
    assert len(whole.final()) == 5
    assert json.dumps(bench.rows)
