"""The figures of a store as they are exported: the last closed hour and day, counters, backlog."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.exporters.samples import Family, Histogram, Sample
from ragnostic.monitor.alerts.check import LATENESS
from ragnostic.monitor.live_metrics import OVERLAP, OVERLAP_RBO, QER, RBO, RCS, RDS, RDS_NORM
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.rollups.estimates import Sums, estimate
from ragnostic.monitor.rollups.rows import COVERAGE, DEPTH, EMPTY, FAILED, LATENCY
from ragnostic.monitor.rollups.series import Size, windows_of
from ragnostic.monitor.rollups.sketches import counts_up_to

BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SHARES = {
    COVERAGE: "Share of queries for which the judge found any relevant chunk.",
    EMPTY: "Share of retrievals without results.",
    FAILED: "Share of retrievals that failed.",
}
RELEVANCE = "ragnostic_relevance_ratio"
EFFICIENCY = "ragnostic_query_efficiency_chunks_per_second"
SKEW = "ragnostic_relevance_skew_ratio"
CONSISTENCY = "ragnostic_rerank_consistency_ratio"
UNCHANGED = "ragnostic_retrieval_overlap_ratio"
WAIT = "ragnostic_retrieval_wait_seconds"
ROWS = "ragnostic_figure_rows"
WINDOW_END = "ragnostic_window_end_timestamp_seconds"
_SIGNALS = {SKEW: (RDS, RDS_NORM), CONSISTENCY: (RCS, RBO), UNCHANGED: (OVERLAP, OVERLAP_RBO)}
_ROWS = ("received", "stored", "duplicate", "quarantined", "dropped")
_SIZES: tuple[Size, ...] = ("hour", "day")
_PERCENTILES = {"50": f"{LATENCY}:p50", "95": f"{LATENCY}:p95", "99": f"{LATENCY}:p99"}
_COLUMNS = (
    *("ts", "judge", "stage", "slice", "value", "metric"),
    *("n", "sum", "sum_squares", "more", "sketch"),
)


class _Cell(NamedTuple):
    """What a value is of."""

    figure: str
    stage: str
    judge: str
    window: Size
    category: str


def exported(store: LiveStore, now: datetime) -> list[Family | Histogram]:
    """Everything that a monitoring system is told of a store.

    Of each figure the last hour and the last day that closed ten minutes ago or longer, over
    everything and by category (at most 200, and ``other``); a window without data gives no sample.
    No family has more than five labels. Durations are a histogram over all that was rolled up.
    """
    cells = _cells(store, now)
    return [*_figures(cells), *_durations(store), *_windows(store, now), *_counters(store)]


def _cells(store: LiveStore, now: datetime) -> Mapping[_Cell, Sums]:
    found: dict[_Cell, Sums] = defaultdict(Sums)
    spans = {size: _last(size, store.zone, now) for size in _SIZES}
    begin, end = min(s for s, _ in spans.values()), max(e for _, e in spans.values())
    rows = store.lake.read("rollups", start=begin, end=end, columns=_COLUMNS)
    rows = rows.filter(pc.is_in(rows["slice"], pa.array(["", "category"])))
    for row in rows.to_pylist():
        more = tuple(row["more"] or ())
        sketches = () if row["sketch"] is None else (row["sketch"],)
        sums = Sums(row["n"], row["sum"], row["sum_squares"], more, sketches)
        for size, (start, finish) in spans.items():
            if start <= row["ts"] < finish:
                category = row["value"] if row["slice"] else ""
                found[_Cell(row["metric"], row["stage"], row["judge"], size, category)] += sums
    return found


def _last(size: Size, zone: str, now: datetime) -> tuple[datetime, datetime]:
    """The last window that has closed and whose late rows are here: the one that a check of the
    alerts looks at.
    """
    settled = now - LATENESS
    return list(windows_of(size, settled - timedelta(days=2, hours=2), settled, zone))[-1]


def _figures(cells: Mapping[_Cell, Sums]) -> Iterator[Family]:
    def family(name: str, about: str, figures: Iterable[str] | None, *, labelled: bool) -> Family:
        samples = []
        for cell in sorted(cells):
            if cell.figure not in figures if figures is not None else not _is_relevance(cell):
                continue
            value = estimate(cell.figure, cells[cell]).value
            if value is not None:
                samples.append(Sample(value, _labels(cell, with_metric=labelled)))
        return Family(name, about, "gauge", samples)

    about = "Mean of a relevance metric over the queries of the window."
    yield family(RELEVANCE, about, None, labelled=True)
    rows = [
        Sample(float(sums.n), _labels(cell, with_metric=True))
        for cell, sums in sorted(cells.items())
    ]
    yield Family(ROWS, "Rows that a figure of the window is over.", "gauge", rows)
    about = "Useful chunks per second of retrieval (QER)."
    yield family(EFFICIENCY, about, [QER], labelled=False)
    about = "Relevance distribution skew (RDS): deviation of the spreads of relevant chunks."
    yield family(SKEW, about, _SIGNALS[SKEW], labelled=True)
    about = "Overlap of two rerankings of the same candidates (RCS, RBO); 1 is stable."
    yield family(CONSISTENCY, about, _SIGNALS[CONSISTENCY], labelled=True)
    about = "Overlap of what retrieval found with what it found the day before; 1 is unchanged."
    yield family(UNCHANGED, about, _SIGNALS[UNCHANGED], labelled=True)
    for figure, said in _SHARES.items():
        yield family(f"ragnostic_{figure}_ratio", said, [figure], labelled=False)
    yield _waits(cells)


def family_of(figure: str) -> tuple[str, dict[str, str]] | None:
    """The family that a figure is exported in, and the labels that tell it from others there; None
    where it is not exported.

    >>> family_of("RR@5")
    ('ragnostic_relevance_ratio', {'metric': 'RR@5'})
    >>> family_of("latency:p95"), family_of("latency:p80")
    (('ragnostic_retrieval_wait_seconds', {'percentile': '95'}), None)
    """
    if figure.startswith(LATENCY):
        known = {name: percentile for percentile, name in _PERCENTILES.items()}
        return (WAIT, {"percentile": known[figure]}) if figure in known else None
    if figure in _SHARES:
        return f"ragnostic_{figure}_ratio", {}
    if figure == QER:
        return EFFICIENCY, {}
    for family, figures in _SIGNALS.items():
        if figure in figures:
            return family, {"metric": figure}
    return RELEVANCE, {"metric": figure}


def _waits(cells: Mapping[_Cell, Sums]) -> Family:
    samples = [
        Sample(value, {"percentile": percentile, **_labels(cell, with_metric=False)})
        for cell in sorted(cells)
        if cell.figure == LATENCY
        for percentile, figure in _PERCENTILES.items()
        if (value := estimate(figure, cells[cell]).value) is not None
    ]
    return Family(WAIT, "Duration of retrieval in the window, by percentile.", "gauge", samples)


def _is_relevance(cell: _Cell) -> bool:
    signals = (figure for figures in _SIGNALS.values() for figure in figures)
    return cell.figure not in (QER, *signals, LATENCY, DEPTH, *_SHARES)


def _labels(cell: _Cell, *, with_metric: bool) -> dict[str, str]:
    own = {"metric": cell.figure} if with_metric else {}
    place = {"stage": cell.stage, "judge": cell.judge, "window": cell.window}
    return {**own, **place, "category": cell.category}


def _durations(store: LiveStore) -> Iterator[Histogram]:
    columns = ("judge", "stage", "slice", "metric", "sum", "sketch")
    rows = store.lake.read("rollups", columns=columns)
    chosen = pc.and_(pc.equal(rows["metric"], LATENCY), pc.equal(rows["slice"], ""))
    sketches: dict[tuple[str, str], list[bytes]] = defaultdict(list)
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows.filter(chosen).to_pylist():
        key = (row["stage"], row["judge"])
        sketches[key].append(row["sketch"])
        sums[key] += row["sum"]
    yield Histogram(
        "ragnostic_retrieval_duration_seconds",
        "Duration of retrieval up to the stage, over all that was rolled up.",
        BOUNDS_S,
        [
            ({"stage": key[0], "judge": key[1]}, counts_up_to(sketches[key], BOUNDS_S), sums[key])
            for key in sorted(sketches)
        ],
    )


def _windows(store: LiveStore, now: datetime) -> Iterator[Family]:
    samples = [
        Sample(_last(size, store.zone, now)[1].timestamp(), {"window": size}) for size in _SIZES
    ]
    about = "End of the window that the figures are of, in seconds since the epoch."
    yield Family(WINDOW_END, about, "gauge", samples)


def _counters(store: LiveStore) -> Iterator[Family]:
    counts = store.state.counters()
    rows = [Sample(float(counts[name]), {"outcome": name}) for name in _ROWS if name in counts]
    about = "Rows that came in, by what became of them."
    yield Family("ragnostic_intake_rows", about, "counter", rows)
    judged = [
        Sample(float(count), {"status": name.removeprefix("work.judged.")})
        for name, count in counts.items()
        if name.startswith("work.judged.")
    ]
    yield Family("ragnostic_judgments", "Judgments, by their status.", "counter", judged)
    waiting = [Sample(float(store.queue.backlog()))]
    yield Family("ragnostic_queue_waiting_records", "Records that wait.", "gauge", waiting)
