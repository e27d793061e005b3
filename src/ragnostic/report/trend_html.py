"""The runs of one evaluation set over time, as one HTML file without script."""

from __future__ import annotations

from functools import partial
from gettext import NullTranslations

from ragnostic.report.catalogue import TAGS, Language, catalogue
from ragnostic.report.charts import render_chart
from ragnostic.report.comparison_html import bounds
from ragnostic.report.html import environment
from ragnostic.report.labels import canonical
from ragnostic.report.trend_drawings import trend_chart
from ragnostic.report.trend_model import build_trend
from ragnostic.report.trend_page import TrendPage
from ragnostic.report.trend_view import TrendView
from ragnostic.report.trend_words import line_summary, trend_headline, turn_sentence


def render_trend(view: TrendView, language: Language = "zh") -> str:
    """The runs of one evaluation set, as one self-contained HTML page.

    The same view gives the same bytes; at most 200 runs are shown, the latest ones. Raises
    :class:`~ragnostic.errors.UsageError` for an unknown language.
    """
    from markupsafe import Markup  # noqa: PLC0415 - loaded with jinja2, on use

    page = build_trend(view)
    text = catalogue(language)
    pages = environment(text)
    pages.filters.update(bounds=bounds, line_summary=partial(line_summary, words=text))
    pages.globals.update(
        trend_headline=partial(trend_headline, words=text),
        turn_sentence=partial(turn_sentence, words=text),
    )
    drawn = [Markup(svg) for svg in _figures(page, text)]  # noqa: S704 - our SVG
    template = pages.get_template("trend.html.j2")
    return template.render(page=page, figures=drawn, language=language, tag=TAGS[language])


def _figures(page: TrendPage, text: NullTranslations) -> list[str]:
    """A chart a line, in order."""
    return [
        render_chart(
            trend_chart(
                line,
                page.marks,
                first=page.rows[0].number,
                last=page.rows[-1].number,
                x=text.gettext("run"),
            ),
            key=f"trend-{at}",
            title=canonical(line.metric),
            summary=line_summary(line, text),
        )
        for at, line in enumerate(page.lines, 1)
    ]
