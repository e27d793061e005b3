"""The custom bot of a Feishu group (飞书自定义机器人), Lark the same.

What its documentation says (自定义机器人使用指南, open.feishu.cn): POST of JSON to an address
with a token in its path; a body has at most 20 KB; 100 messages a minute and 5 a second for one
bot, else code 9499 or 11232 (which a busy system answers too: whole and half hours are to be
avoided). Code 9499 is also the answer to a body that is wrong or too long; then ``msg`` says so.
With signing, ``timestamp`` (seconds, no more than an hour off) and ``sign`` =
base64(HMAC-SHA256(key = timestamp + line break + secret, nothing)) go into the body; a wrong one is
code 19021, a missing keyword 19024, a sender that is not listed 19022. Only ``code`` 0 is success.
A card is sent whose texts are all ``plain_text``, in which nothing is markup or a mention.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from ragnostic.notify.http_post import Reply
from ragnostic.notify.limiter import Rate
from ragnostic.notify.literal import unlinked
from ragnostic.notify.message import SENDER, Message, heading, message, severities
from ragnostic.notify.phrases import said
from ragnostic.notify.robot import Robot, RobotOptions
from ragnostic.notify.text_limits import cut, json_bytes, numbered, packed, split
from ragnostic.ports import Delivery, Notice

LIMIT_BYTES = 20_000
_ENVELOPE_BYTES = 1_500
_TITLE_BYTES = 600
_TEXT_BYTES = 12_000
"""Of one element; with the buttons of a notice it still fits into a card."""
_BUSY = {11232: 10.0}
_TOO_MANY = {**_BUSY, 9499: 10.0}

_Elements = list[dict[str, Any]]


def sign(timestamp_s: int, secret: str) -> str:
    """The signature of a moment, in base64.

    >>> sign(1767225600, "test-secret-not-real")
    '9yhJF1H3weR1zc8mCkpARt7OuN3Nt8Ylvob6ae5UzyQ='
    """
    key = f"{timestamp_s}\n{secret}".encode()
    return base64.b64encode(hmac.digest(key, b"", hashlib.sha256)).decode()


class Feishu(Robot):
    """Cards whose body has at most 20,000 bytes, 5 a second and 100 a minute."""

    class Options(RobotOptions):
        """With ``secret_env`` every call is signed."""

        secret_env: str = Field(
            default="", description="Environment variable that holds the secret (签名校验)."
        )

    rates: ClassVar = (Rate(5, 1.0), Rate(100, 60.0))

    def messages(self, told: Sequence[Notice], left_out: Sequence[Notice]) -> list[dict[str, Any]]:
        """One card, or several that are numbered."""
        everything = (*told, *left_out)
        words = [message(notice, self.language) for notice in told]
        alone = len(everything) == 1
        groups = [group for found in words for group in self._groups(found, alone=alone)]
        if left_out:
            kinds = severities(left_out, self.language)
            text = said("not shown", self.language, count=len(left_out), kinds=kinds)
            groups.append([_text(text)])
        cards = packed(groups, LIMIT_BYTES - _ENVELOPE_BYTES, _size, gap=_size([_LINE]))
        title = (
            f"{SENDER} {unlinked(words[0].title)}"
            if alone
            else unlinked(heading(everything, self.language))
        )
        titles = numbered(title, len(cards))
        return [
            _card(head, _colour(words[0]), card) for head, card in zip(titles, cards, strict=True)
        ]

    def envelope(self, message: dict[str, Any], now: float) -> tuple[str, dict[str, Any]]:
        """The signature stands in the body."""
        if not self._secret:
            return self._url, message
        seconds = int(now)
        signature = {"timestamp": str(seconds), "sign": sign(seconds, self._secret)}
        return self._url, {**signature, **message}

    def verdict(self, reply: Reply) -> Delivery:
        """By ``code``; a rate limit may come with HTTP 400."""
        too_many = b"too many" in reply.body.lower()
        return self.coded(reply, "code", "msg", _TOO_MANY if too_many else _BUSY)

    def _groups(self, found: Message, *, alone: bool) -> list[_Elements]:
        """The elements of one notice; in several groups where its text is too long for one."""
        colon = said("colon", self.language)
        facts = [f"{label}{colon}{text}" for label, text in found.facts]
        lines = [*found.sentences, *facts] if alone else [found.title, *found.sentences, *facts]
        text = "\n".join(map(unlinked, lines))
        groups = [[_text(piece)] for piece in split(text, _TEXT_BYTES, size=json_bytes)]
        if found.links:
            buttons = [
                {"tag": "button", "type": "default", "text": _plain(label), "url": url}
                for label, url in found.links
            ]
            groups[-1].append({"tag": "action", "actions": buttons})
        return groups


_LINE = {"tag": "hr"}


def _card(title: str, colour: str, groups: Sequence[_Elements]) -> dict[str, Any]:
    elements = [element for group in groups for element in (_LINE, *group)][1:]
    header = {"template": colour, "title": _plain(cut(title, _TITLE_BYTES, size=json_bytes))}
    card = {"config": {"wide_screen_mode": True}, "header": header, "elements": elements}
    return {"msg_type": "interactive", "card": card}


def _plain(text: str) -> dict[str, str]:
    return {"tag": "plain_text", "content": text}


def _text(text: str) -> dict[str, Any]:
    return {"tag": "div", "text": _plain(text)}


def _size(elements: _Elements) -> int:
    """Bytes of elements inside a card, each with a comma."""
    return sum(len(json.dumps(one, ensure_ascii=False).encode()) + 2 for one in elements)


def _colour(found: Message) -> str:
    """Of a card's head: by the most urgent notice, which is the first."""
    if found.kind in {"resolved", "rebaselined"}:
        return "green"
    if found.kind == "test":
        return "grey"
    return {"P0": "red", "P1": "orange", "P2": "yellow"}[found.severity]
