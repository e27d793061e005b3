"""The one POST: what it sends, what it refuses, what it never says."""

from __future__ import annotations

import json
import runpy
import socket
import threading
from pathlib import Path

import pytest

from ragnostic.notify import http_post
from ragnostic.notify.http_post import MAX_REPLY_BYTES, PostError, Reply, one_line, post

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
served, Said = LOOPBACK["served"], LOOPBACK["Said"]
HOOK = "secret-token-of-the-hook"


def send(server, **options):
    """A POST to it."""
    return post(server.url, b"{}", {"Content-Type": "text/x"}, allow_private=True, **options)


def test_what_is_sent_is_what_was_given():
    """Body, headers, and a name of the sender."""
    with served(lambda asked: Said(201, b"made", {"X-Y": "z"})) as server:
        reply = send(server)
        asked = server.asked[0]
    assert (reply.status, reply.body, reply.headers["x-y"], reply.ok) == (201, b"made", "z", True)
    assert (asked.method, asked.target, asked.body) == ("POST", f"/hooks/{HOOK}", b"{}")
    assert asked.headers["content-type"] == "text/x"
    assert asked.headers["user-agent"] == "ragnostic"


def test_this_machine_is_not_written_to_without_permission():
    """Nothing arrives."""
    with served() as server:
        with pytest.raises(PostError, match="loopback address; allow_private = true"):
            post(server.url, b"", {})
        assert not server.asked


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    """Its host is shown, and nothing of what is behind it."""
    with served() as other:
        location = {"Location": other.url}
        with (
            served(lambda asked: Said(status, b"", location)) as server,
            pytest.raises(PostError, match=r"redirect to 127\.0\.0\.1; it is not") as refused,
        ):
            send(server)
        assert HOOK not in str(refused.value)
        assert not refused.value.retryable
        assert not other.asked


def test_a_redirect_that_names_no_host_is_not_followed_either():
    """On the same host."""
    with (
        served(lambda asked: Said(307, b"", {"Location": "/x"})) as server,
        pytest.raises(PostError, match="a redirect; it is not followed"),
    ):
        send(server)


def test_a_long_reply_is_read_in_part():
    """The rest is nobody's need."""
    with served(lambda asked: Said(200, b"x" * (MAX_REPLY_BYTES + 1))) as server:
        assert send(server).body == b"x" * MAX_REPLY_BYTES


def test_a_reply_that_repeats_the_secrets_is_shown_without_them():
    """Those of the address and those that were named."""
    with served(lambda asked: Said(400, f"bad {asked.target} key-123".encode())) as server:
        delivery = send(server, secrets=("key-123",)).refusal()
    assert delivery.reason.endswith("answered 400: bad *** ***")
    assert delivery.retry_after_s is None


def test_nobody_there_is_worth_another_try():
    """And the address stays unsaid."""
    with served() as server:
        url = server.url
    with pytest.raises(PostError, match=r"127\.0\.0\.1:\d+: ") as failed:
        post(url, b"", {}, allow_private=True)
    assert HOOK not in str(failed.value)
    assert failed.value.delivery().retry_after_s == 0.0


@pytest.mark.parametrize(
    ("answer", "words"),
    [(b"", "disconnected"), (b"SSH-2.0-x\r\n\r\n", "illegal"), (None, "no complete answer within")],
)
def test_a_service_that_is_no_web_service_is_said(answer, words):
    """It hangs up, or speaks otherwise, or says nothing."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            if answer is None:
                over.wait()
            else:
                connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with pytest.raises(PostError, match=words) as failed:
        post(url, b"", {}, allow_private=True, timeout_s=0.2 if answer is None else 10)
    assert failed.value.retryable
    over.set()
    thread.join()
    listener.close()


def test_a_header_cannot_be_begun_by_a_value():
    """Nothing is sent."""
    with served() as server:
        with pytest.raises(PostError, match="not sent") as failed:
            post(server.url, b"", {"X": "a\r\nY: b"}, allow_private=True)
        assert not failed.value.retryable
        assert not server.asked


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    """They would learn the address."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with served() as server:
        assert send(server).ok


