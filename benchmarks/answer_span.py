"""Speed of the judge answer_span alone: python benchmarks/answer_span.py [--queries N].

Judges the traffic of ``online_data.py`` (each answer is given twice, with two queries) in batches,
in one process: seconds to index the chunks, seconds to judge, the share of records with a
hard-relevant chunk, peak memory with the traffic in it. ``--growth`` also at half the queries, and
over a tenth of the chunks.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import pyarrow as pa
import pyarrow.compute as pc

from online_data import make_corpus, make_events
from ragnostic.judges.answer_span import AnswerSpanJudge

COLUMNS = ("record_id", "query", "answer")


def measure(chunks: int, queries: int) -> None:
    """One line of the table."""
    corpus = make_corpus(chunks)
    table = corpus.table().rename_columns(["id", "text"])
    start = time.perf_counter()
    judge = AnswerSpanJudge.build(table)
    print(f"| {chunks:,} | {queries:,} | {time.perf_counter() - start:.1f}", end="", flush=True)
    wall = used = found = 0.0
    for events in make_events(corpus, queries):
        rows = [json.loads(event.payload) for event in events]
        records = pa.table({name: [row[name] for row in rows] for name in COLUMNS})
        start, cpu = time.perf_counter(), time.process_time()
        judged = judge.judge_records(records)
        wall += time.perf_counter() - start
        used += time.process_time() - cpu
        best = pc.list_slice(judged["grades"], 0, 1)  # hard-relevant chunks come first
        found += pc.sum(pc.list_flatten(best)).as_py() or 0
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f" | {wall:.1f} | {used:.1f} | {found / queries:.3f} | {memory:.0f} |", flush=True)


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--growth", action="store_true")
    options = parser.parse_args()
    print(
        "| chunks | queries | index s | judge s | CPU s | found | peak MB |\n" + "| --- " * 7 + "|"
    )
    if options.growth:
        measure(options.chunks // 10, options.queries // 2)
        measure(options.chunks, options.queries // 2)
    measure(options.chunks, options.queries)


if __name__ == "__main__":
    main()
