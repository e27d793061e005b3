"""The letter about notices: every word in text and in HTML, where all of it is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ragnostic.notify.channel import Charts
from ragnostic.notify.letter import Letter
from ragnostic.notify.message import SENDER, Message, heading, message, plain
from ragnostic.notify.phrases import Language
from ragnostic.notify.webhook import notice_id
from ragnostic.ports import Notice

_COLOURS = {"P0": "#b42318", "P1": "#b54708", "P2": "#475467"}
_CALM = "#067647"
_OVER = frozenset({"resolved", "rebaselined"})


def notices_letter(notices: Sequence[Notice], language: Language, charts: Charts) -> Letter:
    """The letter that tells of notices, given the most severe first.

    Of one notice its title is the subject, so that its thread has one name.
    """
    words = [message(notice, language) for notice in notices]
    images = {
        f"chart-{place}-{number}": png
        for place, notice in enumerate(notices)
        for number, png in enumerate(charts(notice).values())
    }
    sections = [
        _section(found, [name for name in images if name.startswith(f"chart-{place}-")])
        for place, found in enumerate(words)
    ]
    title = heading(notices, language) or words[0].title
    text = "\n\n".join(plain(found, language) for found in words)
    head = heading(notices, language)
    single = len(notices) == 1 and notices[0].kind == "firing"
    identities = [notice_id(notice) for notice in notices]
    return Letter(
        subject=f"{SENDER} {title}",
        text=f"{head}\n\n{text}" if head else text,
        html=_page(head, sections, language),
        images=images,
        # The first letter about an episode is the root of its thread.
        identity=notices[0].key if single else "\n".join(identities),
        threads=[notice.key for notice in notices],
        urgent=any(one.severity == "P0" and one.kind not in _OVER for one in notices),
    )


def _page(head: str, sections: Sequence[str], language: Language) -> str:
    tag = "zh-CN" if language == "zh" else "en"
    title = f"<p><b>{escape(head)}</b></p>" if head else ""
    style = "font:15px/1.5 sans-serif;color:#101828;max-width:44em"
    return (
        f'<!doctype html><html lang="{tag}"><head><meta charset="utf-8"></head>'
        f'<body style="{style}">{title}{"".join(sections)}</body></html>'
    )


def _section(found: Message, images: Sequence[str]) -> str:
    colour = _CALM if found.kind in _OVER else _COLOURS[found.severity]
    sentences = "".join(f'<p style="margin:4px 0">{escape(text)}</p>' for text in found.sentences)
    facts = "".join(
        f'<tr><th align="left" style="padding:2px 16px 2px 0;font-weight:400;color:#475467">'
        f'{escape(label)}</th><td style="padding:2px 0">{escape(text)}</td></tr>'
        for label, text in found.facts
    )
    links = "".join(
        f'<p style="margin:4px 0"><a href="{escape(url)}">{escape(label)}</a></p>'
        for label, url in found.links
    )
    charts = "".join(
        f'<p><img src="cid:{name}" alt="{escape(found.title)}" style="max-width:100%"></p>'
        for name in images
    )
    return (
        f'<div style="border-left:4px solid {colour};padding:0 0 0 12px;margin:0 0 24px">'
        f'<h2 style="font-size:17px;margin:0 0 4px;color:{colour}">{escape(found.title)}</h2>'
        f'{sentences}{charts}<table cellspacing="0">{facts}</table>{links}</div>'
    )
