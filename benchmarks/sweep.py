"""A sweep of 12 settings against the sum of its distinct parts: python benchmarks/sweep.py DATA.

DATA is a BEIR folder (scifact). 2 ways of cutting x 2 values of k1 x 3 of top_k, BM25, no
reranker. Every part that differs is timed alone, in this process: loading once, cutting twice,
indexing four times, and for each of the 12 settings retrieving, scoring and writing the run
folder with its report. Then the sweep itself, in a process of its own. Target: at most 1.3 times.
CPU time stands beside the wall: on a busy machine the wall says more about the others.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from ragnostic import config, plugins
from ragnostic.metrics import Metric
from ragnostic.offline.evaluation_run import Job, evaluate
from ragnostic.offline.inputs import load_inputs
from ragnostic.offline.memo import Memo, corpus_key, index_key
from ragnostic.offline.run_folder import write_run
from ragnostic.ports import no_progress
from ragnostic.report import render_run

Result = TypeVar("Result")

CHUNKS, K1, TOP_K = (100, 200), (0.9, 1.2), (20, 50, 100)
TARGET = 1.3
CONFIG = """
[dataset]
path = "{data}"
[chunk]
by = "fixed"
overlap = 0
[rerank]
use = "none"
[score]
metrics = ["R(budget=2000)", "TokenPrecision", "nDCG@10", "R@20"]
[report]
language = "en"
"""


class Clock:
    """Adds up seconds by part: (wall, CPU)."""

    def __init__(self) -> None:
        self.seconds: dict[str, tuple[float, float]] = {}

    def time(self, part: str, work: Callable[[], Result]) -> Result:
        """The result of ``work``; its seconds are counted under ``part``."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        before = self.seconds.get(part, (0.0, 0.0))
        taken = (time.perf_counter() - wall, time.process_time() - cpu)
        self.seconds[part] = (before[0] + taken[0], before[1] + taken[1])
        return result

    @property
    def total(self) -> tuple[float, float]:
        """Of all parts."""
        walls, cpus = zip(*self.seconds.values(), strict=True)
        return sum(walls), sum(cpus)


def settings(file: Path, *sets: str) -> config.Configuration:
    """The configuration with these overrides."""
    return config.load(file, find_plugin=plugins.load, check_metric=Metric.parse, sets=sets)


def parts(file: Path, out: Path) -> Clock:
    """Each distinct part once, timed alone: what it needs is there before its clock starts."""
    clock = Clock()
    memo = Memo(kept=["queries", "documents", "corpus", "retriever", "judge", "fingerprints"])
    seen: set[Any] = set()
    for tokens, k1, top_k in product(CHUNKS, K1, TOP_K):
        sets = (f"chunk.max_tokens={tokens}", f"retrieve.bm25.k1={k1}", f"retrieve.top_k={top_k}")
        one = settings(file, *sets)
        first = {key for key in (corpus_key(one), index_key(one)) if key not in seen}
        seen |= first
        if corpus_key(one) in first:
            clock.time("load and cut", lambda one=one: load_inputs(one, no_progress, memo))
        name = "index, retrieve, score" if index_key(one) in first else "retrieve, score"
        run = clock.time(name, lambda one=one: evaluate(one, Job(memo=memo)))
        page = "write run and report"
        clock.time(page, lambda run=run: write_run(out, str(run.meta["run"]), run, _page))
    return clock


def _page(run: Any) -> str:
    return render_run(run, language="en")


def sweep(file: Path, out: Path) -> tuple[float, float]:
    """Wall and CPU seconds of the whole command, the start of the program included."""
    grids = (
        f"chunk.max_tokens={','.join(map(str, CHUNKS))}",
        f"retrieve.bm25.k1={','.join(map(str, K1))}",
        f"retrieve.top_k={','.join(map(str, TOP_K))}",
    )
    arguments = [part for grid in grids for part in ("--grid", grid)]
    command = [sys.executable, "-m", "ragnostic", "sweep", str(file), "--out", str(out)]
    start = time.perf_counter()
    subprocess.run([*command, *arguments], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - start, used.ru_utime + used.ru_stime


def main() -> None:
    """Print the parts, the sweep and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "eval.toml"
        file.write_text(CONFIG.format(data=data.resolve()), encoding="utf-8")
        clock = parts(file, folder / "parts")
        whole = sweep(file, folder / "sweep")
    print(f"{'':24}{'wall':>10}{'CPU':>10}")
    rows = {**clock.seconds, "sum of distinct parts": clock.total, "sweep": whole}
    for part, (wall, cpu) in rows.items():
        print(f"{part:24}{wall:8.2f} s{cpu:8.2f} s")
    ratios = [one / of for one, of in zip(whole, clock.total, strict=True)]
    verdict = "met" if ratios[0] <= TARGET else "missed"
    print(f"{'ratio':24}{ratios[0]:10.2f}{ratios[1]:10.2f}   target {TARGET}: {verdict}")


if __name__ == "__main__":
    main()
