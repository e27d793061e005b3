"""Messages for DingTalk."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from ragnostic.notify.dingtalk import LIMIT_BYTES, DingTalk, sign, signed_url

MADE = runpy.run_path(str(Path(__file__).parent / "robots.py"))
robot, reply, NOTICE = MADE["robot"], MADE["reply"], MADE["NOTICE"]
SIGNED = {"secret_env": "KEY"}


@pytest.mark.parametrize("url", ["https://a.example/send", "https://a.example/send?access_token=x"])
def test_the_signature_stands_in_the_address_quoted(url):
    """Plus, slash and equals signs of base64 survive."""
    for moment in range(1_767_225_600_000, 1_767_225_600_040):
        query = parse_qs(urlsplit(signed_url(url, moment, "s")).query, strict_parsing=True)
        assert query["sign"] == [sign(moment, "s")]
        assert query["timestamp"] == [str(moment)]
        assert signed_url(url, moment, "s").startswith(url)


def test_the_timestamp_is_in_milliseconds():
    """And of the moment of sending; the address does not grow."""
    made = robot(DingTalk, **SIGNED)
    first, body = made.envelope({"x": 1}, 1_767_225_600.5)
    assert "timestamp=1767225600500" in first
    assert body == {"x": 1}
    assert len(made.envelope({}, 1_767_225_601.5)[0].split("sign=")) == 2
    assert "sign" not in robot(DingTalk).envelope({}, 0.0)[0]


def test_the_title_is_what_a_telephone_shows_and_the_text_holds_the_keyword():
    """Of one notice its own title; of several how many."""
    (one,) = robot(DingTalk).messages([NOTICE], ())
    assert one["markdown"]["title"] == "Ragnostic ［P1］ RCS@10 is too low"
    assert one["markdown"]["text"].startswith("**Ragnostic**\n\n#### ［P1］")
    (two,) = robot(DingTalk).messages([NOTICE], [NOTICE])
    assert two["markdown"]["title"] == "Ragnostic: 2 notices (P1 × 2)"


def test_every_part_of_a_long_one_holds_the_keyword_and_keeps_the_limit():
    """Of the whole body, as it is sent."""
    slices = {f"column {place:02}": '"' * 300 for place in range(80)}
    found = robot(DingTalk).messages([replace(NOTICE, slice=slices)], ())
    assert len(found) > 1
    for one in found:
        assert len(json.dumps(one, ensure_ascii=False).encode()) <= LIMIT_BYTES
        assert one["markdown"]["text"].startswith("Ragnostic (")


@pytest.mark.parametrize(("code", "retry"), [(130101, 600.0), (410100, 600.0), (310000, None)])
def test_who_was_too_fast_waits_ten_minutes(code, retry):
    """That long the vendor blocks the robot."""
    answer = reply(json.dumps({"errcode": code, "errmsg": "no"}).encode())
    assert robot(DingTalk).verdict(answer).retry_after_s == retry
