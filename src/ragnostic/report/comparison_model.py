"""From a comparison to its page: :func:`build_comparison` (pure, no HTML, no language)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ragnostic.report.axis import reach_of, span_of
from ragnostic.report.comparison_cases import changed_queries
from ragnostic.report.comparison_changes import by_size, choose, filters, histogram, kinds_of
from ragnostic.report.comparison_page import ComparedRow, ComparisonPage, Few, Sided, Table
from ragnostic.report.comparison_ranks import slopes
from ragnostic.report.comparison_view import ComparisonView
from ragnostic.report.directions import lower_is_better
from ragnostic.report.notes import setting_text
from ragnostic.report.run import RunData, text
from ragnostic.report.scorebook import MetricName
from ragnostic.stats.comparison import finding_of

if TYPE_CHECKING:
    from ragnostic.stats.comparison import Comparison, Finding
    from ragnostic.stats.slice_comparison import SliceComparison

FEW = 50
SLICES = 20
DEFAULT_CUTOFF = 10


def build_comparison(view: ComparisonView) -> ComparisonPage:
    """Everything the page says about two systems, as data.

    Works for a comparison without runs, slices, gate or settings; what is absent is absent on the
    page. At most 200 queries are listed, the largest losses and the largest gains.
    """
    found = view.comparison
    metric = found.metrics[0].metric if found.metrics else ""
    turned = lower_is_better(metric)
    cutoff = MetricName.of(metric).cutoff or DEFAULT_CUTOFF
    metrics = _metrics(found)
    kinds = {change.query_id: kinds_of(change, metric, turned=turned) for change in view.changes}
    ordered = by_size(view.changes)
    chosen = choose(ordered, turned=turned)
    return ComparisonPage(
        base=_sided(found.base, found.stages[0], view.base_run),
        candidate=_sided(found.candidate, found.stages[1], view.candidate_run),
        cutoff=cutoff,
        shared=found.shared,
        main=metrics.rows[0] if metrics.rows else None,
        metrics=metrics,
        gate=view.gate,
        histogram=histogram(view.changes, metric, _equal(found), turned=turned),
        slopes=slopes(view, ordered, len(ordered)),
        slices=tuple(_slices(found)),
        filters=filters(view.changes, chosen, kinds, metric),
        queries=changed_queries(view, chosen, kinds, cutoff),
        settings=tuple(
            (
                change.key,
                setting_text(change.key, change.base),
                setting_text(change.key, change.candidate),
            )
            for change in view.settings
        ),
        announced=_few(view.announced),
        only_base=_few(found.only_base),
        only_candidate=_few(found.only_candidate),
        missing_base=_few(view.missing.get("base", ())),
        missing_candidate=_few(view.missing.get("candidate", ())),
        unshared=found.unshared,
        warnings=_few(view.warnings),
    )


def _sided(name: str, stage: str, run: RunData | None) -> Sided:
    return Sided(name, stage, text(run.meta.get("created")) if run is not None else None)


def _equal(found: Comparison) -> int:
    return found.metrics[0].difference.ties if found.metrics else 0


def _few(ids: Sequence[str]) -> Few:
    return Few(tuple(ids[:FEW]), len(ids))


def _metrics(found: Comparison) -> Table:
    reach = reach_of(entry.difference for entry in found.metrics)
    rows = tuple(
        ComparedRow(
            name=entry.metric,
            difference=entry.difference,
            finding=entry.finding,
            unpaired=entry.unpaired,
            span=span_of(entry.difference, reach),
        )
        for entry in found.metrics
    )
    return Table("metric", rows, reach)


def _slices(found: Comparison) -> Iterable[Table]:
    for column, entries in found.slices.items():
        shown = entries[:SLICES]
        reach = reach_of(entry.difference for entry in shown)
        rows = tuple(
            ComparedRow(
                name=entry.value,
                difference=entry.difference,
                finding=_finding(entry),
                unpaired=0,
                span=span_of(entry.difference, reach),
            )
            for entry in shown
        )
        small = found.small_slices.get(column, 0)
        if rows and len(rows) + small > 1:
            yield Table(column, rows, reach, len(entries) - len(shown), small)


def _finding(entry: SliceComparison) -> Finding:
    upward = not lower_is_better(entry.metric)
    return finding_of(entry.difference, higher_is_better=upward)
