"""Messages for Slack."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from ragnostic.notify.slack import LIMIT_BLOCKS, LIMIT_HEADER, LIMIT_TEXT, Slack

MADE = runpy.run_path(str(Path(__file__).parent / "robots.py"))
robot, reply, NOTICE = MADE["robot"], MADE["reply"], MADE["NOTICE"]


def texts(message) -> list[str]:
    """The texts of all blocks."""
    return [block["text"]["text"] for block in message["blocks"] if "text" in block]


def test_a_cut_is_never_inside_an_entity():
    """Header and fallback are measured as they are sent."""
    for length in range(60, 75):
        notice = replace(NOTICE, slice={"category": "<" * length})
        (found,) = robot(Slack).messages([notice], ())
        header = texts(found)[0]
        assert len(header) <= LIMIT_HEADER
        assert "&" not in header.replace("&lt;", "").replace("&gt;", "").replace("&amp;", "")


def test_a_long_text_is_several_sections_and_a_longer_one_several_messages():
    """3,000 characters a section, as Slack counts them, and 50 blocks a message."""
    slices = {f"column {place:03}": "🙂&" * 150 for place in range(200)}
    found = robot(Slack).messages([replace(NOTICE, slice=slices)], ())
    assert len(found) > 1
    for one in found:
        assert len(one["blocks"]) <= LIMIT_BLOCKS
        assert all(len(text.encode("utf-16-le")) // 2 <= LIMIT_TEXT for text in texts(one))


def test_many_notices_share_messages():
    """Separated by lines."""
    found = robot(Slack).messages([replace(NOTICE, link="https://a.example/")] * 40, [NOTICE])
    assert len(found) == 3
    assert [one["blocks"][0]["type"] for one in found] == ["header"] * 3
    assert texts(found[0])[0] == "(1/3) Ragnostic: 41 notices (P1 × 41)"
    assert texts(found[-1])[-1].startswith("1 more (P1 × 1)")


@pytest.mark.parametrize(
    ("answer", "delivered", "retry", "told"),
    [
        (reply(b"ok"), True, None, ""),
        (reply(b"ok\n"), True, None, ""),
        (reply(b"<html>"), False, 60.0, "<html>"),
        (reply(b"rate_limited", 429, retry_after="30"), False, 30.0, "rate_limited"),
        (reply(b"no_service", 404), False, None, "no_service"),
        (reply(b"channel_is_archived", 410), False, None, "channel_is_archived"),
        (reply(b"invalid_payload", 400), False, None, "invalid_payload"),
        (reply(b"rollup_error", 500), False, 0.0, "rollup_error"),
    ],
)
def test_an_answer_means_what_its_status_says(answer, delivered, retry, told):
    """And a success says ok."""
    found = robot(Slack).verdict(answer)
    assert (found.delivered, found.retry_after_s) == (delivered, retry)
    assert told in found.reason
