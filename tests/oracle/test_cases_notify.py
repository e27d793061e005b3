"""Cases from the field that a channel decides: signatures, and texts longer than it takes."""

from __future__ import annotations

import base64
import hmac
import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.notify.dingtalk import DingTalk
from ragnostic.notify.dingtalk import sign as dingtalk_sign
from ragnostic.notify.feishu import Feishu
from ragnostic.notify.feishu import sign as feishu_sign
from ragnostic.notify.slack import Slack
from ragnostic.notify.text_limits import json_bytes, parts, utf8_bytes, utf16_units
from ragnostic.notify.wecom import WeCom

FLOW = Path(__file__).parents[1] / "flow"
SERVERS = runpy.run_path(str(FLOW / "notify_servers.py"))
NOTICE = runpy.run_path(str(FLOW / "test_chat_channels.py"))["NOTICE"]
ROBOTS = {
    "wecom": (WeCom, SERVERS["WeComServer"]),
    "feishu": (Feishu, SERVERS["FeishuServer"]),
    "dingtalk": (DingTalk, SERVERS["DingTalkServer"]),
    "slack": (Slack, SERVERS["SlackServer"]),
}


def cases(shared: Path, key: str) -> list[dict]:
    """The cases of the kind whose ``given`` holds a key."""
    found = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((shared / "cases").glob("notify-*.json"))
    ]
    chosen = [case for case in found if key in case["given"]]
    assert chosen
    return chosen


def sent(channel: str, notice, *, now: float, secret: str = "", skew_s: float = 0.0):
    """A notice through the robot to its vendor: the delivery, and the vendor afterwards."""
    kind, server = ROBOTS[channel]
    vendor = server(SERVERS["SteppedClock"](now), skew_s=skew_s, secret=secret)
    signed = {"secret_env": "KEY"} if secret else {}
    options = kind.Options(url_env="HOOK", allow_private=True, **signed)
    robot = kind("ops", options, {"HOOK": vendor.url, "KEY": secret}, vendor.clock)
    try:
        return robot.send([notice]), vendor
    finally:
        vendor.close()


def expanded(message) -> str:
    """The text that a case stands for."""
    if isinstance(message, str):
        return message
    return message.get("prefix", "") + message["repeat"] * message["times"]


@pytest.mark.shared
def test_the_signature_is_the_vendors(shared):
    """Its value, where it is sent, its unit, and how old it may be."""
    for case in cases(shared, "secret"):
        given_, expect = case["given"], case["expect"]
        channel, now = given_["channel"].split()[0], given_.get("timestamp_s")
        now = given_["timestamp_ms"] / 1000 if now is None else now
        secret = given_["secret"]
        delivery, vendor = sent(channel, NOTICE, now=now, secret=secret)
        assert delivery.delivered
        (raw,) = vendor.bodies
        if expect["sent_in"] == "body":
            body = json.loads(raw)
            assert expect["timestamp_unit"] == "seconds"
            assert (body["timestamp"], body["sign"]) == (str(int(now)), expect["sign"])
            assert body["sign"] not in expect.get("wrong", {}).values()
        else:
            assert expect["timestamp_unit"] == "milliseconds"
            assert dingtalk_sign(int(now * 1000), secret) == expect["sign"]
        for skew_s, taken in ((expect["max_age_s"] - 5, True), (expect["max_age_s"] + 5, False)):
            aged, _ = sent(channel, NOTICE, now=now, secret=secret, skew_s=skew_s)
            assert aged.delivered == taken


@pytest.mark.shared
def test_a_long_message_is_cut_or_split_within_the_limit_and_says_so(shared):
    """By bytes, between characters; as a text of its own, and inside the notice that is sent."""
    for case in cases(shared, "limit_bytes"):
        given_, expect = case["given"], case["expect"]
        text, limit = expanded(given_["message"]), given_["limit_bytes"]
        assert utf8_bytes(text) == expect["original_bytes"]
        messages = parts([text], limit)
        assert all(len(one.encode()) <= expect["each_message_bytes_at_most"] for one in messages)
        assert all(f"({place}/{len(messages)})" in one for place, one in enumerate(messages, 1))
        assert "".join(one.partition("\n\n")[2] for one in messages) == text

        channel = given_["channel"].split()[0]
        notice = replace(NOTICE, summary={"zh": text}, worst_query=text, likely_cause={"zh": text})
        delivery, vendor = sent(channel, notice, now=1_767_600_000.0)
        assert delivery.delivered == expect["delivered"]
        for raw, shown in zip(vendor.bodies, vendor.taken, strict=True):
            for forbidden in expect["must_not_contain"]:
                assert forbidden not in raw.decode("utf-8", "strict")
            assert "略去" in shown.text


@given(st.integers(1_000_000_000, 4_000_000_000), st.text(min_size=1))
def test_signatures_of_any_moment_and_secret(moment, secret):
    """The key of one is the message of the other."""
    secret = secret.encode("utf-8", "ignore").decode()
    feishu = hmac.new(f"{moment}\n{secret}".encode(), digestmod="sha256").digest()
    assert base64.b64decode(feishu_sign(moment, secret)) == feishu
    dingtalk = hmac.new(secret.encode(), digestmod="sha256")
    dingtalk.update(f"{moment * 1000}\n".encode())
    dingtalk.update(secret.encode())
    assert base64.b64decode(dingtalk_sign(moment * 1000, secret)) == dingtalk.digest()


TEXTS = st.text(st.sampled_from('指a é🙂\u0301\u200d👩💻🇨🇳"\\\n\t'), max_size=300)


@given(st.lists(TEXTS, min_size=1, max_size=6), st.integers(64, 500))
def test_messages_of_any_texts_are_within_any_limit(blocks, limit):
    """In every unit; numbered where there are several, and with all that was given in them."""
    for size in (utf8_bytes, json_bytes, utf16_units):
        messages = parts(blocks, limit, size=size)
        assert all(size(one) <= limit for one in messages)
        joined = "".join(messages)
        assert all(joined.count(mark) >= "".join(blocks).count(mark) for mark in "指a🙂👩")
        if len(messages) > 1:
            assert all(f"({n}/{len(messages)})" in one for n, one in enumerate(messages, 1))
