"""The figures of a store as they are exported: the last closed hour and day, counters, backlog."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.exporters.samples import Family, Histogram, Sample
from ragnostic.monitor.alerts.check import LATENESS
from ragnostic.monitor.exported_alerts import alert_families
from ragnostic.monitor.exported_figures import (
    CONSISTENCY,
    EFFICIENCY,
    LATENCIES,
    PERCENTILES,
    RELEVANCE,
    RELEVANCE_ROWS,
    RETRIEVAL,
    SIGNAL_ROWS,
    SKEW,
    STAGE_PLACE,
    WINDOW_END,
    Exported,
    exported_as,
)
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.rollups.estimates import Sums, estimate
from ragnostic.monitor.rollups.rows import LATENCY
from ragnostic.monitor.rollups.series import Size, windows_of
from ragnostic.monitor.rollups.sketches import counts_up_to

BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_ABOUT = {
    RELEVANCE: "Mean of a relevance metric over the queries of the window.",
    RELEVANCE_ROWS: "Queries that the mean is over.",
    SIGNAL_ROWS: "Rows that a signal, a share or a latency is over.",
    EFFICIENCY: "Useful chunks per second of retrieval (QER).",
    SKEW: "Relevance distribution skew (RDS): deviation of the spreads of relevant chunks.",
    CONSISTENCY: "Overlap of two rerankings of the same candidates (RCS, RBO); 1 is stable.",
    RETRIEVAL: "Overlap of what retrieval found with what it found the day before; 1 is unchanged.",
    LATENCIES: "Percentile of the duration of retrieval in the window, within 1 %.",
    "ragnostic_coverage_ratio": "Share of queries for which the judge found any relevant chunk.",
    "ragnostic_empty_ratio": "Share of retrievals without results.",
    "ragnostic_failed_ratio": "Share of retrievals that failed.",
}
_ROWS = ("received", "stored", "duplicate", "quarantined", "dropped")
_SIZES: tuple[Size, ...] = ("hour", "day")
_COLUMNS = (
    *("ts", "judge", "stage", "stage_place", "slice", "value", "metric"),
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
    Alerts are as the last check found them.
    """
    cells, places = _cells(store, now)
    return [
        *_figures(cells),
        *_durations(store),
        *_places(places),
        *_windows(store, now),
        *_counters(store),
        *alert_families(store.root),
    ]


def _cells(store: LiveStore, now: datetime) -> tuple[Mapping[_Cell, Sums], Mapping[str, int]]:
    """What is known of the last windows, and the place of each stage in the pipeline."""
    found: dict[_Cell, Sums] = defaultdict(Sums)
    places: dict[str, int] = {}
    spans = {size: _last(size, store.zone, now) for size in _SIZES}
    begin, end = min(s for s, _ in spans.values()), max(e for _, e in spans.values())
    rows = store.lake.read("rollups", start=begin, end=end, columns=_COLUMNS)
    rows = rows.filter(pc.is_in(rows["slice"], pa.array(["", "category"])))
    for row in rows.to_pylist():
        more = tuple(row["more"] or ())
        sketches = () if row["sketch"] is None else (row["sketch"],)
        sums = Sums(row["n"], row["sum"], row["sum_squares"], more, sketches)
        places[row["stage"]] = max(places.get(row["stage"], 0), row["stage_place"])
        for size, (start, finish) in spans.items():
            if start <= row["ts"] < finish:
                category = row["value"] if row["slice"] else ""
                found[_Cell(row["metric"], row["stage"], row["judge"], size, category)] += sums
    return found, places


def _last(size: Size, zone: str, now: datetime) -> tuple[datetime, datetime]:
    """The last window that has closed, and whose late rows are here: the one that a check of the
    alerts looks at.
    """
    settled = now - LATENESS
    return list(windows_of(size, settled - timedelta(days=2, hours=2), settled, zone))[-1]


def _figures(cells: Mapping[_Cell, Sums]) -> Iterator[Family]:
    found: dict[str, list[Sample]] = defaultdict(list)
    for cell, sums in sorted(cells.items()):
        for figure in PERCENTILES if cell.figure == LATENCY else (cell.figure,):
            place = exported_as(figure)
            value = None if place is None else estimate(figure, sums).value
            if place is not None and value is not None:
                labels = _labels(cell, figure if place.labelled else "")
                found[place.family].append(Sample(value, labels))
        if (rows := _rows(cell)) is not None:
            found[rows.rows].append(Sample(float(sums.n), _labels(cell, rows.rows_metric)))
    for name, about in _ABOUT.items():
        yield Family(name, about, "gauge", found.get(name, []))


def _rows(cell: _Cell) -> Exported | None:
    """Where the number of rows of a cell stands."""
    return exported_as(PERCENTILES[0] if cell.figure == LATENCY else cell.figure)


def _labels(cell: _Cell, metric: str) -> dict[str, str]:
    own = {"metric": metric} if metric else {}
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


def _places(places: Mapping[str, int]) -> Iterator[Family]:
    samples = [Sample(float(place), {"stage": stage}) for stage, place in sorted(places.items())]
    about = "Place of the stage in the pipeline; the last one has the greatest."
    yield Family(STAGE_PLACE, about, "gauge", samples)


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
