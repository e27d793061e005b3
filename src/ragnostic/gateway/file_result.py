"""What became of a log file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ragnostic.errors import Fault
from ragnostic.gateway.balance import Balance

Format = Literal["jsonl", "openinference", "ubi"]
FINGERPRINT = 16
"""Hex digits of a file's fingerprint that names of batches and positions hold."""


@dataclass(slots=True)
class FileResult:
    """What became of a file. ``skipped`` are its lines that an earlier call has ingested,
    ``joined`` the lines that became part of another row (events, spans).
    """

    path: Path
    format: Format
    balance: Balance = field(default_factory=Balance)
    skipped: int = 0
    joined: int = 0
    faults: list[Fault] = field(default_factory=list)
