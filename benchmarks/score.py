"""Scoring speed and memory against pytrec_eval and ranx: python benchmarks/score.py [--queries N].

Every tool runs in its own process, by its own best path from Parquet file to means with values a
query, on the same data: N queries x 20 results x about 3 judged. CPU is user + system time of the
whole process, memory its peak. Then: growth from 1k to N queries, a small input after import, and
equality of every per-query value with pytrec_eval.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from score_data import make

HERE = Path(__file__).resolve().parent
OURS = "Success@5,RR@10,R@1,R@5,R@10,R@20,AP@20,nDCG@10"
THEIRS = {"success_5", "recip_rank", "recall_1,5,10,20", "map_cut_20", "ndcg_cut_10"}
RANX = [
    "hit_rate@5",
    "mrr@10",
    "recall@1",
    "recall@5",
    "recall@10",
    "recall@20",
    "map@20",
    "ndcg@10",
]


def ragnostic_records(folder: Path) -> dict[str, float | None]:
    """The record layout: a row a query."""
    from ragnostic.evalset.record_files import read_records  # noqa: PLC0415 - measured with it
    from ragnostic.metrics import parse_list  # noqa: PLC0415 - the same
    from ragnostic.offline.evaluation import (  # noqa: PLC0415 - the same
        columns_read,
        evaluate_records,
    )
    from ragnostic.scoring import Plan  # noqa: PLC0415 - the same

    path = folder / "records.parquet"
    batches = read_records(path, ["retrieve"], [], columns_read("retrieve"))
    result = evaluate_records(batches, Plan(tuple(parse_list(OURS))))
    return {name: summary.mean for name, summary in result.metrics.items()}


def ragnostic_long(folder: Path) -> dict[str, float | None]:
    """A row a hit, sorted by query, and the qrels beside it."""
    from ragnostic import evaluate  # noqa: PLC0415 - measured with it

    result = evaluate(folder / "qrels.parquet", folder / "run.parquet", OURS)
    return {name: summary.mean for name, summary in result.metrics.items()}


def _pytrec(qrels: dict, run: dict) -> dict[str, float]:
    import pytrec_eval  # noqa: PLC0415 - measured with it

    values = pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(run)
    names = next(iter(values.values()))
    return {name: sum(row[name] for row in values.values()) / len(values) for name in names}


def pytrec_records(folder: Path) -> dict[str, float]:
    """Dicts from the record layout."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - measured with it

    run, qrels = {}, {}
    columns = ["query_id", "retrieve.ids", "retrieve.scores", "judged.ids", "judged.grades"]
    for batch in pq.ParquetFile(folder / "records.parquet").iter_batches(65536, columns=columns):
        ids, scores = (part.to_pylist() for part in batch["retrieve"].flatten())
        gold, grades = (part.to_pylist() for part in batch["judged"].flatten())
        for row, query in enumerate(batch["query_id"].to_pylist()):
            run[query] = dict(zip(ids[row], scores[row], strict=True))
            qrels[query] = dict(zip(gold[row], map(int, grades[row]), strict=True))
    return _pytrec(qrels, run)


def pytrec_long(folder: Path) -> dict[str, float]:
    """Dicts from long Parquet."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - measured with it

    tables = []
    for name, value in (("run", "score"), ("qrels", "grade")):
        found: dict = {}
        for batch in pq.ParquetFile(folder / f"{name}.parquet").iter_batches(65536):
            columns = (batch[c].to_pylist() for c in ("query_id", "chunk_id", value))
            for query, chunk, number in zip(*columns, strict=True):
                try:
                    found[query][chunk] = number
                except KeyError:
                    found[query] = {chunk: number}
        tables.append(found)
    return _pytrec(tables[1], tables[0])


def ranx_long(folder: Path) -> dict[str, float]:
    """Ranx's own readers of frames."""
    import pandas as pd  # noqa: PLC0415 - measured with it
    import ranx  # noqa: PLC0415 - measured with it

    # Its readers ask for object columns, which current pandas no longer makes by itself.
    def frame(name: str) -> pd.DataFrame:
        found = pd.read_parquet(folder / f"{name}.parquet")
        return found.astype({"query_id": object, "chunk_id": object})

    names = {"q_id_col": "query_id", "doc_id_col": "chunk_id"}
    judged = frame("qrels").astype({"grade": "int64"})
    qrels = ranx.Qrels.from_df(judged, score_col="grade", **names)
    run = ranx.Run.from_df(frame("run"), score_col="score", **names)
    return {name: float(mean) for name, mean in ranx.evaluate(qrels, run, RANX).items()}


TOOLS = {
    f.__name__: f
    for f in (ragnostic_records, ragnostic_long, pytrec_records, pytrec_long, ranx_long)
}


def measure(tool: str, folder: Path) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak MB of one tool in its own process."""
    import time  # noqa: PLC0415 - next to its use

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


def compare(folder: Path, tools: list[str], runs: int) -> None:
    """The table of all tools, and the ratios."""
    print("| tool | CPU s | wall s | peak MB |\n| --- | --- | --- | --- |")
    cpu = {}
    for tool in tools:
        found = sorted(measure(tool, folder) for _ in range(runs if "ragnostic" in tool else 1))
        cpu[tool], wall, memory = found[len(found) // 2]
        print(f"| {tool} | {cpu[tool]:.2f} | {wall:.2f} | {memory:.0f} |", flush=True)
    print()
    for ours in ("ragnostic_records", "ragnostic_long"):
        peer = "pytrec" + ours.removeprefix("ragnostic")
        for theirs in (peer, "ranx_long"):
            if ours in cpu and theirs in cpu:
                print(f"- {ours} / {theirs} (CPU): 1/{cpu[theirs] / cpu[ours]:.1f}")


def growth(largest: int) -> None:
    """CPU of both layouts from 1k queries up, without the time to import."""
    print("\n| queries | records CPU s | long CPU s |\n| --- | --- | --- |")
    for queries in (n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= largest):
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), queries)
            cells = [
                subprocess.run(
                    [sys.executable, __file__, "--tool", tool, "--folder", folder, "--warm"],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout.strip()
                for tool in ("ragnostic_records", "ragnostic_long")
            ]
        print(f"| {queries:,} | {' | '.join(cells)} |", flush=True)


def warm(tool: str, folder: Path) -> float:
    """CPU seconds of a second call, when everything is imported."""
    import time  # noqa: PLC0415 - next to its use

    TOOLS[tool](folder)
    start = time.process_time()
    TOOLS[tool](folder)
    return time.process_time() - start


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--tool", choices=list(TOOLS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--warm", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tool:
        print(
            f"{warm(options.tool, options.folder):.3f}"
            if options.warm
            else TOOLS[options.tool](options.folder)
        )
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{options.queries:,} queries x 20 results\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), options.queries)
        compare(Path(folder), options.tools, options.runs)
    growth(options.queries)


if __name__ == "__main__":
    main()
