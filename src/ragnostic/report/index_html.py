"""The check of a vector index as one HTML file, and its curve as a picture of its own."""

from __future__ import annotations

from functools import partial
from gettext import NullTranslations
from pathlib import Path
from typing import Any

from ragnostic.corpus.index_check import IndexCheck
from ragnostic.corpus.index_recall import Point
from ragnostic.errors import StoreError, UsageError
from ragnostic.report.catalogue import TAGS, Language, catalogue
from ragnostic.report.charts import plain_chart, render_chart
from ragnostic.report.html import environment
from ragnostic.report.index_drawing import curve_chart
from ragnostic.report.index_words import index_advice, index_fact, index_title
from ragnostic.report.numbers import decimal, milliseconds

_POINTS = 2
"""Fewer leave nothing to choose."""


def render_index(found: IndexCheck, language: Language = "zh") -> str:
    """The check as one self-contained HTML page; the same check gives the same bytes.

    Raises :class:`~ragnostic.errors.UsageError` for an unknown language.
    """
    from markupsafe import Markup  # noqa: PLC0415 - loaded with jinja2, on use

    words = catalogue(language)
    pages = environment(words)
    pages.globals.update(
        headline=partial(headline, words=words),
        curve_sentence=partial(curve_sentence, words=words),
        index_title=partial(index_title, words=words),
        index_advice=partial(index_advice, words=words),
        index_fact=partial(index_fact, words=words),
    )
    return pages.get_template("index.html.j2").render(
        found=found,
        picture=Markup(_picture(found, words)),  # noqa: S704 - our own SVG
        language=language,
        tag=TAGS[language],
    )


def write_curve(target: Path, found: IndexCheck, language: Language = "zh") -> None:
    """The curve as ``.svg`` or ``.png``. Raises UsageError where there is no
    curve, StoreError where the file cannot be written.
    """
    if len(found.curve) < _POINTS:
        raise UsageError(
            f"{target.name}: there is no curve: the index has no effort to choose, or no query "
            "could be embedded in its dimension"
        )
    words = catalogue(language)
    drawn = plain_chart(_chart(found, words), png=target.suffix.lower() == ".png")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(drawn)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}") from error


def _chart(found: IndexCheck, words: NullTranslations) -> Any:
    return curve_chart(
        found.curve,
        found.target,
        x=words.gettext("median time of a search, ms"),
        y=words.gettext("recall of the exact top %(k)s") % {"k": found.k},
    )


def _picture(found: IndexCheck, words: NullTranslations) -> str:
    if len(found.curve) < _POINTS:
        return ""
    return render_chart(
        _chart(found, words),
        key="curve",
        title=words.gettext("Recall against time"),
        summary="; ".join(_told(point, found) for point in found.curve),
    )


def _told(point: Point, found: IndexCheck) -> str:
    return (
        f"{found.effort} {point.effort}: {decimal(point.recall, 3)}, {milliseconds(point.p50_ms)}"
    )


def headline(found: IndexCheck, words: NullTranslations) -> str:
    """The verdict in one sentence."""
    count = len(found.findings)
    if not count:
        return words.gettext("Nothing was found.")
    return words.ngettext(
        "%(count)s thing is wrong with the index.",
        "%(count)s things are wrong with the index.",
        count,
    ) % {"count": count}


def curve_sentence(found: IndexCheck, words: NullTranslations) -> str:
    """Which effort to choose; empty where there is none to choose."""
    if not found.effort or not found.curve:
        return ""
    facts = {"effort": found.effort, "target": found.target, "value": ""}
    if found.advice is None:
        return words.gettext("No %(effort)s that was tried reaches %(target)s.") % facts
    facts["value"] = str(found.advice.effort)
    if found.advice.usual:
        return words.gettext("%(effort)s = %(value)s, as it is set, is a good choice.") % facts
    return words.gettext("The quickest that reaches %(target)s is %(effort)s = %(value)s.") % facts
