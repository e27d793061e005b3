"""Cards for Feishu."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from ragnostic.notify.feishu import LIMIT_BYTES, Feishu, sign

MADE = runpy.run_path(str(Path(__file__).parent / "robots.py"))
robot, reply, NOTICE = MADE["robot"], MADE["reply"], MADE["NOTICE"]
SIGNED = {"secret_env": "KEY"}


@pytest.mark.parametrize(
    ("kind", "severity", "colour"),
    [
        ("firing", "P0", "red"),
        ("repeat", "P1", "orange"),
        ("firing", "P2", "yellow"),
        ("test", "P0", "grey"),
        ("resolved", "P0", "green"),
    ],
)
def test_the_colour_of_the_head_says_how_urgent_it_is(kind, severity, colour):
    """Of the first, which is the worst."""
    notice = replace(NOTICE, kind=kind, severity=severity)
    (found,) = robot(Feishu).messages([notice], ())
    assert found["card"]["header"]["template"] == colour


def test_the_only_notice_is_the_head_of_its_card():
    """Its title is not told twice; a keyword of the robot is there."""
    (found,) = robot(Feishu).messages([NOTICE], ())
    assert found["card"]["header"]["title"]["content"] == "Ragnostic [P1] RCS@10 is too low"
    assert "too low" not in json.dumps(found["card"]["elements"])


def test_a_text_that_no_card_can_hold_is_split():
    """Each card within the limit, numbered."""
    slices = {f"column {place:02}": "🙂" * 300 for place in range(40)}
    found = robot(Feishu).messages([replace(NOTICE, slice=slices)], ())
    assert len(found) > 1
    for place, one in enumerate(found, 1):
        assert len(json.dumps(one, ensure_ascii=False).encode()) <= LIMIT_BYTES
        title = one["card"]["header"]["title"]["content"]
        assert title.startswith(f"({place}/{len(found)}) ")


def test_the_signature_stands_in_the_body_of_its_moment():
    """In whole seconds, as text; without a secret nothing is added."""
    (message,) = robot(Feishu).messages([NOTICE], ())
    url, body = robot(Feishu, **SIGNED).envelope(message, 1_767_225_600.9)
    assert "sign" not in url
    assert body["timestamp"] == "1767225600"
    assert body["sign"] == sign(1_767_225_600, "secret-of-signing")
    assert robot(Feishu).envelope(message, 0.0)[1] == message


@pytest.mark.parametrize(
    ("message", "retry"), [("too many request", 10.0), ("Bad Request", None), ("", None)]
)
def test_the_code_that_means_two_things_is_told_apart_by_its_text(message, retry):
    """Too many may pass; a wrong body stays wrong."""
    body = json.dumps({"code": 9499, "msg": message}).encode()
    assert robot(Feishu).verdict(reply(body, 400)).retry_after_s == retry
