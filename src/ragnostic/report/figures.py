"""The figures of one page: charts drawn, with titles and summaries in the page's language."""

from __future__ import annotations

from collections.abc import Sequence
from gettext import NullTranslations

from ragnostic.report.charts import render_chart
from ragnostic.report.drawings import bars_chart, recall_chart
from ragnostic.report.page import Bars, Page
from ragnostic.report.visible import run_on
from ragnostic.report.words import curve_sentence, stage_label


def figures(page: Page, words: NullTranslations) -> dict[str, str]:
    """Name of a figure → SVG; a figure without data is absent."""
    drawn: dict[str, str] = {}
    if page.curves:
        drawn["curve"] = _curve(page, words)
    if page.scores is not None and page.scores_metric is not None:
        drawn["scores"] = render_chart(
            bars_chart(
                page.scores,
                page.scores.buckets,
                x=page.scores_metric,
                y=words.gettext("queries"),
            ),
            key="scores",
            title=words.gettext("Queries by %(metric)s") % {"metric": page.scores_metric},
            summary=_bars_summary(page.scores, page.scores.buckets, words),
        )
    if page.ranks is not None:
        labels = bucket_labels(page.ranks, words)
        drawn["ranks"] = render_chart(
            bars_chart(page.ranks, labels, x=words.gettext("rank"), y=words.gettext("queries")),
            key="ranks",
            title=words.gettext("Rank of the first relevant passage"),
            summary=_bars_summary(page.ranks, labels, words),
        )
    return drawn


def _curve(page: Page, words: NullTranslations) -> str:
    chart = recall_chart(
        page.curves,
        x=words.gettext("depth K"),
        y=words.gettext("recall R(K)"),
        half=words.gettext("half-life"),
        plateau=words.gettext("90–95%"),
    )
    summary = run_on(
        f"{stage_label(curve.stage, words)}: {curve_sentence(curve, words)}"
        for curve in page.curves
    )
    title = words.gettext("Recall by depth")
    return render_chart(chart, key="curve", title=title, summary=summary)


def bucket_labels(bars: Bars, words: NullTranslations) -> list[str]:
    """Buckets in words."""
    return [words.gettext("none") if name == "none" else name for name in bars.buckets]


def _bars_summary(bars: Bars, labels: Sequence[str], words: NullTranslations) -> str:
    series = []
    for stage, counts in bars.series:
        parts = [f"{label}: {number}" for label, number in zip(labels, counts, strict=True)]
        series.append(f"{stage_label(stage, words)} – {', '.join(parts)}")
    return "; ".join(series)
