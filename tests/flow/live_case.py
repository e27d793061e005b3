"""A small service's log and corpus, and the program as real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TEXTS = {
    f"c{n}": f"第{n}号规定：员工每年享有{n + 3}天年假，需提前一周向主管提出书面申请。"
    for n in range(40)
}
SETTINGS = '[store]\nzone = "Asia/Shanghai"\n'


def log_row(number: int) -> dict[str, Any]:
    """A logged query; the chunk with its answer comes at rank 1 + number % 4."""
    topic = number % len(TEXTS)
    others = [f"c{(topic + step) % len(TEXTS)}" for step in range(1, 10)]
    others.insert(number % 4, f"c{topic}")
    return {
        "trace_id": f"t{number}",
        "span_id": "search",
        "query_id": f"q{number}",
        "ts": f"2026-03-0{1 + number % 3}T10:00:{number % 60:02d}+08:00",
        "user_id": f"u{number % 7}",
        "session_id": f"s{number % 5}",
        "query": f"第{topic}号规定有几天年假？",
        "answer": f"员工每年享有{topic + 3}天年假，需提前一周向主管提出书面申请。",
        "retrieve": {"ids": others, "top_k": 10, "took_ms": 12.0},
    }


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    """JSON Lines; text stands as it is."""
    lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_corpus(folder: Path) -> Path:
    """The corpus as ready chunks."""
    rows = ({"chunk_id": key, "text": text} for key, text in TEXTS.items())
    return write_lines(folder / "chunks.jsonl", rows)


def command(*arguments: str) -> list[str]:
    """The program with these arguments."""
    return [sys.executable, "-m", "ragnostic", *arguments]


def run(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The program in a folder, ended with this exit code."""
    done = subprocess.run(
        command(*arguments), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return done


def as_json(folder: Path, *arguments: str) -> dict[str, Any]:
    """What the program prints with ``--json``."""
    found: dict[str, Any] = json.loads(run(folder, *arguments, "--json").stdout)
    return found
