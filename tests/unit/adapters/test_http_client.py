"""Calls to a real loopback service."""

from __future__ import annotations

import gc
import socket
import threading
import time

import pytest
from pydantic import ValidationError

from ragnostic.adapters import http_client
from ragnostic.adapters.http_client import JsonClient, ServiceOptions
from ragnostic.errors import RetrievalError, UsageError


def client(url: str, environment: dict[str, str] | None = None, **settings) -> JsonClient:
    """A client with these settings."""
    return JsonClient(ServiceOptions(url=url, **settings), environment or {})


def test_body_headers_and_key_arrive(service):
    """JSON out, JSON in; the bearer token comes from the environment."""
    service.answers({"ok": "好"})
    options = {"headers": {"X-Team": "a-${TEAM}"}, "api_key_env": "KEY"}
    found = client(service.url, {"TEAM": "x", "KEY": "s3cret"}, **options)
    answer = found.call("POST", body={"q": "年假\ud800"}, params={"a": "b"})
    assert answer.json == {"ok": "好"}
    assert answer.took_ms > 0
    call = service.calls[0]
    assert (call.json, call.params) == ({"q": "年假\ud800"}, {"a": "b"})
    assert (call.headers["x-team"], call.headers["authorization"]) == ("a-x", "Bearer s3cret")


@pytest.mark.parametrize("url", ["ftp://x/y", "search", "http://", "http://x:99999/"])
def test_an_address_that_cannot_be_called_is_refused_when_the_settings_are_read(url):
    """The fault belongs to the config, not to the first query."""
    with pytest.raises(ValidationError):
        ServiceOptions(url=url)


def test_an_address_that_only_the_library_refuses_is_a_usage_error():
    """No traceback of the library for a wrong host name."""
    with pytest.raises(UsageError):
        client("http://a\u00ad.b\x7f/")


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (401, False), (408, True), (429, True), (503, True)]
)
def test_a_status_says_whether_a_retry_may_help(service, status, retryable):
    """429, 408 and 5xx may pass; other client errors will not."""
    service.answers(b"<b>no\nluck</b>", status, {"Retry-After": "7"})
    with pytest.raises(RetrievalError) as caught:
        client(service.url).call("POST", body={})
    assert caught.value.retryable is retryable
    message = caught.value.message
    assert str(status) in message
    assert "<b>no luck</b>" in message
    assert "(Retry-After: 7)" in message


def test_a_secret_that_the_service_sends_back_is_not_shown(service):
    """Many services quote the wrong key in their answer."""
    service.answers(b"invalid key s3cret", 401)
    with pytest.raises(RetrievalError) as caught:
        client(service.url, {"KEY": "s3cret"}, api_key_env="KEY").call("POST", body={})
    assert "s3cret" not in str(caught.value)
    assert "***" in str(caught.value)


def test_an_answer_that_is_not_json_is_an_error_with_its_beginning(service):
    """A login page is the usual case."""
    service.answers(b"<html>Sign in</html>")
    with pytest.raises(RetrievalError, match="not JSON: <html>Sign in"):
        client(service.url).call("GET")


def test_an_empty_error_body_and_no_retry_after_are_said_shortly(service):
    """The message has no dangling colon."""
    service.answers(b"", 404)
    with pytest.raises(RetrievalError, match=r"404 Not Found: \(empty\)$"):
        client(service.url).call("GET")


def test_nobody_listening_is_retryable():
    """A service that restarts comes back."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    with pytest.raises(RetrievalError, match="ConnectError") as caught:
        client(url).call("GET")
    assert caught.value.retryable


def test_a_service_that_does_not_answer_in_time_is_retryable(service):
    """The time-out of the settings holds."""
    release = threading.Event()
    service.reply = lambda _: (200 if release.wait(5) else 500, {}, b"{}")
    with pytest.raises(RetrievalError, match=r"within 0\.1 s") as caught:
        client(service.url, timeout_s=0.1).call("GET")
    release.set()
    assert caught.value.retryable


def test_a_service_that_drips_for_ever_meets_the_deadline():
    """Each byte comes in time, the answer never does."""
    stop = threading.Event()

    def drip(listener: socket.socket):
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while not stop.wait(0.02):
                connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        started = time.monotonic()
        with pytest.raises(RetrievalError, match="no complete answer"):
            client(url, timeout_s=0.2).call("GET")
        assert time.monotonic() - started < 3
        stop.set()
        thread.join()
    gc.collect()


def test_an_answer_above_64_mib_is_refused(service):
    """Memory is not for the service to fill."""
    service.answers(b" " * (64 * 1024 * 1024 + 1))
    with pytest.raises(RetrievalError, match="larger than 64 MiB"):
        client(service.url).call("GET")


def test_a_redirect_on_the_same_host_is_followed(service):
    """A trailing slash is a common reason."""
    service.reply = lambda call: (
        (307, {"Location": "/search/"}, b"") if call.path == "/search" else (200, {}, b"[1]")
    )
    assert client(service.url).call("POST", body={"q": 1}).json == [1]
    assert service.calls[1].json == {"q": 1}


def test_a_redirect_to_another_host_is_refused_and_sends_nothing_there(service):
    """Headers hold keys."""
    service.answers(b"", 302, {"Location": "http://localhost:1/elsewhere?key=1"})
    with pytest.raises(
        RetrievalError, match="another host: http://localhost:1/elsewhere"
    ) as caught:
        client(service.url).call("GET")
    assert "key=1" not in str(caught.value)


def test_redirects_without_end_are_an_error(service):
    """Five are followed."""
    service.answers(b"", 302, {"Location": "/search"})
    with pytest.raises(RetrievalError, match="more than 5 redirects"):
        client(service.url).call("GET")
    assert len(service.calls) == 6


def test_a_displayed_address_hides_user_and_query():
    """Also for a text that is no address at all."""
    assert http_client.display_url("http://u:p@h/x?k=1") == "http://h/x"
    assert http_client.display_url("nothing?k=1") == "nothing"
