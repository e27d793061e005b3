"""Fields of one hop, refusals and heads, without a socket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.headers import (
    end_to_end,
    has_body,
    is_websocket,
    origin_form,
    refusal,
    request_head,
    sound,
    upgrade_head,
    values,
)

TOKENS = st.text("ABCxyz-", min_size=1, max_size=8).map(str.encode)
FIELDS = st.lists(st.tuples(TOKENS, st.binary(max_size=5).map(bytes.hex).map(str.encode)))


@given(FIELDS)
def test_fields_that_are_passed_on_keep_their_order(fields):
    """Nothing is added, nothing is turned around."""
    kept = end_to_end(fields)
    remaining = iter(fields)
    assert all(field in remaining for field in kept)


@given(FIELDS)
def test_a_head_holds_every_field_that_is_passed_on(fields):
    """Byte by byte, between the request line and the empty line."""
    head = request_head("GET", b"/", [(b"Host", b"x"), *fields])
    lines = head.split(b"\r\n")
    assert lines[0] == b"GET / HTTP/1.1"
    assert lines[1:-2] == [b"%s: %s" % field for field in end_to_end([(b"Host", b"x"), *fields])]
    assert lines[-2:] == [b"", b""]


def test_the_length_and_the_host_cannot_be_named_by_connection():
    """They say where a message ends and whom it is for."""
    fields = [(b"Connection", b"host, content-length, x"), (b"Host", b"a"), (b"X", b"1")]
    fields.append((b"Content-Length", b"3"))
    assert end_to_end(fields) == [(b"Host", b"a"), (b"Content-Length", b"3")]


def test_chunked_stays_at_its_place_whatever_connection_says():
    """Its own name in Connection would be a trick."""
    fields = [(b"A", b"1"), (b"transfer-Encoding", b"Chunked"), (b"Host", b"x")]
    fields.append((b"Connection", b"transfer-encoding"))
    assert request_head("POST", b"/", fields) == (
        b"POST / HTTP/1.1\r\nA: 1\r\ntransfer-Encoding: chunked\r\nHost: x\r\n\r\n"
    )


def test_a_missing_host_is_filled_in_and_a_given_one_replaced():
    """HTTP/1.0 has none; upstream.host may want its own."""
    assert b"\r\nHost: a:1\r\n" in request_head("GET", b"/", [], None, b"a:1")
    assert b"\r\nhOst: a:1\r\n" in request_head("GET", b"/", [(b"hOst", b"x")], b"a:1")


def test_an_upgrade_keeps_what_a_websocket_needs():
    """Once each."""
    fields = [(b"Host", b"x"), (b"Connection", b"keep-alive, Upgrade"), (b"Upgrade", b"websocket")]
    fields.append((b"Sec-WebSocket-Key", b"k"))
    head = upgrade_head(b"/w", fields)
    assert head == (
        b"GET /w HTTP/1.1\r\nHost: x\r\nSec-WebSocket-Key: k\r\n"
        b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        ("POST", [(b"Connection", b"upgrade"), (b"Upgrade", b"websocket")]),
        ("GET", [(b"Connection", b"close"), (b"Upgrade", b"websocket")]),
        ("GET", [(b"Connection", b"upgrade"), (b"Upgrade", b"h2c")]),
        ("GET", [(b"Connection", b"upgrade"), (b"Upgrade", b"websocket, h2c")]),
        (
            "GET",
            [(b"Connection", b"upgrade"), (b"Upgrade", b"websocket"), (b"Content-Length", b"1")],
        ),
    ],
)
def test_what_is_no_request_for_a_websocket(method, fields):
    """Another method, another protocol, a body."""
    assert not is_websocket(method, fields)


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ([], False),
        ([(b"Content-Length", b"000")], False),
        ([(b"Content-Length", b"10")], True),
        ([(b"Transfer-Encoding", b"chunked")], True),
    ],
)
def test_whether_a_body_follows(fields, body):
    """A length above zero, or chunks."""
    assert has_body(fields) is body


HOST = (b"Host", b"x")
REFUSALS = [
    ("CONNECT", b"a:1", "1.1", [HOST], 501),
    ("GET", b"/", "2.0", [HOST], 505),
    ("GET", b"/", "1.1", [], 400),
    ("GET", b"/", "1.1", [HOST, HOST], 400),
    ("GET", b"/", "1.1", [(b"Host", b"a b")], 400),
    ("GET", b"/", "1.0", [(b"Transfer-Encoding", b"chunked")], 400),
    ("GET", b"/", "1.1", [HOST, (b"Transfer-Encoding", b"gzip, chunked")], 501),
    (
        "GET",
        b"/",
        "1.1",
        [HOST, (b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"1")],
        400,
    ),
    ("GET", b"/a#b", "1.1", [HOST], 400),
    ("GET", b"*", "1.1", [HOST], 400),
    ("GET", b"ftp://here/", "1.1", [HOST], 400),
    ("GET", b"http://there/", "1.1", [HOST], 421),
    ("GET", b"http://here:80@there/", "1.1", [HOST], 421),
]


@pytest.mark.parametrize(("method", "target", "version", "fields", "status"), REFUSALS)
def test_what_is_refused(method, target, version, fields, status):
    """With the status that the RFCs name."""
    found = refusal(method, target, version, fields, [b"here:80"])
    assert found is not None
    assert found.status == status
    assert found.reason


@pytest.mark.parametrize(
    ("method", "target", "version", "fields"),
    [
        ("GET", b"/", "1.0", []),
        ("OPTIONS", b"*", "1.1", [HOST]),
        ("GET", b"HTTP://HERE:80/a", "1.1", [HOST]),
        ("GET", b"/", "1.1", [(b"Host", b"[::1]:8080")]),
        ("GET", b"/", "1.1", [(b"Host", b"")]),
        ("POST", b"/", "1.1", [HOST, (b"Transfer-Encoding", b"Chunked")]),
    ],
)
def test_what_is_accepted(method, target, version, fields):
    """Sound requests of every form."""
    assert refusal(method, target, version, fields, [b"here:80"]) is None


def test_origin_forms():
    """The path and query of every form of target."""
    assert origin_form(b"*") == b"*"
    assert origin_form(b"https://h") == b"/"
    assert origin_form(b"https://h/a?b=http://c/") == b"/a?b=http://c/"


@given(st.binary(max_size=40))
def test_a_value_with_a_line_end_is_never_sound(value):
    """No answer can be split."""
    fields = [(b"A", value)]
    assert not (sound(fields) and {10, 13, 0} & set(value))
    assert values(fields, b"a") == [value]
