"""What is kept of an exchange: fields by expressions, ids, streams, lengths, and the balance."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import time
import zlib

import pytest

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"


def post(body: bytes, more: bytes = b"", media_type: bytes = b"application/json") -> bytes:
    """A question on a connection of its own."""
    return (
        b"POST /chat HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
        + media_type
        + b"\r\n"
        + more
        + b"Content-Length: %d\r\n\r\n" % len(body)
        + body
    )


def reply(body: bytes, more: bytes = b"Content-Type: application/json\r\n") -> bytes:
    """An answer with a length."""
    return b"HTTP/1.1 200 OK\r\n" + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


def only(gateway, raw: bytes) -> dict:
    """The record that one request leaves."""
    before = gateway.counters()["captured"]
    gateway.ask(raw)
    gateway.settled(before + 1)
    return gateway.rows()[-1]


QUESTION = json.dumps({"query": "年假几天？", "shop": 7}).encode()
ANSWER = json.dumps(
    {"answer": "20 天", "sources": [{"id": "a"}, {"id": None}, {"id": "b"}]}
).encode()


def test_a_record_is_made_by_the_expressions_of_the_map(gateway, service):
    """Query, answer, ranking with its nulls, labels, ids, times, lengths and hashes."""
    service.answer = reply(ANSWER)
    more = f"traceparent: 00-{TRACE}-{SPAN}-01\r\nX-User-Id: u1\r\nX-Session-Id: s1\r\n".encode()
    row = only(gateway, post(QUESTION, more))
    assert (row["query"], row["answer"], row["source"]) == ("年假几天？", "20 天", "gateway")
    assert row["stages"] == {"retrieve": {"ids": ["a", None, "b"]}}
    assert (row["trace_id"], row["span_id"]) == (TRACE, SPAN)
    assert row["record_id"] == f"{TRACE}:{SPAN}"
    assert (row["user_id"], row["session_id"]) == ("u1", "s1")
    assert row["labels"] == {"shop": "7", "status": "200"}
    assert row["outcome"] == "ok"
    assert 0 < row["latency_ms"] < 10_000
    assert row["capture"]["request"] == {
        "bytes": len(QUESTION),
        "sha256": hashlib.sha256(QUESTION).hexdigest(),
        "truncated": False,
    }
    assert row["capture"]["response"]["sha256"] == hashlib.sha256(ANSWER).hexdigest()


def test_equal_requests_without_ids_are_two_records(gateway, service):
    """Only a trace id and a span id make them the same."""
    service.answer = reply(ANSWER)
    ids = {only(gateway, post(QUESTION))["record_id"] for _ in range(2)}
    assert len(ids) == 2


def test_the_same_span_twice_is_one_record(start, service):
    """The second is counted as a duplicate."""
    running = start()
    service.answer = reply(ANSWER)
    more = f"traceparent: 00-{TRACE}-{SPAN}-01\r\n".encode()
    for _ in range(3):
        running.ask(post(QUESTION, more))
    counts = running.settled(3)
    assert (counts["stored"], counts["duplicate"]) == (1, 2)


def test_a_query_in_the_address_is_found(gateway, service):
    """A GET service has no body."""
    row = only(gateway, b"GET /s?q=%E5%81%87%E6%9C%9F HTTP/1.0\r\n\r\n")
    assert row["query"] == "假期"


def test_form_fields_are_a_request_too(gateway, service):
    """As a browser sends them."""
    row = only(gateway, post(b"query=a+b&x=1", media_type=b"application/x-www-form-urlencoded"))
    assert row["query"] == "a b"


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        (b"gzip", gzip.compress),
        (b"deflate", zlib.compress),
        (b"deflate", lambda body: zlib.compress(body)[2:-4]),
        (b"gzip, gzip", lambda body: gzip.compress(gzip.compress(body))),
    ],
)
def test_compressed_bodies_are_read_from_the_copy(gateway, service, coding, pack):
    """On both sides; raw deflate as well."""
    more = b"Content-Type: application/json\r\nContent-Encoding: " + coding + b"\r\n"
    service.answer = reply(pack(ANSWER), more)
    row = only(gateway, post(pack(QUESTION), b"Content-Encoding: " + coding + b"\r\n"))
    assert (row["query"], row["answer"]) == ("年假几天？", "20 天")


def test_a_decompression_bomb_is_not_unpacked(start, service):
    """The bound holds; the bomb itself passes, as traffic does."""
    running = start("[capture]\nmax_decoded_bytes = 100000\n")
    bomb = gzip.compress(b'{"answer": "' + b"a" * 50_000_000)
    service.answer = reply(bomb, b"Content-Encoding: gzip\r\n")
    received = running.ask(post(QUESTION))
    assert received.endswith(bomb)
    running.settled(1)
    row = running.rows()[-1]
    assert "answer" not in row
    assert row["labels"]["response_fault"] == "more than 100000 bytes when decompressed"


def test_long_bodies_are_cut_in_the_copy_only(start, service):
    """The true length and hash of all of it are kept."""
    running = start("[capture]\nmax_bytes = 1000\n")
    body = b'{"answer": "' + b"a" * 3_000_000 + b'"}'
    service.answer = reply(body)
    assert running.ask(post(QUESTION)).endswith(body)
    running.settled(1)
    row = running.rows()[-1]
    assert row["capture"]["response"] == {
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "truncated": True,
    }
    assert row["labels"]["response_fault"] == "longer than what is copied"


def test_a_failed_answer_keeps_its_query(gateway, service):
    """An expression that does not fit an error's form costs nothing else."""
    service.answer = b"HTTP/1.1 500 No\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\noops"
    row = only(gateway, post(QUESTION))
    assert (row["query"], row["outcome"]) == ("年假几天？", "failed")
    assert row["labels"]["status"] == "500"
    assert row["labels"]["response_fault"] == "no JSON"


