"""The sums of an hour: what a mean, a ratio, a deviation and their intervals can be made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics.inputs import Floats
from ragnostic.monitor.cells import numbers
from ragnostic.monitor.live_metrics import QER, RDS, RDS_NORM, USED
from ragnostic.monitor.measurable import Depth, with_measurable
from ragnostic.monitor.probes import (
    consistency_values,
    of_rerankers,
    of_retrieval,
    retrieval_values,
)
from ragnostic.monitor.rollups.sketches import sketch_of
from ragnostic.monitor.score_rows import metrics_of

ROLLUP_SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", tz="UTC")),
        ("day", pa.string()),
        ("judge", pa.string()),
        ("stage", pa.string()),
        ("stage_place", pa.int8()),
        ("slice", pa.string()),
        ("value", pa.string()),
        ("metric", pa.string()),
        ("n", pa.int64()),
        ("sum", pa.float64()),
        ("sum_squares", pa.float64()),
        ("more", pa.list_(pa.float64())),
        ("sketch", pa.binary()),
    ]
)
"""A row is an hour, judge, stage, value of a slice, and figure. ``ts`` is the start of the hour.
``more`` holds further sums: of QER those of cost, cost² and used · cost, of RDS those of the third
and fourth powers (and of the random distance). ``sketch`` is that of latencies.
"""

LATENCY, EMPTY, FAILED, COVERAGE, DEPTH = "latency", "empty", "failed", "coverage", "top_k"
"""Figures beside metrics and signals: seconds; shares of rows; the depth that was asked for."""
SLICED = ("service", "model_version", "category", "language", "length")
PERTURBATION = "perturbation"
"""The slice of RCS and RBO."""
MOST_VALUES = 200
OTHER = "other"
"""What is left of a slice with more values than :data:`MOST_VALUES`, the most frequent ones."""
_HOUR_US = 3_600_000_000

Codes = npt.NDArray[np.int64]


class _Cut(NamedTuple):
    """One way to cut rows: the group of each row (-1: in none), and hour and value of each."""

    name: str
    codes: Codes
    hours: Codes
    values: Sequence[str]

    def summed(self, values: Floats) -> Floats:
        """Σ of values by group."""
        kept = self.codes >= 0
        size = len(self.hours)
        found = np.bincount(self.codes[kept], weights=values[kept], minlength=size)
        return np.asarray(found, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Figure:
    """Values a row, NaN where undefined, and the further sums that its estimate needs."""

    name: str
    values: Floats
    more: tuple[Floats, ...] = ()
    sketched: bool = False


def rolled(scores: pa.Table, probes: pa.Table, zone: str) -> pa.Table:
    """The roll-up of a day's rows of *scores* and *probes* under :data:`ROLLUP_SCHEMA`.

    The order of the rows changes nothing but the last digits. Hours begin where the clock of
    ``zone`` shows a full one.
    """
    parts = [part for rows in _stages(scores) for part in _of_stage(rows, zone)]
    parts += list(_of_probes(probes, zone)) if probes.num_rows else []
    whole = pa.concat_tables(parts) if parts else ROLLUP_SCHEMA.empty_table()
    order = [(name, "ascending") for name in ("ts", "judge", "stage", "slice", "value", "metric")]
    return whole.sort_by(order).combine_chunks()


def _stages(scores: pa.Table) -> Iterator[pa.Table]:
    """Rows of one judge and stage; those that nobody judged are of the judge ""."""
    if not scores.num_rows:
        return
    judges = pc.fill_null(scores["judge"], "")
    named = scores.set_column(scores.schema.get_field_index("judge"), "judge", judges)
    for pair in named.group_by(["judge", "stage"]).aggregate([]).to_pylist():
        same = [pc.equal(named[name], pair[name]) for name in ("judge", "stage")]
        yield named.filter(pc.and_(*same))


def _of_stage(rows: pa.Table, zone: str) -> Iterator[pa.Table]:
    depth = Depth.of(numbers(rows, DEPTH), numbers(rows, "results"))
    rows = with_measurable(rows, metrics_of(rows), depth)
    figures = list(_figures(rows, depth))
    fixed = {name: rows[name][0].as_py() for name in ("judge", "stage", "stage_place")}
    for cut in _cuts(rows, zone):
        for figure in figures:
            yield _rows(cut, figure, fixed, zone)


def _figures(rows: pa.Table, depth: Depth) -> Iterator[_Figure]:
    for metric in metrics_of(rows):
        yield _Figure(str(metric), numbers(rows, str(metric)))
    seconds, fanout = numbers(rows, "latency_s"), numbers(rows, "fanout")
    cost = seconds * np.where(np.isnan(fanout), 1.0, fanout)
    used = np.where(np.isnan(cost), np.nan, numbers(rows, USED))
    yield _Figure(QER, used, (cost, cost * cost, used * cost))
    spread = numbers(rows, "spread")
    yield _Figure(RDS, spread, (spread**3, spread**4))
    random = numbers(rows, "random_distance")
    known = np.where(np.isnan(random), np.nan, spread)
    yield _Figure(RDS_NORM, known, (spread**3, spread**4, random))
    yield _Figure(LATENCY, seconds, sketched=True)
    yield _Figure(DEPTH, depth.asked)
    failed = _is(rows, "status", ["failed"])
    empty = np.where(failed > 0, np.nan, (numbers(rows, "results") == 0).astype(np.float64))
    yield _Figure(FAILED, failed)
    yield _Figure(EMPTY, empty)
    yield _Figure(COVERAGE, numbers(rows, "any_relevant"))


def _is(rows: pa.Table, column: str, values: list[str]) -> Floats:
    found = pc.is_in(rows[column], pa.array(values)).to_numpy()
    return np.asarray(found, dtype=np.float64)


def _cuts(rows: pa.Table, zone: str) -> Iterator[_Cut]:
    hours, hour_of = np.unique(_hours(rows["ts"], zone), return_inverse=True)
    yield _Cut("", hour_of.astype(np.int64), hours, [""] * len(hours))
    for name in SLICED:
        if name not in rows.column_names:
            continue
        names, value_of = _valued(rows[name])
        if not names:
            continue
        pairs = hour_of * len(names) + value_of
        known, codes = np.unique(np.where(value_of < 0, -1, pairs), return_inverse=True)
        if known[0] < 0:
            known, codes = known[1:], codes - 1
        values = [names[place] for place in (known % len(names)).tolist()]
        yield _Cut(name, codes.astype(np.int64), hours[known // len(names)], values)


def _hours(ts: pa.ChunkedArray, zone: str) -> Codes:
    """Start of each row's hour in microseconds since the epoch."""
    instants = np.asarray(ts.cast(pa.int64()).to_numpy(), dtype=np.int64)
    offset = ZoneInfo(zone).utcoffset(ts[0].as_py()) if len(instants) else None
    beside = int(offset.total_seconds() * 1e6) % _HOUR_US if offset else 0  # zones such as +05:30
    return (instants + beside) // _HOUR_US * _HOUR_US - beside


