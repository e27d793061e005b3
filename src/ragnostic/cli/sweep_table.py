"""A sweep as a table: one line a combination, best first."""

from __future__ import annotations

from collections.abc import Iterator

from ragnostic.cli.console import print_table
from ragnostic.errors import counted
from ragnostic.metrics import Metric
from ragnostic.report.numbers import NOTHING, bound, decimal, milliseconds, signed
from ragnostic.report.sweep_view import SweepMean, SweepRow, SweepView

_BESIDE = 2
"""Metrics that stand beside the ranking one; --json and the page have all."""
_NAMED = 5


def print_sweep_table(view: SweepView) -> None:
    """Combination, ranking metric, two others, difference to the baseline, latency."""
    beside = view.beside[:_BESIDE]
    head = [
        *("combination", Metric.parse(view.metric).label, "95 % interval"),
        *(Metric.parse(name).label for name in beside),
        *("difference", "95 % interval", "p (Holm)", "finding", "p50", "p95", "note"),
    ]
    rows = [_row(row, view, beside) for row in view.rows]
    if view.outside is not None:
        rows.append(_row(view.outside, view, beside))
    print_table(head, rows)


def _row(row: SweepRow, view: SweepView, beside: tuple[str, ...]) -> list[str]:
    main = row.means.get(view.metric, SweepMean(None, 0))
    others = (row.means.get(name, SweepMean(None, 0)).mean for name in beside)
    found = row.difference
    return [
        row.name,
        decimal(main.mean),
        _interval(decimal(main.low), decimal(main.high)),
        *map(decimal, others),
        signed(found.value if found else None),
        _interval(bound(found.low), bound(found.high)) if found else NOTHING,
        decimal(found.p_holm if found else None),
        NOTHING if row.finding is None else row.finding.replace("_", " "),
        milliseconds(row.p50_ms),
        milliseconds(row.p95_ms),
        ", ".join(_notes(row, view)) or NOTHING,
    ]


def _notes(row: SweepRow, view: SweepView) -> Iterator[str]:
    if row.difference is None:
        yield "baseline"
    if row.best:
        yield "best"
    elif row in view.rivals:
        yield "not told from best"
    if row.pareto:
        yield "Pareto"


def _interval(low: str, high: str) -> str:
    return NOTHING if NOTHING in (low, high) else f"[{low}, {high}]"


def sweep_lines(view: SweepView) -> Iterator[str]:
    """What the table means, in sentences.

    >>> rows = (SweepRow("k=1", "r1", {"AP": SweepMean(0.5, 3)}, best=True),)
    >>> list(sweep_lines(SweepView("s", "e", 3, "AP", (), rows, "k=1", 1)))
    ['best by MAP: k=1']
    """
    label = Metric.parse(view.metric).label
    if view.chunkers_differ:
        yield (
            f"ranked by {label}: the chunkers differ, and at equal k bigger chunks always win; "
            "compare TokenPrecision too"
        )
    cut = [row for row in view.rows if row.unspent]
    if cut:
        most = max(cut, key=lambda row: row.unspent)
        size = f"{most.unspent} of {counted(view.queries, 'query', 'queries')}"
        alike = all(row.unspent == most.unspent for row in cut)
        each = " each" if len(cut) > 1 else ""
        share = f" ({size}{each})" if alike else f", most in {most.name} ({size})"
        yield (
            f"top_k ends before the budget is spent in {counted(len(cut), 'combination')}{share}:"
            " raise retrieve.top_k, or small chunks lose by it"
        )
    if view.best is None:
        yield f"no combination has a {label}, so none is best"
        return
    yield f"best by {label}: {view.best.name}"
    rivals = [row.name for row in view.rivals]
    if rivals:
        more = f" and {len(rivals) - _NAMED} more" if len(rivals) > _NAMED else ""
        yield f"cannot be told apart from it: {'; '.join(rivals[:_NAMED])}{more}"
    elif view.others_are_worse:
        yield "all others are worse, beyond chance"
    left = view.total - len(view.rows) - len(view.pruned)
    if left:
        yield f"{counted(left, 'combination was', 'combinations were')} not tried"
    for row in view.pruned:
        queries = counted(row.queries, "query", "queries")
        yield f"left after {queries} with {label} {decimal(row.score)}: {row.name}"
