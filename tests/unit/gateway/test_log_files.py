"""Log files into the intake: formats, positions, maps that change."""

from __future__ import annotations

import json
import runpy
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.errors import DataError
from ragnostic.gateway.balance import Balance
from ragnostic.gateway.intake import Intake
from ragnostic.gateway.log_files import detect, ingest_json_lines
from ragnostic.gateway.mapping import Misses, build_map
from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.span_files import ingest_spans
from ragnostic.gateway.span_store import MemorySpans
from ragnostic.gateway.ubi_files import ingest_ubi

MEMORY = runpy.run_path(str(Path(__file__).parent / "memory_log.py"))
TS = 1767225600


class Store:
    """Everything behind an ingest, in memory and in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.log, self.state = MEMORY["MemoryLog"](), MEMORY["MemoryState"]()
        self.intake = Intake(self.log, Quarantine(folder / "quarantine"))

    def take(self, path, record_map=None, misses=None):
        """Ingest JSON Lines."""
        return ingest_json_lines(path, self.intake, self.state, record_map, misses)

    def set_aside(self):
        """Lines of the quarantine by file and line."""
        files = sorted(self.folder.rglob("quarantine/day=*/*.jsonl"))
        rows = [json.loads(line) for file in files for line in file.read_text().split("\n")[:-1]]
        return sorted((Path(row["source"]).name, row["line"], row["offset"]) for row in rows)


@pytest.fixture
def store(tmp_path):
    """An empty one."""
    return Store(tmp_path)


def write(path, *rows):
    """Rows as JSON Lines; texts as they are."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def record(number):
    """A record row."""
    return {"query": f"q{number}", "ts": TS, "latency_ms": 1, "retrieve": {"ids": ["a"]}}


def test_rows_are_stored_once_whoever_asks_again(store, tmp_path):
    """The second time nothing is received; under another name neither."""
    path = write(tmp_path / "log.jsonl", record(1), "", "{", record(2))
    first = store.take(path)
    assert first.balance == Balance(3, stored=2, quarantined=1)
    assert first.skipped == 0
    again = store.take(path.rename(tmp_path / "log.jsonl.1"))
    assert again.balance == Balance()
    assert again.skipped == 4
    assert store.set_aside() == [("log.jsonl", 3, len(json.dumps(record(1))) + 2)]


def test_a_log_that_grows_is_read_on(store, tmp_path):
    """A last line without its end is taken, and known when it comes again."""
    path = write(tmp_path / "log.jsonl", record(1))
    store.take(path)
    path.write_text(path.read_text() + json.dumps(record(2)))
    assert store.take(path).balance == Balance(1, stored=1)
    path.write_text(path.read_text() + "\n" + json.dumps(record(3)) + "\n")
    assert store.take(path).balance == Balance(2, stored=1, duplicate=1)


def test_a_mended_map_replaces_what_the_first_one_made(store, tmp_path):
    """The same line is the same record under any map, as a later revision."""
    path = write(tmp_path / "log.jsonl", {"q": "a", "at": TS, "out": "x"}, {"q": "b", "at": TS})
    first = build_map({"query": "q", "ts": "at"}, lambda _: "")
    second = build_map({"query": "q", "ts": "at", "answer": "out"}, lambda _: "")
    misses = Misses()
    for record_map, stored in ((first, 2), (first, 0), (second, 2), (second, 0), (first, 2)):
        assert store.take(path, record_map, misses).balance.stored == stored
    assert misses.documents == 6
    assert sorted({revision for _, revision in store.log.events}) == [0, 1, 2]
    assert len({key for key, _ in store.log.events}) == 2


def test_a_row_that_knows_itself_keeps_its_id(store, tmp_path):
    """Trace and span, or a record id, from the map."""
    path = write(tmp_path / "log.jsonl", {"t": "t", "s": "s", "at": TS, "q": "q"})
    tree = {"query": "q", "ts": "at", "trace_id": "t", "span_id": "s"}
    store.take(path, build_map(tree, lambda _: ""))
    assert [row["record_id"] for row in store.log.rows] == ["t:s"]


