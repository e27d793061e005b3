"""Start-up: ``ragnostic --help``, and 1,000 queries scored after import.

A bare ``python -c pass`` runs beside it as the peer.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
SMALL = """
import random, sys, time
from ragnostic import evaluate
draw = random.Random(3)
qrels = {f"q{i}": {f"d{draw.randrange(999)}": 1 for _ in range(3)} for i in range(1000)}
run = {f"q{i}": {f"d{draw.randrange(999)}": draw.random() for _ in range(20)} for i in range(1000)}
evaluate({"q": ["a"]}, {"q": ["a"]}, "RR@5")
start = time.perf_counter()
evaluate(qrels, run, "Success@5,RR@10,R@20,AP@20,nDCG@10")
print((time.perf_counter() - start) * 1000)
assert "scipy" not in sys.modules
"""


def median_ms(command: list[str]) -> float:
    """Median wall time of a command in milliseconds."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    bare = median_ms([sys.executable, "-c", "pass"])
    shown = median_ms([sys.executable, "-m", "ragnostic", "--help"])
    print(f"- python -c pass: {bare:.0f} ms")
    print(f"- ragnostic --help: {shown:.0f} ms ({shown / bare:.1f} x)")
    small = [
        float(subprocess.run([sys.executable, "-c", SMALL], check=True, capture_output=True).stdout)
        for _ in range(5)
    ]
    print(f"- 1,000 queries of dicts, after import: {statistics.median(small):.1f} ms")


if __name__ == "__main__":
    main()
