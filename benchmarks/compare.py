"""Comparing two score tables, against scipy's BCa: python benchmarks/compare.py [--queries N].

First two tables of 10,000 queries x 5 metrics, with 10,000 resamples: ours from Parquet to the
whole comparison (intervals, p, Holm, wins), the same with three slice columns, and scipy's
``bootstrap(method="BCa")`` and ``permutation_test`` on the same differences. scipy's jackknife is
quadratic in n, so it takes no part above. Then two tables of N queries (1,000,000), ours alone.
Every tool runs in its own process; CPU is user + system time with imports, memory its peak.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

METRICS = ("RR@5", "Success@5", "R@20", "nDCG@10", "AP@20")
SMALL = 10_000
RESAMPLES = 10_000
BLOCK = 200_000


def make(folder: Path, queries: int, seed: int = 11) -> None:
    """Write base.parquet and candidate.parquet: three queries in ten differ between them."""
    draw = np.random.default_rng(seed)
    kinds = {
        "RR@5": [0, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1],
        "Success@5": [0, 1],
        "R@20": [0, 1 / 3, 1 / 2, 2 / 3, 1],
    }
    names = ("query_id", "stage", "metric", "value", "status")
    schema = pa.schema(
        [("record_id", pa.string())]
        + [(name, pa.float64() if name == "value" else pa.string()) for name in names]
    )
    with (
        pq.ParquetWriter(folder / "base.parquet", schema) as base,
        pq.ParquetWriter(folder / "candidate.parquet", schema) as candidate,
    ):
        for metric in METRICS:
            for start in range(0, queries, BLOCK):
                size = min(BLOCK, queries - start)
                words = [f"q{number:07d}" for number in range(start, start + size)]
                ids = pa.array(words)

                def values(size: int = size, metric: str = metric) -> np.ndarray:
                    some = kinds.get(metric)
                    return draw.choice(some, size) if some else draw.random(size)

                before = values()
                after = np.where(draw.random(size) < 0.3, values(), before)
                for writer, column in ((base, before), (candidate, after)):
                    same = [pa.array([word] * size) for word in ("retrieve", metric, "ok")]
                    rows = [ids, ids, same[0], same[1], pa.array(column), same[2]]
                    writer.write_table(pa.table(rows, schema=schema))


def _table(path: Path) -> pa.Table:
    words = ["stage", "metric", "status"]
    return pq.read_table(path, columns=["query_id", "value", *words], read_dictionary=words)


def _compare(folder: Path, *, sliced: bool) -> None:
    from ragnostic.stats import compare_sides, side_from_scores  # noqa: PLC0415 - measured with it

    sides = []
    for name in ("base", "candidate"):
        table = _table(folder / f"{name}.parquet")
        columns = None
        if sliced:
            ids = table["query_id"][: table.num_rows // len(METRICS)].combine_chunks()
            places = np.arange(len(ids))
            slices = {f"by{n}": pa.array((places % n).astype(str).tolist()) for n in (3, 8, 20)}
            columns = {"query_id": ids, **slices}
        sides.append(side_from_scores(name, table, stages=["retrieve"], columns=columns))
    for found in compare_sides(*sides).metrics:
        print(found.metric, found.difference)


def ragnostic(folder: Path) -> None:
    """Ours, from two Parquet files."""
    _compare(folder, sliced=False)


def ragnostic_sliced(folder: Path) -> None:
    """Ours, with 31 slices of three columns."""
    _compare(folder, sliced=True)


def scipy(folder: Path) -> None:
    """Interval and test by scipy of each metric, batched so that it fits into memory."""
    from scipy.stats import bootstrap, permutation_test  # noqa: PLC0415 - measured with it

    tables = [_table(folder / f"{name}.parquet") for name in ("base", "candidate")]
    sides = [table["value"].to_numpy().reshape(len(METRICS), -1) for table in tables]
    for metric, base, candidate in zip(METRICS, *sides, strict=True):
        change = candidate - base
        options = {"n_resamples": RESAMPLES, "batch": 100, "rng": 1}
        interval = bootstrap((change,), np.mean, method="BCa", **options).confidence_interval
        tested = permutation_test((change,), np.mean, permutation_type="samples", **options)
        print(metric, interval, tested.pvalue)


TOOLS = {tool.__name__: tool for tool in (ragnostic, ragnostic_sliced, scipy)}


def measure(tool: str, folder: Path) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak MB of one tool in its own process."""
    command = [sys.executable, __file__, "--tool", tool, "--folder", str(folder)]
    # As the command line does.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{tool} failed")
    wall = time.perf_counter() - start
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def rows(queries: int, tools: list[str]) -> dict[str, float]:
    """Print a row a tool; CPU seconds of each."""
    cpu = {}
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), queries)
        for tool in tools:
            cpu[tool], wall, memory = measure(tool, Path(folder))
            cells = (tool, f"{queries:,}", f"{cpu[tool]:.2f}", f"{wall:.2f}", f"{memory:.0f}")
            print(f"| {' | '.join(cells)} |", flush=True)
    return cpu


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--tool", choices=list(TOOLS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tool:
        TOOLS[options.tool](options.folder)
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| tool | queries | CPU s | wall s | peak MB |\n| --- | --- | --- | --- | --- |")
    cpu = rows(SMALL, list(TOOLS))
    rows(options.queries, ["ragnostic", "ragnostic_sliced"])
    print(f"\n- ragnostic / scipy at {SMALL:,} (CPU): 1/{cpu['scipy'] / cpu['ragnostic']:.1f}")


if __name__ == "__main__":
    main()
