"""A diagnosis as one HTML file without script."""

from __future__ import annotations

from functools import partial
from gettext import NullTranslations
from typing import Any

from ragnostic.report import diagnosis_words
from ragnostic.report.catalogue import TAGS, Language, catalogue
from ragnostic.report.charts import FINAL, FIRST, MUTED, render_chart
from ragnostic.report.diagnosis_view import DiagnosisView
from ragnostic.report.drawings import data
from ragnostic.report.html import environment
from ragnostic.report.numbers import decimal, signed

_WIDTH, _ROW = 720, 34


def render_diagnosis(view: DiagnosisView, language: Language = "zh") -> str:
    """A diagnosis as one self-contained HTML page; the same view gives the same bytes."""
    from markupsafe import Markup  # noqa: PLC0415 - loaded with jinja2, on use

    text = catalogue(language)
    pages = environment(text)
    for name in ("cause_title", "advice", "hint_label", "rank_label"):
        pages.filters[name] = partial(getattr(diagnosis_words, name), words=text)
    pages.globals["diagnosis_headline"] = partial(_headline, words=text)
    drawn = Markup(_figure(view, text)) if view.causes else ""  # noqa: S704 - our SVG
    template = pages.get_template("diagnosis.html.j2")
    return template.render(page=view, figure=drawn, language=language, tag=TAGS[language])


def _headline(page: DiagnosisView, words: NullTranslations) -> str:
    """What to mend first, in one sentence."""
    if not page.missed:
        return words.gettext("Nothing relevant is missed.")
    first = next((one for one in page.causes if one.cause == page.first), None)
    if first is None:
        return words.gettext("What is missed cannot be explained from what is at hand.")
    message = words.gettext("Mend first: %(cause)s. That is worth %(gain)s %(metric)s.")
    return message % {
        "cause": diagnosis_words.cause_title(first.cause, words),
        "gain": signed(first.gain, 2),
        "metric": page.metric,
    }


def _figure(view: DiagnosisView, words: NullTranslations) -> str:
    """The waterfall: recall now, and what each cause adds if it and all before it are mended."""
    summary = "; ".join(
        f"{diagnosis_words.cause_title(one.cause, words)} {signed(one.gain, 3)}"
        for one in view.causes
    )
    return render_chart(
        _waterfall(view, words),
        key="waterfall",
        title=words.gettext("Recall, mended in order"),
        summary=f"{view.metric} {decimal(view.value, 3)}; {summary}",
    )


def _waterfall(view: DiagnosisView, words: NullTranslations) -> Any:
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    start = view.value or 0.0
    rows: list[dict[str, Any]] = [
        {"name": words.gettext("now"), "start": 0.0, "end": start, "kind": 0}
    ]
    for one in view.causes:
        title = diagnosis_words.cause_title(one.cause, words)
        rows.append({"name": title, "start": start, "end": one.in_order, "kind": 1})
        start = one.in_order
    for row in rows:
        row["label"] = decimal(row["end"], 3)
    names = [row["name"] for row in rows]
    down = alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=260, domain=False))
    base = alt.Chart(data(rows)).encode(y=down)
    across = alt.X(
        "start:Q",
        title=view.metric,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(tickCount=5, format=".1f", domain=False),
    )
    paint = alt.Color("kind:N", legend=None, scale=alt.Scale(domain=[0, 1], range=[FIRST, FINAL]))
    fit = alt.AutoSizeParams(type="fit", contains="padding")
    return alt.layer(
        base.mark_bar(height=16).encode(x=across, x2="end:Q", color=paint),
        base.mark_text(align="left", dx=5, color=MUTED, fontSize=11).encode(
            x=alt.X("end:Q"), text="label:N"
        ),
    ).properties(width=_WIDTH, height=60 + _ROW * len(rows), autosize=fit)