def test_an_expression_that_fails_on_a_row_sets_it_aside(store, tmp_path):
    """With its line."""
    path = write(tmp_path / "log.jsonl", {"q": 7, "at": TS}, {"q": "ab", "at": TS})
    record_map = build_map({"ts": "at", "query": "q", "fanout": "length(q)"}, lambda _: "")
    assert store.take(path, record_map).balance == Balance(2, stored=1, quarantined=1)
    assert store.set_aside() == [("log.jsonl", 1, 0)]


@settings(max_examples=20)
@given(st.integers(0, 5))
def test_a_call_that_was_killed_goes_on(tmp_path_factory, kills):
    """Wherever it was: every row is there once, and every bad line is set aside once."""
    folder = tmp_path_factory.mktemp("s")
    store = Store(folder)
    rows = [record(n) if n % 100 else "{" for n in range(2300)]
    path = write(folder / "log.jsonl", *rows)
    keep = store.state.set_position
    for kill in range(kills):
        calls = iter(range(kill))

        def stop(source, position, calls=calls):
            if source.startswith("ingest:"):
                try:
                    next(calls)
                except StopIteration:
                    raise KeyboardInterrupt from None
            keep(source, position)

        store.state.set_position = stop
        with suppress(KeyboardInterrupt):
            store.take(path)
    store.state.set_position = keep
    store.take(path)
    assert len(store.log.events) == 2277
    assert len(store.set_aside()) == 23


def test_formats_are_told_by_the_first_lines(tmp_path):
    """Blank and broken ones are passed over."""
    span = {"context": {"trace_id": "0x1", "span_id": "0x2"}, "attributes": {}}
    rows = {
        "ubi": {"query_id": "q", "user_query": "shoes"},
        "openinference": span,
        "jsonl": {"query": "q"},
    }
    for name, row in rows.items():
        assert detect(write(tmp_path / name, "", "{", row)) == name
    assert (
        detect(write(tmp_path / "event", {"_source": {"query_id": "q", "action_name": "c"}}))
        == "ubi"
    )
    assert detect(write(tmp_path / "otlp", {"resourceSpans": []})) == "openinference"
    assert detect(write(tmp_path / "none", "{")) == "jsonl"
    assert detect(write(tmp_path / "odd", "[1, 2]", {"query": "q"})) == "jsonl"


@pytest.mark.parametrize("text", ['[{"query": "q"}]', '[\n {"query": "q"}]', "\ufeff[ {"])
def test_a_list_of_rows_is_refused_with_a_way_out(tmp_path, text):
    """One line of any length would be set aside as a whole."""
    path = tmp_path / "rows.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="jq -c"):
        detect(path)


def test_user_behaviour_becomes_records_with_feedback(store, tmp_path):
    """Events of any file, in the order of their times; what has no query is set aside."""
    queries = write(
        tmp_path / "queries.jsonl",
        {"_source": {"query_id": "q1", "user_query": "shoes", "timestamp": TS, "client_id": "c",
                     "query_response_id": "r1", "query_response_hit_ids": ["a", "b"],
                     "query_attributes": {"variant": "b"}, "application": "shop"}},
        {"query_id": "q2", "user_query": "hats", "timestamp": TS,
         "query_response_objects_ids": ["c"]},
        {"query_id": None, "user_query": "?"},
        "[]",
    )  # fmt: skip
    events = write(
        tmp_path / "events.jsonl",
        {"query_id": "q1", "action_name": "buy", "timestamp": "2026-01-01T00:00:09Z"},
        {"query_id": "q1", "action_name": "click", "timestamp": "2026-01-01T00:00:05Z",
         "event_attributes": {"object": {"object_id": "b"}, "position": {"ordinal": 2}}},
        {"query_id": "elsewhere", "action_name": "click"},
        {"action_name": "login", "event_attributes": []},
    )  # fmt: skip
    alone = ingest_ubi([queries], store.intake)
    assert alone[0].balance == Balance(4, stored=2, quarantined=2)
    both = ingest_ubi([queries, events], store.intake)
    assert both[0].balance == Balance(4, stored=1, duplicate=1, quarantined=2)
    assert both[1].balance == Balance(2, quarantined=2)
    assert [result.joined for result in both] == [0, 2]
    row = store.log.rows[-1]
    assert row["record_id"] == "q1:r1"
    assert row["labels"] == {"variant": "b"}
    assert [(one["action"], one.get("rank")) for one in json.loads(row["feedback"])] == [
        ("click", 2), ("buy", None),
    ]  # fmt: skip
    assert [place[:2] for place in store.set_aside()] == [
        ("events.jsonl", 3), ("events.jsonl", 4), ("queries.jsonl", 3), ("queries.jsonl", 4),
    ]  # fmt: skip


