"""A sweep as one HTML file: the table, and quality against latency."""

from __future__ import annotations

from functools import partial
from gettext import NullTranslations
from typing import TYPE_CHECKING

from ragnostic.report import comparison_words
from ragnostic.report.axis import reach_of, span_of
from ragnostic.report.catalogue import TAGS, Language, catalogue
from ragnostic.report.charts import render_chart
from ragnostic.report.comparison_html import reach_label
from ragnostic.report.html import environment
from ragnostic.report.labels import canonical
from ragnostic.report.numbers import decimal, milliseconds, signed
from ragnostic.report.sweep_drawing import pareto_chart
from ragnostic.report.sweep_view import SweepRow, SweepView
from ragnostic.report.visible import visible

if TYPE_CHECKING:
    from ragnostic.report.comparison_page import Span

_POINTS = 2
"""Fewer say nothing about quality against latency."""


def render_sweep(view: SweepView, language: Language = "zh") -> str:
    """A sweep as one self-contained HTML page; the same view gives the same bytes.

    Raises :class:`~ragnostic.errors.UsageError` for an unknown language.
    """
    from markupsafe import Markup  # noqa: PLC0415 - loaded with jinja2, on use

    words = catalogue(language)
    pages = environment(words)
    pages.filters.update(
        finding=partial(comparison_words.finding_label, words=words),
        probability=comparison_words.probability,
        reach_label=reach_label,
    )
    pages.globals.update(
        sweep_headline=partial(sweep_headline, words=words),
        rivals_sentence=partial(rivals_sentence, words=words),
        base_sentence=partial(base_sentence, words=words),
    )
    reach = reach_of(row.difference for row in view.rows if row.difference is not None)
    return pages.get_template("sweep.html.j2").render(
        view=view,
        spans={row.name: _span(row, reach) for row in view.rows},
        reach=reach,
        picture=Markup(_picture(view, words)),  # noqa: S704 - our own SVG
        language=language,
        tag=TAGS[language],
    )


def _span(row: SweepRow, reach: float) -> Span | None:
    return None if row.difference is None else span_of(row.difference, reach)


def _picture(view: SweepView, words: NullTranslations) -> str:
    rows = [row for row in view.rows if row.p50_ms is not None and _mean(row, view) is not None]
    if len(rows) < _POINTS:
        return ""
    name = canonical(view.metric)
    latency = words.gettext("median latency of a query, ms")
    return render_chart(
        pareto_chart(rows, view.metric, x=latency, y=name),
        key="pareto",
        title=words.gettext("%(metric)s against latency") % {"metric": name},
        summary="; ".join(
            f"{row.name}: {decimal(_mean(row, view), 3)}, {milliseconds(row.p50_ms)}"
            for row in rows
        ),
    )


def _mean(row: SweepRow, view: SweepView) -> float | None:
    return row.means[view.metric].mean


def sweep_headline(view: SweepView, words: NullTranslations) -> str:
    """The best combination in one sentence."""
    name = canonical(view.metric)
    if view.best is None:
        return words.gettext("No combination has a %(metric)s.") % {"metric": name}
    return words.gettext("Best: %(name)s, with %(metric)s %(mean)s.") % {
        "name": visible(view.best.name),
        "metric": name,
        "mean": decimal(_mean(view.best, view), 3),
    }


def base_sentence(view: SweepView, words: NullTranslations) -> str:
    """The best beside the baseline; empty where it is the baseline."""
    best = view.best
    if best is None or best.difference is None or best.finding is None:
        return ""
    return words.gettext("Against the baseline %(name)s: %(difference)s (%(finding)s).") % {
        "name": visible(view.baseline),
        "difference": signed(best.difference.value, 3),
        "finding": comparison_words.finding_label(best.finding, words),
    }


def rivals_sentence(view: SweepView, words: NullTranslations) -> str:
    """How many others may be as good; empty where nothing is best or alone."""
    count = len(view.rivals)
    if view.best is None or not (count or view.others_are_worse):
        return ""
    if not count:
        return words.gettext("All others are worse, beyond chance.")
    return words.gettext(
        "%(count)s of the %(others)s others cannot be told apart from it; they are marked ≈."
    ) % {"count": count, "others": len(view.rows) - 1}
