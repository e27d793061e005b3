"""Rules on Debian's own Prometheus, over series that stand for windows of an hour."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

HAS_PROMTOOL = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="system package prometheus is missing"
)


def hourly(values: Iterable[float | None]) -> str:
    """A value a minute, an hour long each; None is no sample."""
    return " ".join("stale _x59" if one is None else f"{one}+0x59" for one in values)


def series(name: str, values: Sequence[float | None], **labels: str) -> dict[str, str]:
    """One series of a test."""
    inside = ",".join(f"{key}={json.dumps(value)}" for key, value in labels.items())
    return {"series": f"{name}{{{inside}}}", "values": hourly(values)}


def run(
    folder: Path, rules: str, inputs: Sequence[Mapping[str, str]], **tests: Sequence[Any]
) -> tuple[int, str]:
    """Exit code and output of ``promtool test rules``."""
    (folder / "rules.yml").write_text(rules, encoding="utf-8")
    case = {"interval": "1m", "input_series": list(inputs), **tests}
    body = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [case]}
    (folder / "tests.yml").write_text(json.dumps(body), encoding="utf-8")
    done = subprocess.run(
        ["promtool", "test", "rules", "tests.yml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
