"""The daily report as one HTML file without script."""

from __future__ import annotations

from functools import partial
from typing import Any

from ragnostic.report import daily_words
from ragnostic.report.catalogue import TAGS, Language, catalogue
from ragnostic.report.charts import FINAL, MUTED, render_chart
from ragnostic.report.daily_view import DailyView, Signal
from ragnostic.report.drawings import data
from ragnostic.report.html import environment
from ragnostic.report.numbers import decimal

_SIZE = (280, 120)
_LABELS = ("signal_title", "colour_label", "event_label", "status_label", "share_label")
_SENTENCES = ("daily_headline", "daily_lead", "anomaly_sentence")


def render_daily(view: DailyView, language: Language = "zh") -> str:
    """A day as one self-contained HTML page; the same view gives the same bytes."""
    from markupsafe import Markup  # noqa: PLC0415 - loaded with jinja2, on use

    text = catalogue(language)
    pages = environment(text)
    pages.filters.update(
        {name: partial(getattr(daily_words, name), words=text) for name in _LABELS}
    )
    pages.globals.update(
        {name: partial(getattr(daily_words, name), words=text) for name in _SENTENCES}
    )
    drawn = [Markup(_figure(signal, number, text)) for number, signal in enumerate(view.signals)]  # noqa: S704 - our SVG
    template = pages.get_template("daily.html.j2")
    return template.render(page=view, figures=drawn, language=language, tag=TAGS[language])


def _figure(signal: Signal, number: int, text: Any) -> str:
    """The chart of a signal; nothing where there are fewer than two days with data."""
    known = [point for point in signal.points if point.value is not None]
    if len(known) < 2:
        return ""
    title = daily_words.signal_title(signal.figure, text)
    summary = text.gettext("%(first)s to %(last)s, latest %(value)s") % {
        "first": known[0].day,
        "last": known[-1].day,
        "value": decimal(known[-1].value, 3),
    }
    return render_chart(_chart(signal), key=f"signal-{number}", title=title, summary=summary)


def _chart(signal: Signal) -> Any:
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    rows = [
        {"day": point.day[5:], "value": point.value, "low": point.low, "high": point.high}
        | {"mean": point.mean7}
        for point in signal.points
        if point.value is not None
    ]
    days = [str(row["day"]) for row in rows]
    axis = alt.Axis(labelAngle=0, labelOverlap=True, values=[days[0], days[-1]], grid=False)
    across = alt.X("day:N", title=None, sort=None, axis=axis)
    up = alt.Y(
        "value:Q",
        title=None,
        scale=alt.Scale(zero=False, nice=True),
        axis=alt.Axis(tickCount=3, domain=False, format=".3~f"),
    )
    base = alt.Chart(data(rows)).encode(x=across)
    fit = alt.AutoSizeParams(type="fit", contains="padding")
    return alt.layer(
        base.mark_area(color=FINAL, opacity=0.14).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(color=MUTED, strokeWidth=1, opacity=0.7).encode(y=up),
        base.mark_line(color=FINAL, strokeWidth=2.2).encode(y="mean:Q"),
    ).properties(width=_SIZE[0], height=_SIZE[1], autosize=fit)
