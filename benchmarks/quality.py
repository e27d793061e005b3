"""Quality of the bundled retrievers and reranker on real sets: python benchmarks/quality.py DATA.

DATA is the folder that holds the sets as BEIR folders (scifact, rgb-zh). Vectors are kept in
``--cache``, so a second run only searches. Prints one Markdown table a set.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SYSTEMS = {
    "bm25": ("bm25", "none"),
    "dense (e5-small)": ("dense", "none"),
    "hybrid (RRF)": ("hybrid", "none"),
    "bm25 top 20 → embedding": ("bm25", "embedding"),
}
METRICS = ("nDCG@10", "RR@10", "R@10", "Success@1")
CONFIG = """
[dataset]
path = "{path}"
[embed]
cache = "{cache}"
[retrieve]
use = "{retriever}"
top_k = 20
[rerank]
use = "{reranker}"
[score]
metrics = {metrics}
[report]
language = "en"
"""


def evaluate(dataset: Path, system: str, cache: Path, queries: int | None) -> dict[str, float]:
    """Means of the final stage of one system on one set, and the wall time in seconds."""
    retriever, reranker = SYSTEMS[system]
    with tempfile.TemporaryDirectory() as folder:
        source = _first(dataset, queries, Path(folder)) if queries else dataset
        config = Path(folder) / "eval.toml"
        config.write_text(
            CONFIG.format(
                path=source,
                cache=cache,
                retriever=retriever,
                reranker=reranker,
                metrics=json.dumps(METRICS),
            )
        )
        command = [
            sys.executable,
            "-m",
            "ragnostic",
            "eval",
            str(config),
            "--out",
            folder,
            "--json",
        ]
        start = time.perf_counter()
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        seconds = time.perf_counter() - start
        stages = json.loads(done.stdout)["stages"]
    final = stages[list(stages)[-1]]
    found = {name: final["metrics"][name]["mean"] for name in METRICS}
    return found | {"p50 ms": (final.get("latency_ms") or {}).get("p50"), "wall s": seconds}


def _first(dataset: Path, queries: int, folder: Path) -> Path:
    """The set with only its first queries (and all of its corpus)."""
    target = folder / "set"
    (target / "qrels").mkdir(parents=True)
    (target / "corpus.jsonl.gz").symlink_to((dataset / "corpus.jsonl.gz").resolve())
    lines = (dataset / "queries.jsonl").read_text().splitlines()[:queries]
    (target / "queries.jsonl").write_text("\n".join(lines) + "\n")
    kept = {json.loads(line)["_id"] for line in lines}
    head, *rows = (dataset / "qrels/test.tsv").read_text().splitlines()
    rows = [row for row in rows if row.split("\t")[0] in kept]
    (target / "qrels/test.tsv").write_text("\n".join([head, *rows]) + "\n")
    return target


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("quality-vectors.sqlite"))
    parser.add_argument("--sets", nargs="+", default=["rgb-zh:60", "rgb-zh", "scifact"])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    options = parser.parse_args()
    for name in options.sets:
        dataset, _, queries = name.partition(":")
        print(f"\n{dataset}{f', first {queries} queries' if queries else ''}\n")
        head = ["system", *METRICS, "p50 ms", "wall s"]
        print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head), flush=True)
        for system in options.systems:
            found = evaluate(
                options.data / dataset,
                system,
                options.cache.resolve(),
                int(queries) if queries else None,
            )
            cells = [f"{found[metric]:.4f}" for metric in METRICS]
            cells += [f"{found['p50 ms'] or 0:.1f}", f"{found['wall s']:.0f}"]
            print("| " + " | ".join([system, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
