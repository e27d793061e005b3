"""An incoming webhook of Slack.

What its documentation says (Sending messages using incoming webhooks, Rate limits, Formatting
message text, Block Kit; docs.slack.dev): POST of JSON to an address that is itself the secret;
success is HTTP 200 with the body ``ok``; 400 ``invalid_payload``, 403 ``action_prohibited``, 404
``no_service`` or ``channel_not_found`` and 410 ``channel_is_archived`` stay as they are; 429 says
in ``Retry-After`` how long to wait (one message a second, short bursts allowed); 5xx may pass. A
message has at most 50 blocks, a text object 1 to 3,000 characters, a header 150. ``&``, ``<`` and
``>`` are written as entities, so that ``<!channel>`` is no mention; texts of others stand in
``plain_text`` objects, in which nothing else is markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ragnostic.notify.http_post import Reply
from ragnostic.notify.limiter import Rate
from ragnostic.notify.literal import literal, unlinked
from ragnostic.notify.message import SENDER, Message, heading, message, severities
from ragnostic.notify.phrases import said
from ragnostic.notify.robot import Robot, RobotOptions
from ragnostic.notify.text_limits import cut, numbered, packed, split, utf16_units
from ragnostic.ports import Delivery, Notice

LIMIT_BLOCKS = 50
LIMIT_TEXT = 3000
LIMIT_HEADER = 150
_LIMIT_FALLBACK = 1000
_GROUP_BLOCKS = 20
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

_Blocks = list[dict[str, Any]]


def escaped(text: str) -> str:
    """``text`` with the three characters that Slack parses as entities.

    >>> escaped("<!channel> & more")
    '&lt;!channel&gt; &amp; more'
    """
    return text.translate(_ENTITIES)


class Slack(Robot):
    """Messages of blocks, one a second."""

    class Options(RobotOptions):
        """Nothing beside what every robot has."""

    rates: ClassVar = (Rate(1, 1.0),)

    def messages(self, told: Sequence[Notice], left_out: Sequence[Notice]) -> list[dict[str, Any]]:
        """One message, or several that are numbered."""
        everything = (*told, *left_out)
        words = [message(notice, self.language) for notice in told]
        alone = len(everything) == 1
        groups = [group for found in words for group in self._blocks(found, alone=alone)]
        if left_out:
            kinds = severities(left_out, self.language)
            text = said("not shown", self.language, count=len(left_out), kinds=kinds)
            groups.append([_section(escaped(text))])
        found = packed(groups, LIMIT_BLOCKS - 1, len, gap=1)
        title = f"{SENDER} {words[0].title}" if alone else heading(everything, self.language)
        return [
            self._message(head, blocks)
            for head, blocks in zip(numbered(title, len(found)), found, strict=True)
        ]

    def verdict(self, reply: Reply) -> Delivery:
        """By the status; the body of a success is ``ok``, anything else is not Slack's."""
        if not reply.ok:
            return reply.refusal()
        if reply.body.strip() == b"ok":
            return Delivery(delivered=True)
        return self.not_the_vendor(reply)

    def _message(self, title: str, groups: Sequence[_Blocks]) -> dict[str, Any]:
        blocks = [block for group in groups for block in (_DIVIDER, *group)][1:]
        # Shown by notifications of the system; Slack parses it, so nothing of it may be markup.
        fallback = escaped(cut(literal(title), _LIMIT_FALLBACK, size=_units))
        return {
            "text": fallback,
            "blocks": [_header(title), *blocks],
            "unfurl_links": False,
            "unfurl_media": False,
        }

    def _blocks(self, found: Message, *, alone: bool) -> list[_Blocks]:
        """The blocks of one notice, in groups of which each fits into a message."""
        colon = said("colon", self.language)
        facts = [f"{label}{colon}{text}" for label, text in found.facts]
        head = [] if alone else [found.title]
        text = "\n".join(map(unlinked, (*head, *found.sentences, *facts)))
        blocks = [_section(escaped(piece)) for piece in split(text, LIMIT_TEXT, size=_units)]
        if found.links:
            links = "\n".join(
                f"<{escaped(url)}|{escaped(literal(label))}>" for label, url in found.links
            )
            linked = {"type": "mrkdwn", "text": links, "verbatim": True}
            blocks.append({"type": "section", "text": linked})
        return packed(blocks, _GROUP_BLOCKS, lambda _: 1)


_DIVIDER: dict[str, Any] = {"type": "divider"}


def _units(text: str) -> int:
    """Characters as Slack receives them."""
    return utf16_units(escaped(text))


def _header(text: str) -> dict[str, Any]:
    kept = escaped(cut(unlinked(text), LIMIT_HEADER, size=_units))
    return {"type": "header", "text": {"type": "plain_text", "text": kept, "emoji": False}}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}
