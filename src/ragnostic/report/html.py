"""A page as one HTML file: no request leaves it and no script is needed to read it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragnostic.report import labels, numbers, words
from ragnostic.report.account_words import account_sentences, account_title, move_path
from ragnostic.report.catalogue import TAGS, Language, catalogue
from ragnostic.report.figures import bucket_labels, figures
from ragnostic.report.model import Page, RunData, build_page
from ragnostic.report.robustness_words import robustness_sentences
from ragnostic.report.set_words import set_sentences
from ragnostic.report.shapes import SMALL_SLICE
from ragnostic.report.unanswerable_words import unanswerable_sentence
from ragnostic.report.visible import excerpt, visible

if TYPE_CHECKING:
    from gettext import NullTranslations

    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
# Characters of a text: in an excerpt, when opened, in a list, in a compact list; a brief one needs
# no opening. They keep a page of 20 queries with long Chinese passages below 2 MB.
EXCERPT = 300
FULL = 1200
SHORT = 160
TINY = 72
BRIEF = 60
ANSWER_CASES = 20


def render_run(run: RunData, *, language: Language = "zh", worst: int = 20) -> str:
    """The report of a run as one self-contained HTML page.

    ``worst`` is how many of the worst queries are shown with their texts. The same run gives
    the same bytes. Raises :class:`~ragnostic.errors.UsageError` for an unknown language.
    """
    return render_page(build_page(run, worst), language=language)


def render_page(page: Page, *, language: Language = "zh") -> str:
    """A page model as HTML in one language."""
    from markupsafe import Markup  # noqa: PLC0415 - loaded with jinja2, on use

    text = catalogue(language)
    pages = environment(text)
    drawn = {name: Markup(svg) for name, svg in figures(page, text).items()}  # noqa: S704 - our SVG
    template = pages.get_template("report.html.j2")
    return template.render(page=page, figures=drawn, language=language, tag=TAGS[language])


def environment(text: NullTranslations) -> Environment:
    """The templates with the filters and sentences that all pages share; autoescape is on."""
    import jinja2  # noqa: PLC0415 - heavy, loaded on use

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_translations(text, newstyle=False)  # type: ignore[attr-defined] # added by the i18n extension
    made.filters.update(_filters(text))
    made.globals.update(
        EXCERPT=EXCERPT,
        FULL=FULL,
        SHORT=SHORT,
        TINY=TINY,
        BRIEF=BRIEF,
        SMALL_SLICE=SMALL_SLICE,
        ANSWER_CASES=ANSWER_CASES,
        bucket_labels=partial(bucket_labels, words=text),
        **{name: partial(function, words=text) for name, function in _SENTENCES.items()},
    )
    return made


_SENTENCES: dict[str, Callable[..., Any]] = {
    "account_sentences": account_sentences,
    "account_title": account_title,
    "caveats": words.caveats,
    "curve_sentence": words.curve_sentence,
    "dangling_sentence": words.dangling_sentence,
    "tail_sentence": words.tail_sentence,
    "first_look": words.first_look,
    "gain_sentence": words.gain_sentence,
    "gold_path": words.gold_path,
    "headline": words.headline,
    "move_path": move_path,
    "place_advice": labels.place_advice,
    "robustness_sentences": robustness_sentences,
    "set_sentences": set_sentences,
    "tile_note": words.tile_note,
    "unanswerable_sentence": unanswerable_sentence,
    "worst_lead": words.worst_lead,
}


def _filters(text: NullTranslations) -> dict[str, Any]:
    return {
        "bound": numbers.bound,
        "canonical": labels.canonical,
        "decimal": numbers.decimal,
        "excerpt": lambda value, limit=EXCERPT: visible(excerpt(value, limit)),
        "fault": partial(labels.fault_label, words=text),
        "full": lambda value: visible(_cut(value), newlines=True),
        "grade": numbers.grade,
        "heading": lambda name: visible(labels.heading(name, text)),
        "label": partial(labels.metric_label, words=text),
        "milliseconds": numbers.milliseconds,
        "moment": moment,
        "place": partial(labels.place_label, words=text),
        "reading": partial(labels.metric_reading, words=text),
        "score": numbers.score,
        "share": numbers.percent,
        "signed": numbers.signed,
        "stage": partial(words.stage_label, words=text),
        "track": track,
        "visible": visible,
        "whole": numbers.whole,
    }


def _cut(text: str) -> str:
    return text if len(text) <= FULL else text[:FULL].rstrip() + "…"


def moment(created: str) -> str:
    """An ISO time to the minute, in UTC as it was written.

    >>> moment("2026-11-30T18:53:19.12Z"), moment("yesterday")
    ('2026-11-30 18:53 UTC', 'yesterday')
    """
    if len(created) >= 16 and created[10] == "T":
        return f"{created[:10]} {created[11:16]} UTC"
    return visible(created)


def track(value: float | None) -> str:
    """A value in [0, 1] as a CSS percentage.

    >>> track(0.123456), track(1.2), track(None)
    ('12.35%', '100%', '0%')
    """
    return f"{100 * min(max(value or 0.0, 0.0), 1.0):.4g}%"