def _valued(column: pa.ChunkedArray) -> tuple[list[str], Codes]:
    """Names of the values, and the place of each row's; -1 where it is null."""
    coded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    names = coded.dictionary.to_pylist()
    codes = np.asarray(pc.fill_null(coded.indices.cast(pa.int64()), -1), dtype=np.int64)
    if len(names) <= MOST_VALUES:
        return names, codes
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    often = sorted(range(len(names)), key=lambda place: (-counts[place], names[place]))
    place_of = np.full(len(names) + 1, MOST_VALUES, dtype=np.int64)
    place_of[often[:MOST_VALUES]] = np.arange(MOST_VALUES)
    place_of[-1] = -1
    return [*(names[place] for place in often[:MOST_VALUES]), OTHER], place_of[codes]


def _rows(cut: _Cut, figure: _Figure, fixed: Mapping[str, Any], zone: str) -> pa.Table:
    known = ~np.isnan(figure.values)
    values = np.where(known, figure.values, 0.0)
    n = cut.summed(known.astype(np.float64))
    filled = [np.where(known & ~np.isnan(part), part, 0.0) for part in figure.more]
    more = np.array([cut.summed(part) for part in filled]).T if filled else np.zeros((len(n), 0))
    kept = np.flatnonzero(n > 0)
    ts = pa.array(cut.hours[kept], pa.timestamp("us", tz="UTC"))
    size = len(kept)
    local = pc.local_timestamp(ts.cast(pa.timestamp("us", tz=zone)))
    return pa.table(
        {
            "ts": ts,
            "day": local.cast(pa.date32(), safe=False).cast(pa.string()),
            **{name: pa.array([fixed[name]] * size) for name in fixed},
            "slice": pa.array([cut.name] * size),
            "value": pa.array([cut.values[place] for place in kept.tolist()], pa.string()),
            "metric": pa.array([figure.name] * size),
            "n": pa.array(n[kept].astype(np.int64)),
            "sum": pa.array(cut.summed(values)[kept]),
            "sum_squares": pa.array(cut.summed(values * values)[kept]),
            "more": pa.array(list(more[kept]), pa.list_(pa.float64())),
            "sketch": pa.array(_sketches(cut, figure, kept), pa.binary()),
        }
    ).cast(ROLLUP_SCHEMA)