def test_spans_become_records_across_files(store, tmp_path):
    """What is no span is set aside with its line; the same again is known."""
    ids = {"trace_id": f"0x{1:032x}", "span_id": f"0x{2:016x}"}
    span = {
        "context": ids, "name": "retrieve", "start_time": "2026-01-01T00:00:00Z",
        "end_time": "2026-01-01T00:00:01Z",
        "attributes": {"openinference.span.kind": "RETRIEVER", "input.value": "q",
                       "retrieval.documents.0.document.id": "d1"},
    }  # fmt: skip
    one = write(tmp_path / "one.jsonl", span, "", "{", {"context": ids | {"trace_id": "no"}})
    other = write(tmp_path / "other.jsonl", "x" * (5 * 2**20))
    (tmp_path / "third.jsonl").write_bytes(b"\xff\n")
    files = [one, other, tmp_path / "third.jsonl"]
    first, second, third = ingest_spans(files, store.intake, MemorySpans())
    assert first.balance == Balance(3, stored=1, quarantined=2)
    assert first.joined == 1
    assert second.balance == third.balance == Balance(1, quarantined=1)
    assert store.log.rows[0]["stages"]["retrieve"]["ids"] == ["d1"]
    again = ingest_spans([one], store.intake, MemorySpans())
    assert again[0].balance == Balance(3, duplicate=1, quarantined=2)
    assert len(store.set_aside()) == 4
    assert ingest_spans([], store.intake, MemorySpans()) == []


def test_a_record_of_spans_that_is_none_says_where_its_span_stands(store, tmp_path):
    """File, line, byte and trace of the span that asked; set aside once, not at each reading."""
    spans = [
        {
            "context": {"trace_id": f"0x{trace:032x}", "span_id": f"0x{2:016x}"},
            "attributes": {"openinference.span.kind": "RETRIEVER", "input.value": "q",
                           "retrieval.documents.0.document.id": "d1"},
        }
        for trace in (1, 2)
    ]  # fmt: skip
    timed = spans[0] | {"start_time": "2026-01-01T00:00:00Z"}
    path = write(tmp_path / "spans.jsonl", timed, spans[1])
    for _ in range(2):
        assert ingest_spans([path], store.intake, MemorySpans())[0].balance.quarantined == 1
    files = store.folder.rglob("quarantine/day=*/*.jsonl")
    (entry,) = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert entry["reason"].startswith("has no ts")
    assert entry["source"] == str(path)
    assert entry["trace"] == f"{2:032x}"
    assert (entry["line"], entry["offset"]) == (2, len(path.read_bytes().splitlines()[0]) + 1)


def test_what_is_no_row_in_a_file_of_spans_is_many_batches_of_its_own(store, tmp_path):
    """Each batch has its file in the quarantine."""
    path = write(tmp_path / "bad.jsonl", *["{"] * 1200)
    assert ingest_spans([path], store.intake, MemorySpans())[0].balance.quarantined == 1200
    assert len(store.set_aside()) == 1200
