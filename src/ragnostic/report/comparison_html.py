"""A comparison as one HTML file: no request leaves it, and its filters need no script."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from gettext import NullTranslations
from typing import TYPE_CHECKING, Any

from ragnostic.report import comparison_words as words
from ragnostic.report.announced import in_words
from ragnostic.report.catalogue import TAGS, Language, catalogue
from ragnostic.report.charts import render_chart
from ragnostic.report.comparison_drawings import difference_chart, slope_chart
from ragnostic.report.comparison_model import build_comparison
from ragnostic.report.comparison_page import ComparisonPage, Histogram, Slopes
from ragnostic.report.comparison_view import ComparisonView
from ragnostic.report.gate_remarks import rule_remark
from ragnostic.report.html import environment
from ragnostic.report.numbers import NOTHING, bound

if TYPE_CHECKING:
    from jinja2 import Environment

    from ragnostic.stats.gates import RuleResult
    from ragnostic.stats.paired import Difference


def render_comparison(view: ComparisonView, language: Language = "zh") -> str:
    """Two systems compared, as one self-contained HTML page.

    The same view gives the same bytes, below 10 MB for any number of queries: at most 200 that
    differ are listed. Raises :class:`~ragnostic.errors.UsageError` for an unknown language.
    """
    return render_comparison_page(build_comparison(view), language)


def render_comparison_page(page: ComparisonPage, language: Language = "zh") -> str:
    """A comparison page model as HTML in one language."""
    from markupsafe import Markup  # noqa: PLC0415 - loaded with jinja2, on use

    text = catalogue(language)
    drawn = {name: Markup(svg) for name, svg in _figures(page, text).items()}  # noqa: S704 - our SVG
    sides = (page.only_base, page.only_candidate, page.missing_base, page.missing_candidate)
    return (
        _pages(text)
        .get_template("comparison.html.j2")
        .render(
            page=page,
            figures=drawn,
            apart=any(side.total for side in sides),
            language=language,
            tag=TAGS[language],
        )
    )


_SENTENCES: tuple[Callable[..., Any], ...] = (
    words.comparison_caveats,
    words.comparison_headline,
    words.doubt_sentence,
    words.gate_sentence,
    words.interval_sentence,
    words.method_sentence,
    words.others_sentence,
    words.rank_path,
    words.rule_reason,
    words.slice_label,
    words.slopes_sentence,
)


def _pages(text: NullTranslations) -> Environment:
    pages = environment(text)
    pages.filters.update(
        filter_name=partial(words.filter_label, words=text),
        finding=partial(words.finding_label, words=text),
        bounds=bounds,
        colour=words.colour_of,
        probability=words.probability,
        reach_label=reach_label,
        in_words=partial(in_words, words=text),
        remark=partial(rule_remark, words=text),
    )
    pages.globals.update(is_change=words.is_change)
    pages.globals.update(
        {sentence.__name__: partial(sentence, words=text) for sentence in _SENTENCES}
    )
    return pages


def _figures(page: ComparisonPage, text: NullTranslations) -> dict[str, str]:
    drawn: dict[str, str] = {}
    if page.histogram is not None:
        drawn["differences"] = _differences(page.histogram, text)
    if page.slopes is not None:
        drawn["slopes"] = _slopes(page.slopes, text)
    return drawn


def _differences(histogram: Histogram, text: NullTranslations) -> str:
    chart = difference_chart(histogram, x=text.gettext("difference"), y=text.gettext("queries"))
    return render_chart(
        chart,
        key="differences",
        title=text.gettext("Difference of each query, %(metric)s") % {"metric": histogram.metric},
        summary="; ".join(
            f"{reach_label(low)} … {reach_label(high)}: {count}"
            for low, high, count in histogram.bars
        ),
    )


def _slopes(slopes: Slopes, text: NullTranslations) -> str:
    none = text.gettext("none")
    chart = slope_chart(
        slopes, before=text.gettext("Base"), after=text.gettext("Candidate"), none=none
    )
    return render_chart(
        chart,
        key="slopes",
        title=text.gettext("Rank of the first relevant passage"),
        summary="; ".join(
            f"{first or none} → {last or none}: {count}" for first, last, count in slopes.paths
        ),
    )


def bounds(interval: Difference | RuleResult, signs: str = "+") -> str:
    """The ends of an interval, to three places; with ``signs`` empty a plus is not written.

    >>> from ragnostic.stats.paired import Difference
    >>> bounds(Difference(n=9, low=-0.0712, high=0.0)), bounds(Difference())
    ('[−0.071, 0.000]', '–')
    """
    if interval.low is None or interval.high is None:
        return NOTHING
    ends = (bound(end, 3).lstrip("±") for end in (interval.low, interval.high))
    return "[" + ", ".join(end if signs else end.lstrip("+") for end in ends) + "]"


def reach_label(value: float | None) -> str:
    """An end of an axis around 0, as short as it can be.

    >>> reach_label(0.05), reach_label(-0.1), reach_label(0.0), reach_label(None)
    ('+0.05', '−0.1', '0', '–')
    """
    if value is None:
        return NOTHING
    return f"{value:+.4g}".replace("-", "−") if value else "0"
