"""What happened, in a title and a sentence: which metric, which way, from what to what."""

from __future__ import annotations

import math

from ragnostic.notify.literal import one_line
from ragnostic.notify.phrases import Language, metric_label, metric_name, said, slice_label
from ragnostic.notify.text_limits import cut
from ragnostic.ports import Notice

_LONGEST = 300
"""Characters of one free text in a message; a query may be a whole document."""
_LONGEST_TITLE = 120
_SHARES = ("coverage", "empty", "failed")
_LATENCY = "latency"
_FINEST = 6


def title(notice: Notice, language: Language) -> str:
    """The shortest telling of a notice: severity, metric, which way, where; 120 characters."""
    metric = free_text(metric_name(notice.metric, language), language)
    words = (
        ("changed", "above", "below") if notice.against == "limit" else ("changed", "rose", "fell")
    )
    state = said(words[_direction(notice)], language, metric=metric)
    if notice.kind != "firing":
        state = said(f"title {notice.kind}", language, state=state, metric=metric)
    pairs = (f"{column} = {value}" for column, value in slice_words(notice, language))
    where = said("comma", language).join(pairs)
    whole = f"[{notice.severity}] {bracketed(state, where, language)}"
    return cut(whole, _LONGEST_TITLE, size=len)


def what_happened(notice: Notice, language: Language) -> str:
    """What was measured against what, in a sentence."""
    label = metric_label(notice.metric, language)
    named = free_text(metric_name(notice.metric, language), language)
    if label and label not in named:
        named = bracketed(named, label, language)
    elif language == "zh":
        named += " "
    finer = _finer(notice)
    sentence = said(
        _phrase(notice),
        language,
        named=named,
        value=number(notice.metric, notice.value, language, finer=finer),
        reference=number(notice.metric, notice.reference, language, finer=finer),
        against=_against(notice.against, language),
        change=_change(notice, language, finer),
    )
    prefix = notice.kind in {"repeat", "test"}
    return (said(f"prefix {notice.kind}", language) if prefix else "") + sentence


def number(metric: str, value: float | None, language: Language = "en", *, finer: int = 0) -> str:
    """A value of a metric as a person reads it; a time from its seconds, a share in percent.

    ``finer`` are further places, for what differs by less.

    >>> number("MRR@5", 0.6914), number("RDS", 0.01234), number("empty", 0.031)
    ('0.691', '0.0123', '3.1%')
    >>> number("latency:p95", 1.234), number("latency:p95", 0.0451), number("QER@5", None)
    ('1.23 s', '45 ms', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    family = metric.partition(":")[0]
    if family in _SHARES:
        return f"{100 * value:.{1 + finer}f}%"
    if family == _LATENCY:
        unit = ("s", "ms") if language == "en" else ("秒", "毫秒")
        seconds = f"{value:.{2 + finer}f} {unit[0]}"
        return seconds if abs(value) >= 1 else f"{1000 * value:.{finer}f} {unit[1]}"
    size = abs(value)
    return f"{value:.{finer + (4 if size < 0.1 else 3 if size < 10 else 1)}f}"


def free_text(text: str, language: Language) -> str:
    """A text of others: one line, no longer than a message can bear, saying what is left out."""
    kept = one_line(text)
    if len(kept) <= _LONGEST:
        return kept
    short = cut(kept, _LONGEST, note="", size=len)
    return short + said("left out", language, count=len(kept) - len(short))


def bracketed(text: str, inside: str, language: Language) -> str:
    """``text`` with a remark in the brackets of the language.

    >>> bracketed("fell", "", "en"), bracketed("下降", "退款", "zh")
    ('fell', '下降（退款）')
    """
    if not inside:
        return text
    return f"{text} ({inside})" if language == "en" else f"{text}（{inside}）"


def slice_words(notice: Notice, language: Language) -> list[tuple[str, str]]:
    """Column and value of where it happened, both in words."""
    return [
        (free_text(slice_label(column, language), language), free_text(value, language) or "–")
        for column, value in sorted(notice.slice.items())
    ]


def _direction(notice: Notice) -> int:
    """-1 for a value below what it is compared with, 1 above, 0 where neither is known."""
    value, reference = notice.value, notice.reference
    if value is None or reference is None or not math.isfinite(value - reference):
        return 0
    return (value > reference) - (value < reference)


def _phrase(notice: Notice) -> str:
    """Which sentence says it."""
    known = notice.reference is not None and math.isfinite(notice.reference)
    if notice.value is None or not math.isfinite(notice.value):
        return "over" if notice.kind == "resolved" else "is nothing"
    if notice.kind == "rebaselined":
        return "rebaselined"
    if not known:
        return "is alone"
    if notice.kind == "resolved":
        return "back"
    words = ("is compared", "is above", "is below")
    if notice.against != "limit":
        words = ("is compared", "rose from", "fell from")
    return words[_direction(notice)]


def _against(against: str, language: Language) -> str:
    known = against in {"limit", "baseline", "yesterday", "last week"}
    return said(against, language) if known else free_text(against, language)


def _finer(notice: Notice) -> int:
    """How many more places it takes to tell the two numbers apart."""
    if not _direction(notice):
        return 0
    metric, value, reference = notice.metric, notice.value, notice.reference
    telling = (
        places
        for places in range(_FINEST)
        if number(metric, value, finer=places) != number(metric, reference, finer=places)
    )
    return next(telling, _FINEST)


def _change(notice: Notice, language: Language, finer: int) -> str:
    if not _direction(notice) or notice.value is None or notice.reference is None:
        return ""
    difference = notice.value - notice.reference
    sign = "+" if difference > 0 else "−"
    told = sign + number(notice.metric, abs(difference), language, finer=finer)
    if notice.metric.partition(":")[0] in _SHARES or notice.reference <= 0:
        return told
    share = abs(difference) / notice.reference
    part = f"{sign}{100 * share:.0f}%"
    return bracketed(told, part, language)
