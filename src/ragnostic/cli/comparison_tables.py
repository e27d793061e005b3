"""A comparison on the terminal: the verdict first, then what it stands on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import typer

from ragnostic.cli.console import print_table
from ragnostic.cli.gate_table import print_gate
from ragnostic.cli.lacking import id_lines, lacking_lines
from ragnostic.errors import counted
from ragnostic.metrics import Metric
from ragnostic.offline.compare import ComparisonResult
from ragnostic.report.catalogue import catalogue
from ragnostic.report.comparison_model import build_comparison
from ragnostic.report.comparison_page import ChangedQuery, ComparisonPage
from ragnostic.report.comparison_text import (
    METRIC_HEAD,
    SLICE_HEAD,
    difference_cells,
    metric_cells,
    tally,
    telling_slices,
)
from ragnostic.report.comparison_words import rank_path
from ragnostic.report.directions import lower_is_better
from ragnostic.report.numbers import NOTHING, decimal, signed
from ragnostic.report.visible import excerpt, visible
from ragnostic.stats.comparison import Comparison
from ragnostic.stats.slice_comparison import SliceComparison

_LISTED = 5
"""Losses, and gains, that are listed."""
_SLICES = 10
_SETTINGS = 30
_TEXT = 60


def print_comparison(result: ComparisonResult) -> None:
    """Verdict in words, metrics, gate, what else differs, slices, queries that changed."""
    found = result.comparison
    words = catalogue("en")
    for line in verdict_lines(found):
        _say(line)
    print_table(
        _lowered(METRIC_HEAD),
        (metric_cells(metric, words) for metric in found.metrics),
        text_columns=2,
    )
    if result.gate is not None:
        typer.echo()
        print_gate(result.gate)
    if result.announced:
        _say("\nannounced, not refused:")
        for line in result.announced:
            _say(f"  {line}")
    if result.settings:
        typer.echo()
        _print_settings(result)
    _print_slices(found)
    _print_changes(build_comparison(result.view), Metric.parse(found.metrics[0].metric).label)
    for line in apart_lines(result):
        _say(line)


def verdict_lines(found: Comparison) -> Iterator[str]:
    """Who is compared, and what came out in words."""
    stages = dict.fromkeys(found.stages)
    yield f"base: {found.base}"
    yield f"candidate: {found.candidate}"
    said = tally([metric.finding for metric in found.metrics], catalogue("en"))
    queries = counted(found.shared, "shared query", "shared queries")
    yield f"{said} ({queries}, {' against '.join(stages)})"


def _lowered(names: Sequence[str]) -> list[str]:
    return [name if name[:1] == "9" else name[:1].lower() + name[1:] for name in names]


def _print_settings(result: ComparisonResult) -> None:
    rows = [
        [change.key, *(NOTHING if value is None else excerpt(value, _TEXT) for value in values)]
        for change in result.settings[:_SETTINGS]
        for values in [(change.base, change.candidate)]
    ]
    print_table(["setting", "base", "candidate"], rows, text_columns=3)
    _say_more(len(result.settings) - _SETTINGS)


def _print_slices(found: Comparison) -> None:
    """The worst slices of all columns together."""
    entries = [
        (column, entry)
        for column, of_column in telling_slices(found).items()
        for entry in of_column
    ]
    if not entries:
        return
    metric = entries[0][1].metric
    worst = sorted(entries, key=lambda entry: _gain(entry[1]))
    _say(f"\nslices by {Metric.parse(metric).label}, worst first:")
    rows = [
        [f"{column}={entry.value}", *difference_cells(entry.difference)]
        for column, entry in worst[:_SLICES]
    ]
    print_table(["slice", *_lowered(SLICE_HEAD)], rows)
    _say_more(len(entries) - _SLICES)


def _gain(entry: SliceComparison) -> float:
    value = entry.difference.value or 0.0
    return -value if lower_is_better(entry.metric) else value


def _print_changes(page: ComparisonPage, label: str) -> None:
    totals: dict[str, int] = {entry.kind: entry.total for entry in page.filters}
    for kind, title in (("worse", "biggest losses"), ("better", "biggest gains")):
        queries = [query for query in page.queries if kind in query.kinds][:_LISTED]
        if queries:
            _say(f"\n{title} by {label}: {len(queries)} of {totals.get(kind, 0)}")
            print_table(
                ["query", "text", "change", "before", "after", "first relevant"],
                map(_change_row, queries),
                text_columns=2,
            )


def _change_row(query: ChangedQuery) -> list[str]:
    return [
        query.query_id,
        excerpt(query.query or "", _TEXT),
        signed(query.after - query.before),
        decimal(query.before),
        decimal(query.after),
        rank_path(query, catalogue("en")) or NOTHING,
    ]


def apart_lines(result: ComparisonResult) -> list[str]:
    """Queries that a side lacks, has no results for, or nobody judged: how many, the first ids."""
    return [
        *lacking_lines(result.comparison),
        *id_lines(
            [
                ("without a judgment, not compared", result.comparison.unjudged),
                ("without results in the base", result.missing.get("base", ())),
                ("without results in the candidate", result.missing.get("candidate", ())),
            ]
        ),
    ]


def _say(line: str) -> None:
    typer.echo(visible(line, newlines=True))


def _say_more(count: int) -> None:
    if count > 0:
        typer.echo(f"… and {count} more")
