"""The port for operators, and the switch to a second service."""

from __future__ import annotations

import json
import time

import pytest


def post(path: str = "/chat") -> bytes:
    """A question on a connection of its own."""
    body = b'{"query": "q"}'
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
    )
    return head.encode() + b"\r\n" + body


def audit(running, event: str) -> list[dict]:
    """Lines of the audit log."""
    path = running.folder / "store" / "gateway-audit.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line for line in map(json.loads, lines) if line["event"] == event]


def test_health_counters_and_switch_answer(gateway, service):
    """As JSON."""
    assert gateway.control("GET", "/health") == (200, {"status": "ok", "degraded": False})
    assert gateway.control("GET", "/degrade") == (200, {"on": False, "reason": ""})
    assert gateway.control("GET", "/counters")[0] == 200


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (("GET", "/", None, {}), 404),
        (("DELETE", "/health", None, {}), 405),
        (("POST", "/degrade", "nonsense", {}), 400),
        (("POST", "/degrade", {"on": True}, {}), 409),
        (("POST", "/degrade", {"on": True, "reason": 5}, {}), 400),
        (("POST", "/degrade", {"on": True, "reason": "x" * 70_000}, {}), 413),
        (("GET", "/health", None, {"Host": "evil.example"}), 421),
        (("GET", "/health", None, {"Origin": "http://evil.example"}), 403),
        (("POST", "/degrade", {"on": True}, {"Origin": "null"}), 403),
    ],
)
def test_what_is_refused(gateway, service, call, status):
    """Unknown paths, bad bodies, and pages of other sites."""
    answer = gateway.control(*call)
    assert answer[0] == status
    assert answer[1]["error"]


def test_its_own_names_and_origin_are_accepted(gateway, service):
    """A page that it might serve itself."""
    name = f"localhost:{gateway.control_port}"
    headers = {"Host": name, "Origin": f"http://{name}"}
    assert gateway.control("GET", "/health", None, headers)[0] == 200


def test_a_token_is_asked_for_where_one_is_set(start, service):
    """From the environment, never from the file."""
    running = start('[control]\ntoken_env = "CONTROL"\n', CONTROL="s3cret")
    assert running.control("GET", "/health")[0] == 401
    wrong = {"Authorization": "Bearer other"}
    assert running.control("GET", "/health", None, wrong)[0] == 401
    right = {"Authorization": "Bearer s3cret"}
    assert running.control("GET", "/health", None, right)[0] == 200


def test_an_operator_flips_to_the_second_service_and_back(start, service, other_service):
    """Every flip is written down, and the records say which service was asked and why."""
    other_service.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"
    running = start(f'[degrade]\nurl = "http://127.0.0.1:{other_service.port}"\n')
    assert running.ask(post()).endswith(b"ok")
    flip = {"on": True, "reason": "index is being rebuilt"}
    assert running.control("POST", "/degrade", flip) == (200, flip)
    assert running.ask(post()).endswith(b"second")
    running.control("POST", "/degrade", flip)
    running.control("POST", "/degrade", {"on": False, "reason": "done"})
    assert running.ask(post()).endswith(b"ok")
    running.settled(3)
    labels = [row["labels"].get("upstream") for row in running.rows()]
    assert labels == [None, "second", None]
    assert running.rows()[1]["labels"]["degraded"] == "index is being rebuilt"
    lines = audit(running, "degrade")
    assert [(line["on"], line["by"], line["reason"]) for line in lines] == [
        (True, "control", "index is being rebuilt"),
        (False, "control", "done"),
    ]


def test_a_file_flips_the_switch_while_it_exists(start, service, other_service):
    """Its first words are the reason."""
    other_service.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"
    running = start(
        f'[degrade]\nurl = "http://127.0.0.1:{other_service.port}"\nflag_file = "degraded"\n'
    )
    flag = running.folder / "degraded"
    flag.write_text("too many alerts\n", encoding="utf-8")
    deadline = time.monotonic() + 5
    while not running.control("GET", "/degrade")[1]["on"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert running.ask(post()).endswith(b"second")
    flag.unlink()
    while running.control("GET", "/degrade")[1]["on"]:
        assert time.monotonic() < deadline + 5
        time.sleep(0.05)
    assert running.ask(post()).endswith(b"ok")
    lines = audit(running, "degrade")
    assert [(line["on"], line["by"], line["reason"]) for line in lines] == [
        (True, "file", "too many alerts"),
        (False, "file", ""),
    ]
