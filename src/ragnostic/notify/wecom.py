"""The group robot of WeCom (企业微信).

What its documentation says (群机器人配置说明, developer.work.weixin.qq.com/document/path/91770 and
90455): POST of JSON to an address with a ``key``; ``markdown.content`` is UTF-8 of at most 4,096
bytes (``text.content`` 2,048), else errcode 40058; 20 messages a minute for one robot, else errcode
45009; a wrong key is errcode 93000, a busy system −1. Every answer is HTTP 200, and only
``errcode`` 0 is success. Markdown knows headings, bold, links, inline code, quotes and three
colours; ``<@userid>`` mentions. It knows no escape, so texts of others are sent in their
full-width likeness (:mod:`ragnostic.notify.literal`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ragnostic.notify.http_post import Reply
from ragnostic.notify.limiter import Rate
from ragnostic.notify.literal import literal, whole_line
from ragnostic.notify.message import Message, heading, message, severities
from ragnostic.notify.phrases import said
from ragnostic.notify.robot import Robot, RobotOptions
from ragnostic.notify.text_limits import parts
from ragnostic.ports import Delivery, Notice

LIMIT_BYTES = 4096
_BUSY = {-1: 10.0, 45009: 60.0}


class WeCom(Robot):
    """Markdown messages of at most 4,096 bytes, 20 a minute."""

    class Options(RobotOptions):
        """Nothing beside what every robot has."""

    rates: ClassVar = (Rate(20, 60.0),)

    def messages(self, told: Sequence[Notice], left_out: Sequence[Notice]) -> list[dict[str, Any]]:
        """One ``markdown`` message, or several that are numbered."""
        blocks = [self._block(message(notice, self.language)) for notice in told]
        everything = (*told, *left_out)
        if len(everything) > 1:
            blocks.insert(0, f"**{literal(heading(everything, self.language))}**")
        if left_out:
            kinds = severities(left_out, self.language)
            blocks.append(said("not shown", self.language, count=len(left_out), kinds=kinds))
        return [
            {"msgtype": "markdown", "markdown": {"content": text}}
            for text in parts(blocks, LIMIT_BYTES)
        ]

    def verdict(self, reply: Reply) -> Delivery:
        """By ``errcode``."""
        return self.coded(reply, "errcode", "errmsg", _BUSY)

    def _block(self, found: Message) -> str:
        colon = said("colon", self.language)
        title = f'### <font color="{_colour(found)}">{literal(found.title)}</font>'
        facts = [f"> {literal(label)}{colon}{literal(text)}" for label, text in found.facts]
        links = [f"> [{literal(label)}]({url})" for label, url in found.links]
        return "\n".join((title, *map(whole_line, found.sentences), *facts, *links))


def _colour(found: Message) -> str:
    """One of the three colours that the markup has: orange, green, grey."""
    if found.kind in {"resolved", "rebaselined"}:
        return "info"
    return "comment" if found.kind == "test" or found.severity == "P2" else "warning"
