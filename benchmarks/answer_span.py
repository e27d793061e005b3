"""Speed of the judge answer_span alone: python benchmarks/answer_span.py [--queries N].

Judges N queries (half as many distinct answers of about 200 characters) in batches, as a worker
does, over a corpus of 100,000 chunks: seconds to index, seconds to judge, peak memory. With
--growth the same at a tenth of the queries and a tenth of the chunks.
"""

from __future__ import annotations

import argparse
import resource
import time

import pyarrow.compute as pc

from answer_span_data import make
from ragnostic.judges.answer_span import AnswerSpanJudge

BATCH = 50_000


def measure(chunks: int, queries: int) -> None:
    """One line of the table."""
    corpus, records = make(chunks, max(1, queries // 2), queries)
    start = time.perf_counter()
    judge = AnswerSpanJudge.build(corpus)
    built = time.perf_counter() - start
    start, cpu = time.perf_counter(), time.process_time()
    found = 0
    for at in range(0, queries, BATCH):
        judged = judge.judge_records(records.slice(at, BATCH))
        grades = pc.fill_null(
            pc.list_element(pc.list_slice(judged["grades"], 0, 1, return_fixed_size_list=True), 0),
            0,
        )
        found += pc.sum(pc.equal(grades, 1)).as_py() or 0
    judged_s, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    share = found / queries
    print(
        f"| {chunks:,} | {queries:,} | {built:.1f} | {judged_s:.1f} | {cpu:.1f} | {share:.3f} |"
        f" {memory:.0f} |",
        flush=True,
    )


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
        measure(options.chunks // 10, options.queries // 10)
        measure(options.chunks, options.queries // 10)
    measure(options.chunks, options.queries)


if __name__ == "__main__":
    main()