def stream(*pieces: bytes, pause: float = 0.0):
    """A service that sends pieces of a stream, each in a packet of its own."""

    async def handler(one, reader, writer):
        while await one.read(reader):
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n"
            )
            for piece in pieces:
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await writer.drain()
                await asyncio.sleep(pause)
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    return handler


def delta(text: str) -> bytes:
    """One event of a chat stream."""
    data = {"choices": [{"delta": {"content": text}}]}
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def test_a_stream_is_one_answer(gateway, service):
    """Characters that packets cut are whole; what was found before the first token is there."""
    whole = b'event: sources\ndata: {"ids": ["a", "b"]}\n\n' + delta("年假") + delta("20天✅")
    whole += b"data: [DONE]\n\n"
    pieces = [whole[at : at + 7] for at in range(0, len(whole), 7)]
    service.handler = stream(*pieces, pause=0.002)
    row = only(gateway, post(QUESTION))
    assert row["answer"] == "年假20天✅"
    assert row["stages"]["found"]["ids"] == ["a", "b"]
    assert row["capture"]["complete"] is True
    assert 0 < row["capture"]["first_byte_ms"] < row["capture"]["first_token_ms"]
    assert row["capture"]["first_token_ms"] < row["latency_ms"]


def test_events_are_not_held_up(gateway, service):
    """Each arrives before the next is sent."""
    service.handler = stream(delta("a"), delta("b"), delta("c"), pause=0.3)
    with gateway.connect() as client:
        client.sendall(post(QUESTION))
        begun = time.monotonic()
        for number, text in enumerate((b'"a"', b'"b"', b'"c"')):
            gateway.until(client, text)
            assert time.monotonic() - begun < 0.3 * number + 0.25


def test_lines_of_json_are_a_stream_too(start, service):
    """As some model servers send them, under a path of their own."""
    running = start('[stream]\ntext = "response"\ndone = ""\n')
    body = b'{"response": "Hel"}\n{"response": "lo", "done": true}\n'
    service.answer = reply(body, b"Content-Type: application/x-ndjson\r\n")
    running.ask(post(QUESTION))
    running.settled(1)
    assert running.rows()[-1]["answer"] == "Hello"


def test_only_what_is_asked_for_is_copied(start, service):
    """By path and by method; the rest is counted."""
    running = start('[capture]\npaths = ["/chat*"]\nmethods = ["POST"]\n')
    running.ask(post(QUESTION))
    for raw in (b"GET /chat HTTP/1.0\r\n\r\n", b"GET /health HTTP/1.0\r\n\r\n"):
        running.ask(raw)
    counts = running.settled(1)
    assert (counts["captured"], counts["not_selected"], counts["requests"]) == (1, 2, 3)


def test_nothing_is_copied_where_capture_is_off(start, service):
    """It is a plain proxy then."""
    running = start("[capture]\non = false\n")
    assert running.ask(post(QUESTION)).endswith(b"ok")
    assert running.counters()["captured"] == 0


def test_personal_data_is_masked_before_it_is_stored(gateway, service):
    """Also the text of a failed call; ids stay."""
    said = "请联系 13800000000 办理"
    service.answer = b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
    row = only(gateway, post(json.dumps({"query": said}).encode()))
    assert "13800000000" not in json.dumps(row, ensure_ascii=False)
    assert row["labels"]["status"] == "500"


def test_what_is_no_question_is_set_aside_and_counted(start, service):
    """The map does not fit it."""
    running = start()
    running.ask(b"GET /health HTTP/1.0\r\n\r\n")
    counts = running.settled(1)
    assert (counts["quarantined"], counts["stored"]) == (1, 0)


def test_the_books_balance_under_load(start, service):
    """A queue that is too short, and every capture accounted for; all traffic passes."""
    running = start("[capture]\nqueue = 5\nflush_ms = 200\n")
    service.answer = reply(ANSWER)
    with running.connect() as client:
        for _ in range(300):
            client.sendall(post(QUESTION).replace(b"Connection: close\r\n", b""))
            running.until(client, ANSWER)
    counts = running.settled(300)
    assert counts["captured"] == 300
    assert counts["dropped"] == counts["dropped_by"]["queue_full"] > 0
    parts = ("stored", "duplicate", "quarantined", "dropped")
    assert sum(counts[name] for name in parts) == 300


def test_memory_for_copies_is_bounded(start, service):
    """What does not fit is dropped with that reason."""
    running = start("[capture]\nmemory_mib = 1\nflush_ms = 200\n")
    body = b'{"answer": "' + b"a" * 900_000 + b'"}'
    service.answer = reply(body)
    for _ in range(4):
        assert running.ask(post(QUESTION)).endswith(body)
    counts = running.settled(4)
    assert counts["stored"] + counts["dropped_by"].get("memory_full", 0) == 4
    assert counts["stored"] >= 1