def test_a_proxy_that_is_given_is_used():
    """It gets the whole address, and its login."""
    with served() as proxy:
        given = f"http://me:p%40ss@127.0.0.1:{proxy.port}"
        assert post("http://hooks.example/x", b"hi", {}, proxy=given).ok
        asked = proxy.asked[0]
        assert post("http://hooks.example/x", b"hi", {}, proxy=given.replace("me:p%40ss@", "")).ok
    assert asked.target == "http://hooks.example/x"
    assert asked.headers["proxy-authorization"] == "Basic bWU6cEBzcw=="
    assert "proxy-authorization" not in proxy.asked[1].headers


def test_certificates_are_checked_against_the_name(tmp_path, monkeypatch):
    """Though the connection goes to a number."""
    chain, context = LOOPBACK["certificate"](tmp_path)
    with served(context=context) as server:
        named = f"https://localhost:{server.port}/{HOOK}"
        http_post._certificates.cache_clear()
        with pytest.raises(PostError, match="CERTIFICATE_VERIFY_FAILED") as unknown:
            post(named, b"", {}, allow_private=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(chain))
        http_post._certificates.cache_clear()
        assert post(named, b"", {}, allow_private=True).ok
        with pytest.raises(PostError, match="IP address mismatch"):
            post(named.replace("localhost", "127.0.0.1"), b"", {}, allow_private=True)
    http_post._certificates.cache_clear()
    assert HOOK not in str(unknown.value)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "99999999999"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "Mon, 05 Jan 2026 06:00:30 GMT"}, 0.0),
        (
            {
                "retry-after": "Mon, 05 Jan 2026 06:00:30 GMT",
                "date": "Mon, 05 Jan 2026 06:00:00 GMT",
            },
            30.0,
        ),
        (
            {
                "retry-after": "Mon, 05 Jan 2026 05:00:30 GMT",
                "date": "Mon, 05 Jan 2026 06:00:00 GMT",
            },
            0.0,
        ),
        (
            {"retry-after": "Mon, 05 Jan 2026 06:00:30 -0000", "date": "Mon, 05 Jan 2026 GMT"},
            0.0,
        ),
    ],
)
def test_retry_after_is_read(headers, seconds):
    """Seconds, or a date by the clock of the service."""
    assert Reply(503, headers, b"").retry_after_s() == seconds


@pytest.mark.parametrize(
    ("status", "retried"),
    [(400, False), (401, False), (404, False), (408, True), (429, True), (500, True), (503, True)],
)
def test_another_try_makes_sense_for_what_may_pass(status, retried):
    """And a vendor's own code may know better."""
    reply = Reply(status, {}, b"", "hooks.example")
    assert (reply.refusal().retry_after_s is not None) == retried
    assert reply.refusal(retry=not retried).retry_after_s == (None if retried else 0.0)
    assert reply.refusal().reason == f"hooks.example answered {status}: (empty)"


def test_json_is_read_or_not():
    """Nothing raises."""
    assert Reply(200, {}, b'{"a": [1]}').json() == {"a": [1]}
    assert Reply(200, {}, b"<html>").json() is None
    assert Reply(200, {}, b"\xff").json() is None
    assert Reply(200, {}, b"[" * 100_000).json() is None
    assert json.dumps(Reply(200, {}, b"1").json()) == "1"


def test_a_reply_does_not_show_its_secrets():
    """Not even to a debugger's print."""
    assert "s3cret" not in repr(Reply(200, {}, b"", secrets=("s3cret",)))


def test_a_long_text_is_cut():
    """To 200 characters."""
    assert one_line("x" * 500) == "x" * 199 + "…"
    assert one_line("a key ab b", ("", "key ab", "ab")) == "a *** b"
