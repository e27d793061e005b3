"""A notice in words: what happened, against what, how sure, since when, and where to go on.

The words are plain text in Chinese or English. They may hold what a user asked, so a channel makes
every one of them harmless in its own markup before it sends them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from ragnostic.notify.literal import link_url
from ragnostic.notify.phrases import Language, said
from ragnostic.notify.sentences import (
    bracketed,
    free_text,
    number,
    slice_words,
    title,
    what_happened,
)
from ragnostic.ports import Notice, NoticeKind, Severity

SENDER = "Ragnostic"
"""Stands in every message, so that a robot may be made to take only texts that hold it."""

_KINDS: tuple[NoticeKind, ...] = ("firing", "repeat", "rebaselined", "resolved", "test")


@dataclass(frozen=True, slots=True)
class Message:
    """One notice in words. ``facts`` are pairs of a label and a text, ``links`` of a label and an
    http(s) address that is safe inside of markup.
    """

    severity: Severity
    kind: NoticeKind
    title: str
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]


def urgent_first(notices: Sequence[Notice]) -> list[Notice]:
    """P0 before P1 before P2; within one, what fires before what is over; else as given."""
    return sorted(notices, key=lambda one: (one.severity, _KINDS.index(one.kind)))


def message(notice: Notice, language: Language) -> Message:
    """The words for one notice; every part is one line without control characters.

    >>> from datetime import UTC, datetime
    >>> hour = (datetime(2026, 1, 5, 5, tzinfo=UTC), datetime(2026, 1, 5, 6, tzinfo=UTC))
    >>> given = ("k", "firing", "P1", "mrr-drop", "RR@5", 0.691, 0.812, "baseline", 1234)
    >>> notice = Notice(*given, hour[0], hour, "Asia/Shanghai", slice={"category": "refunds"})
    >>> found = message(notice, "en")
    >>> found.title
    '[P1] MRR@5 fell (category = refunds)'
    >>> found.sentences[0]
    'MRR@5 (mean reciprocal rank) fell from 0.812 (baseline) to 0.691: −0.121 (−15%).'
    >>> dict(found.facts)["Window"]
    '2026-01-05 13:00–14:00 (Asia/Shanghai)'
    """
    summary = "" if _is_over(notice) else free_text(_spoken(notice.summary, language), language)
    links, unlinked = _links(notice, language)
    return Message(
        notice.severity,
        notice.kind,
        title(notice, language),
        tuple(filter(None, (what_happened(notice, language), summary))),
        (*_facts(notice, language), *unlinked),
        links,
    )


def plain(found: Message, language: Language) -> str:
    """A message as text of several lines, for channels without markup.

    >>> print(plain(Message("P0", "firing", "[P0] down", ("It is.",), (("Rule", "r"),), ()), "en"))
    [P0] down
    It is.
    Rule: r
    """
    pairs = (f"{label}{said('colon', language)}{text}" for label, text in found.facts + found.links)
    return "\n".join((found.title, *found.sentences, *pairs))


def heading(notices: Sequence[Notice], language: Language) -> str:
    """What several notices are together: how many of which severity; "" for one.

    >>> heading([], "en")
    ''
    """
    if len(notices) < 2:
        return ""
    return said("several", language, count=len(notices), kinds=severities(notices, language))


def severities(notices: Sequence[Notice], language: Language) -> str:
    """How many of each severity, the worst first, such as ``P0 × 1, P2 × 3``."""
    counts = Counter(notice.severity for notice in notices)
    return said("comma", language).join(f"{name} × {counts[name]}" for name in sorted(counts))


def _is_over(notice: Notice) -> bool:
    """Whether there is nothing left to look into."""
    return notice.kind in {"resolved", "rebaselined"}


def _spoken(texts: Mapping[str, str], language: Language) -> str:
    """A text in this language, else in the one that it was written in."""
    return texts.get(language) or next(iter(texts.values()), "")


def _facts(notice: Notice, language: Language) -> list[tuple[str, str]]:
    zone = _zone(notice.zone)
    pairs = (
        ("measured", _measured(notice, language)),
        ("window", bracketed(_span(*notice.window, zone), str(zone), language)),
        ("since", bracketed(_minute(notice.since.astimezone(zone)), str(zone), language)),
        ("stage", notice.stage),
        ("worst query", "" if _is_over(notice) else notice.worst_query),
        ("likely cause", "" if _is_over(notice) else _spoken(notice.likely_cause, language)),
        ("owner", notice.owner),
        ("rule", notice.rule),
    )
    found = [(said(key, language), free_text(text, language)) for key, text in pairs]
    return [*slice_words(notice, language), *((label, text) for label, text in found if text)]


def _measured(notice: Notice, language: Language) -> str:
    if notice.value is None:
        return f"n = {notice.n:,}"
    shown = [
        number(notice.metric, one, language) for one in (notice.value, notice.low, notice.high)
    ]
    phrase = "counted" if notice.low is None or notice.high is None else "interval"
    names = dict(zip(("value", "low", "high"), shown, strict=True))
    return said(phrase, language, n=f"{notice.n:,}", **names)


def _links(
    notice: Notice, language: Language
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Addresses that can be followed, and those that are only words (a file, say)."""
    given = ((said("runbook", language), notice.runbook), (said("link", language), notice.link))
    linked = tuple((label, link_url(url)) for label, url in given if link_url(url))
    unlinked = tuple(
        (label, free_text(url, language)) for label, url in given if url and not link_url(url)
    )
    return linked, unlinked


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # not installed on this machine, or no name of a zone
        return UTC


def _span(start: datetime, end: datetime, zone: tzinfo) -> str:
    """A window in a zone, as short as it can be read without a doubt."""
    first, last = start.astimezone(zone), end.astimezone(zone)
    midnights = f"{first:%H:%M:%S}{last:%H:%M:%S}" == "00:00:00" * 2
    days = (last.date() - first.date()).days
    if midnights and days == 1:
        return f"{first:%Y-%m-%d}"
    if days == 0:
        return f"{_minute(first)}–{last:%H:%M}"
    if days == 1 and f"{last:%H:%M}" == "00:00":
        return f"{_minute(first)}–24:00"
    return f"{_minute(first)}–{_minute(last)}"


def _minute(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M}"
