"""Roll-ups, measured: python benchmarks/rollups.py [--rows N].

Rolls up one day of made-up scores (11 metrics, 2 services, 50 categories) and, as the peer in the
same run, sums up the same day once with ``aggregate`` by category, which reads every row.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from ragnostic.monitor.aggregate import aggregate
from ragnostic.monitor.rollups.rows import rolled
from ragnostic.monitor.rollups.series import read_series
from ragnostic.monitor.signals import score_records
from ragnostic.records import JUDGMENT_SCHEMA, record_schema
from ragnostic.store.lake import ParquetLake

START = datetime(2026, 3, 1, tzinfo=UTC)


def scores(count: int) -> pa.Table:
    """Scores of a day: a thousand made by the real scorer, repeated over the day."""
    draw = np.random.default_rng(0)
    rows, said = [], []
    for number in range(1000):
        ids = [f"c{n}" for n in draw.permutation(60)[:20]]
        stage = {"ids": ids, "top_k": 100, "took_ms": float(draw.exponential(80))}
        row = {"record_id": f"r{number}", "query_id": f"r{number}", "query": f"query {number}"}
        row |= {"ts": START, "service": "ab"[number % 2], "category": f"k{number % 50}"}
        rows.append({**row, "retrieve": stage})
        verdict = {"record_id": f"r{number}", "judge": "answer_span", "version": "1"}
        said.append({**verdict, "status": "judged", "ids": ids[3 : 3 + number % 4]})
    one = score_records(
        pa.Table.from_pylist(rows, record_schema(["retrieve"])),
        pa.Table.from_pylist(said, JUDGMENT_SCHEMA),
        zone="UTC",
    )
    whole = pa.concat_tables([one] * (count // 1000)).combine_chunks()
    seconds = draw.integers(0, 86_400, whole.num_rows) * 1_000_000
    start = int(START.timestamp() * 1e6)
    ts = pa.array(np.sort(seconds) + start, pa.timestamp("us", tz="UTC"))
    names = pa.array([f"r{number}" for number in range(whole.num_rows)])
    whole = whole.set_column(whole.schema.get_field_index("ts"), "ts", ts)
    return whole.set_column(whole.schema.get_field_index("record_id"), "record_id", names)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    count = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        lake = ParquetLake(Path(folder), "UTC")
        lake.write("scores", scores(count), name="part-0")
        begun = time.perf_counter()
        table = rolled(lake.read("scores"), lake.read("probes"), "UTC")
        lake.write("rollups", table, name="rollup")
        spent = time.perf_counter() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        begun = time.perf_counter()
        end = START + timedelta(days=1)
        asked = {"window": "hour", "start": START, "end": end, "zone": "UTC"}
        read_series(lake, "RR@5", slice_="category", **asked)
        read = time.perf_counter() - begun
        begun = time.perf_counter()
        aggregate(lake, START, end, by=["category"], zone="UTC")
        peer = time.perf_counter() - begun
    print(
        f"{count:,} rows into {table.num_rows:,} roll-ups: {spent:.1f} s, peak {peak:,.0f} MB; "
        f"one figure by hour and category out of them: {read:.3f} s; "
        f"aggregate by category over the rows: {peer:.1f} s ({peer / read:.0f} times that)"
    )


if __name__ == "__main__":
    sys.exit(main())
