"""Altair charts as accessible inline SVG: the one place where a chart becomes markup."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from ragnostic.errors import RagnosticError

INK = "var(--ink, currentColor)"
MUTED = "var(--muted, #6b7177)"
LINE = "var(--line, #d9dbd8)"
FINAL = "var(--accent, #0b6e69)"
FIRST = "var(--series, #8b9096)"

_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "sans-serif",
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        "domainColor": LINE,
        "gridColor": LINE,
        "labelColor": MUTED,
        "labelFontSize": 11,
        "labelPadding": 6,
        "tickColor": LINE,
        "ticks": False,
        "titleColor": MUTED,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
}

_ADDRESS = re.compile(r"""(?:https?:|//|data:|javascript:)""", re.IGNORECASE)
_NAMESPACE = re.compile(r"""\sxmlns(?::xlink)?="[^"]*\"""")
_FONT = re.compile(r"""\sfont-family="[^"]*\"""")
_ARIA = re.compile(r"""\s(?:aria-[a-z]+|role)="[^"]*\"""")
_OPEN = re.compile(r"<svg\b[^>]*\bviewBox=\"(?P<box>[^\"]*)\"[^>]*>")
_VARIABLE = re.compile(r"var\(--\w+, ([^)]*)\)")
_ID = re.compile(r"""\sid="(?P<id>[^"]*)\"""")


def render_chart(chart: Any, *, key: str, title: str, summary: str) -> str:
    """The chart as an inline ``<svg role="img">`` that takes its colours and font from the page.

    ``key`` makes ids unique on a page; ``title`` and ``summary`` are what a screen reader says.
    The SVG scales to its box and is never wider than drawn. Raises
    :class:`~ragnostic.errors.RagnosticError` if the drawing would hold an address.
    """
    import vl_convert  # noqa: PLC0415 - heavy, loaded on use

    drawn: str = vl_convert.vegalite_to_svg(chart.configure(**_CONFIG).to_dict())
    return accessible_svg(drawn, key=key, title=title, summary=summary)


def plain_chart(chart: Any, *, png: bool) -> bytes:
    """The chart as a picture of its own, in the colours of a light page: SVG, or PNG at twice
    the size.
    """
    import vl_convert  # noqa: PLC0415 - heavy, loaded on use

    drawn: str = vl_convert.vegalite_to_svg(chart.configure(**_CONFIG).to_dict())
    drawn = _VARIABLE.sub(r"\1", drawn)
    if not png:
        return drawn.encode("utf-8")
    picture: bytes = vl_convert.svg_to_png(drawn, scale=2)
    return picture


def accessible_svg(drawn: str, *, key: str, title: str, summary: str) -> str:
    """A drawing made fit for a page: see :func:`render_chart`.

    >>> accessible_svg('<svg viewBox="0 0 4 2"><g/></svg>', key="k", title="T", summary="S")[:60]
    '<svg class="chart" role="img" aria-labelledby="k-title k-sum'
    """
    for noise in (_NAMESPACE, _FONT, _ARIA):
        drawn = noise.sub("", drawn)
    drawn = _own_ids(drawn, key)
    opening = _OPEN.search(drawn)
    if opening is None or _ADDRESS.search(drawn):
        raise RagnosticError(
            f"the chart {title!r} came out with an address in it",
            hint="charts carry no links; this is a fault of the report",
        )
    width = opening["box"].split()[2]
    head = (
        f'<svg class="chart" role="img" aria-labelledby="{key}-title {key}-summary"'
        f' viewBox="{opening["box"]}" style="max-width:{width}px">'
        f'<title id="{key}-title">{escape(title)}</title>'
        f'<desc id="{key}-summary">{escape(summary)}</desc>'
    )
    return drawn[: opening.start()] + head + drawn[opening.end() :]


def _own_ids(drawn: str, key: str) -> str:
    """Ids and references to them as ``key-1``, ``key-2``, …: the renderer counts on from one
    drawing to the next, which would make equal charts differ.
    """
    for number, name in enumerate(dict.fromkeys(_ID.findall(drawn)), 1):
        for before, after in (('id="', '"'), ("url(#", ")"), ("url('#", "')")):
            drawn = drawn.replace(f"{before}{name}{after}", f"{before}{key}-{number}{after}")
    return drawn