def _sketches(cut: _Cut, figure: _Figure, kept: Codes) -> list[bytes | None]:
    if not figure.sketched:
        return [None] * len(kept)
    order = np.argsort(cut.codes, kind="stable")
    bounds = np.searchsorted(cut.codes[order], np.arange(len(cut.hours) + 1))
    groups = (figure.values[order[bounds[place] : bounds[place + 1]]] for place in kept)
    return [sketch_of(group[~np.isnan(group)]) for group in groups]


def _of_probes(probes: pa.Table, zone: str) -> Iterator[pa.Table]:
    """RCS and RBO; and of retrieval, which is no reranker, figures of its own (METRICS 8)."""
    pairs, retrievals = of_rerankers(probes), of_retrieval(probes)
    kinds, kind_of = _valued(pairs["perturbation"])
    whole = ("", np.zeros(pairs.num_rows, dtype=np.int64), [""])
    fixed = {"judge": "", "stage": "rerank", "stage_place": 1}
    for cut, figure in _by_query(
        pairs, consistency_values(pairs), [whole, (PERTURBATION, kind_of, kinds)], zone
    ):
        yield _rows(cut, figure, fixed, zone)
    whole = ("", np.zeros(retrievals.num_rows, dtype=np.int64), [""])
    fixed = {"judge": "", "stage": "retrieve", "stage_place": 0}
    for cut, figure in _by_query(retrievals, retrieval_values(retrievals), [whole], zone):
        yield _rows(cut, figure, fixed, zone)


def _by_query(
    rows: pa.Table,
    figures: Mapping[str, Floats],
    slices: Sequence[tuple[str, Codes, Sequence[str]]],
    zone: str,
) -> Iterator[tuple[_Cut, _Figure]]:
    """A value a query, hour and value of a slice: several rows of one query are averaged first."""
    if not rows.num_rows:
        return
    hours, hour_of = np.unique(_hours(rows["ts"], zone), return_inverse=True)
    queries = rows["query_id"].combine_chunks().dictionary_encode()
    query_of = np.asarray(queries.indices.cast(pa.int64()), dtype=np.int64)
    size = int(query_of.max()) + 1
    for name, values in figures.items():
        known = ~np.isnan(values)
        for slice_, group_of, names in slices:
            keys = (hour_of * len(names) + group_of) * size + query_of
            seen, code = np.unique(keys[known], return_inverse=True)
            if not seen.size:
                continue
            means = np.bincount(code, weights=values[known]) / np.bincount(code)
            used, cell_code = np.unique(seen // size, return_inverse=True)
            cut = _Cut(
                slice_,
                cell_code.astype(np.int64),
                hours[used // len(names)],
                [names[place] for place in (used % len(names)).tolist()],
            )
            yield cut, _Figure(name, means)
