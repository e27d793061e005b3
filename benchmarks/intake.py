"""Intake: rows a second, with and without redaction, and what redaction costs a character.

The peer in the same run is JSON alone: each row written and read once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ragnostic.gateway.intake import Intake, Where
from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.redaction import Redactor
from ragnostic.ports import AppendResult, Event
from ragnostic.store.queue import SqliteQueue

ROWS = 5000
TEXTS = {
    "Chinese": "员工每年享有十五天年假，满十年后增加到二十天，须提前三天申请并由主管批准。" * 5,
    "English": "Employees have 15 days of annual leave a year; it is asked for in the portal. " * 5,
}
PERSONAL = " 请联系 13800138000 或 li.si@example.com"


class Nowhere:
    """An event log that keeps nothing, so that only the intake is measured."""

    partitions = 16

    def append(self, events: Sequence[Event]) -> AppendResult:
        """Count."""
        return AppendResult(len(events), 0)


def rows(text: str, first: int) -> list[dict[str, Any]]:
    """Records of twenty results each."""
    ids = [f"chunk-{place}" for place in range(20)]
    stage = {"ids": ids, "scores": [0.5] * 20, "doc_ids": ids, "took_ms": 12.5, "top_k": 20}
    return [
        {
            "trace_id": f"{first + number:032x}",
            "span_id": f"{number:016x}",
            "ts": 1767225600000 + number,
            "user_id": f"u{number % 100}",
            "query": "年假有几天？",
            "answer": text,
            "latency_ms": 230.0,
            "stages": {"retrieve": stage},
        }
        for number in range(ROWS)
    ]


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of the better of two."""
    times = []
    for _ in range(2):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print the table."""
    redactor = Redactor()
    redactor.text(PERSONAL)  # compiles and loads what is loaded on use
    with TemporaryDirectory() as name:
        folder = Path(name)
        quarantine = Quarantine(folder / "quarantine")
        for language, text in TEXTS.items():
            for what, answer in (("clean", text), ("with phone and mail", text + PERSONAL)):
                given = rows(answer, 0)
                placed = [(row, Where("benchmark")) for row in given]
                peer = cpu(lambda given=given: [json.loads(json.dumps(row)) for row in given])
                print(f"{language}, {what}: JSON alone {ROWS / peer:,.0f} rows/s")
                for mask in (None, redactor):
                    intake = Intake(Nowhere(), quarantine, mask)
                    took = cpu(lambda intake=intake, placed=placed: intake.accept(placed))
                    label = "redacted" if mask else "not redacted"
                    print(f"  intake, {label}: {ROWS / took:,.0f} rows/s")
                took = cpu(lambda answer=answer: [redactor.text(answer) for _ in range(ROWS)])
                print(f"  redaction: {took / ROWS / len(answer) * 1e9:.1f} ns a character")
        with SqliteQueue(folder / "queue.sqlite") as queue:
            intake = Intake(queue, quarantine, redactor)
            placed = [(row, Where("benchmark")) for row in rows(TEXTS["Chinese"], 1)]
            start = time.perf_counter()
            intake.accept(placed)
            took = time.perf_counter() - start
        print(f"into the durable queue, redacted: {ROWS / took:,.0f} rows/s (wall time)")


if __name__ == "__main__":
    main()
