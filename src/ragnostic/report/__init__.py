"""The report: a run on one page, as HTML or Markdown, in Chinese or English."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragnostic.report.comparison_html import render_comparison
    from ragnostic.report.comparison_view import ComparisonView
    from ragnostic.report.html import render_page, render_run
    from ragnostic.report.markdown import render_markdown
    from ragnostic.report.model import Page, RunData, build_page
    from ragnostic.report.trend_html import render_trend
    from ragnostic.report.trend_view import TrendView

__all__ = [
    "ComparisonView",
    "Page",
    "RunData",
    "TrendView",
    "build_page",
    "render_comparison",
    "render_markdown",
    "render_page",
    "render_run",
    "render_trend",
]

_HOMES = {
    "ComparisonView": "comparison_view",
    "Page": "model",
    "RunData": "model",
    "TrendView": "trend_view",
    "build_page": "model",
    "render_comparison": "comparison_html",
    "render_markdown": "markdown",
    "render_page": "html",
    "render_run": "html",
    "render_trend": "trend_html",
}


def __getattr__(name: str) -> Any:
    """Public names are loaded on first use, so that importing the package stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only needed on first use

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
