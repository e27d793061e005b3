"""The custom robot of a DingTalk group (钉钉自定义机器人).

What its documentation says (自定义机器人接入 and 安全设置, open.dingtalk.com): POST of JSON in
UTF-8 to an address with an ``access_token``; a body has at most 20,000 bytes, else errcode 460101;
20 messages a minute for one robot, and one that sends more is blocked for 10 minutes (errcode
130101, in later texts 410100). With signing, ``timestamp`` (milliseconds, no more than an hour
off) and ``sign`` = base64(HMAC-SHA256(key = secret, timestamp + line break + secret)) go into the
address; a wrong one, a missing keyword and a sender that is not listed are errcode 310000; a busy
system is −1. Every
answer is HTTP 200, and only ``errcode`` 0 is success. Mentions are made by the field ``at`` alone,
which is always empty here. Markdown knows no escape, so texts of others are sent in their
full-width likeness (:mod:`ragnostic.notify.literal`).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit, urlunsplit

from pydantic import Field

from ragnostic.notify.http_post import Reply
from ragnostic.notify.limiter import Rate
from ragnostic.notify.literal import literal, whole_line
from ragnostic.notify.message import SENDER, Message, heading, message, severities
from ragnostic.notify.phrases import said
from ragnostic.notify.robot import Robot, RobotOptions
from ragnostic.notify.text_limits import cut, json_bytes, parts
from ragnostic.ports import Delivery, Notice

LIMIT_BYTES = 20_000
_ENVELOPE_BYTES = 1_000
_TITLE_BYTES = 600
_BUSY = {-1: 10.0, 130101: 600.0, 410100: 600.0}


def sign(timestamp_ms: int, secret: str) -> str:
    """The signature of a moment, in base64; it still has to be quoted for the address.

    >>> sign(1767225600000, "test-secret-not-real")[:8]
    'plOrU2mC'
    """
    text = f"{timestamp_ms}\n{secret}".encode()
    return base64.b64encode(hmac.digest(secret.encode(), text, hashlib.sha256)).decode()


def signed_url(url: str, timestamp_ms: int, secret: str) -> str:
    """``url`` with ``timestamp`` and ``sign`` behind what it has.

    >>> signed_url("https://oapi.example/send?access_token=a", 1, "s").partition("&sign=")[0]
    'https://oapi.example/send?access_token=a&timestamp=1'
    """
    split = urlsplit(url)
    added = urlencode({"timestamp": timestamp_ms, "sign": sign(timestamp_ms, secret)})
    query = f"{split.query}&{added}" if split.query else added
    return urlunsplit(split._replace(query=query))


class DingTalk(Robot):
    """Markdown messages whose body has at most 20,000 bytes, 20 a minute."""

    class Options(RobotOptions):
        """With ``secret_env`` every call is signed."""

        secret_env: str = Field(
            default="", description="Environment variable that holds the secret (加签)."
        )

    rates: ClassVar = (Rate(20, 60.0),)

    def messages(self, told: Sequence[Notice], left_out: Sequence[Notice]) -> list[dict[str, Any]]:
        """One ``markdown`` message, or several that are numbered."""
        everything = (*told, *left_out)
        words = [message(notice, self.language) for notice in told]
        name = literal(heading(everything, self.language) or SENDER)
        blocks = [f"**{name}**", *map(self._block, words)]
        if left_out:
            kinds = severities(left_out, self.language)
            blocks.append(said("not shown", self.language, count=len(left_out), kinds=kinds))
        title = name if len(everything) > 1 else f"{SENDER} {literal(words[0].title)}"
        return [
            {
                "msgtype": "markdown",
                "markdown": {"title": cut(title, _TITLE_BYTES, size=json_bytes), "text": text},
                "at": {"atMobiles": [], "atUserIds": [], "isAtAll": False},
            }
            for text in parts(
                blocks, LIMIT_BYTES - _ENVELOPE_BYTES, label=f"{SENDER} ", size=json_bytes
            )
        ]

    def envelope(self, message: dict[str, Any], now: float) -> tuple[str, dict[str, Any]]:
        """The signature stands in the address."""
        if not self._secret:
            return self._url, message
        return signed_url(self._url, int(now * 1000), self._secret), message

    def verdict(self, reply: Reply) -> Delivery:
        """By ``errcode``."""
        return self.coded(reply, "errcode", "errmsg", _BUSY)

    def _block(self, found: Message) -> str:
        colon = said("colon", self.language)
        facts = [f"- **{literal(label)}**{colon}{literal(text)}" for label, text in found.facts]
        links = [f"- [{literal(label)}]({url})" for label, url in found.links]
        sentences = "\n\n".join(map(whole_line, found.sentences))
        return "\n\n".join((f"#### {literal(found.title)}", sentences, "\n".join([*facts, *links])))
