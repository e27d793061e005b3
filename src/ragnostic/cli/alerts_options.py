"""What the commands about alerts share: the store, its book, its rules, and the time."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.console import print_warnings
from ragnostic.cli.live_options import open_lake
from ragnostic.errors import UsageError
from ragnostic.monitor.alerts.book import Book
from ragnostic.monitor.alerts.rule_files import FILE, RuleBook, load_rules
from ragnostic.monitor.windows import moment

_SPAN = re.compile(r"(\d{1,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

RulesFile = Annotated[
    Path | None,
    typer.Option("--rules", metavar="FILE", help=f"Rules and channels (default: {FILE} of DIR)."),
]
Now = Annotated[
    str,
    typer.Option("--now", metavar="T", help="Take this for the time: a replay of the past."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who you are (default: $USER).")]
Lateness = Annotated[
    str,
    typer.Option(metavar="SPAN", help="How long after its end a window is looked at: 30m, 1h."),
]


class SystemClock:
    """The :class:`~ragnostic.ports.Clock` of this machine."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


@contextmanager
def open_book(root: Path) -> Iterator[tuple[Book, str]]:
    """The book of a store folder and the zone of its days; what of it was damaged is said.

    Raises PathError for a folder that is no store.
    """
    _, zone = open_lake(root)
    with Book(root) as book:
        print_warnings(map(str, book.damages))
        yield book, zone


def rules_path(root: Path, given: Path | None) -> Path | None:
    """The file with rules and channels; None where the store has none."""
    path = root / FILE if given is None else given
    return path if given is not None or path.exists() else None


def rules_of(root: Path, given: Path | None) -> RuleBook:
    """The rules that hold for a store; raises ConfigError with all faults of the file."""
    return load_rules(rules_path(root, given))


def instant(text: str, zone: str) -> datetime:
    """The time of a ``--now``; raises UsageError."""
    return moment(text, zone=zone, now=datetime.now(UTC))


def span(text: str, option: str) -> timedelta:
    """A length of time such as ``30m``, ``2h``, ``3d`` or ``1w``; raises UsageError.

    >>> span("2h", "--lateness")
    datetime.timedelta(seconds=7200)
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"{option}: {text!r} is no length of time", hint="such as 30m, 2h, 3d or 1w"
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def until(text: str, zone: str, now: datetime) -> datetime:
    """The end of a silence: a length of time from now, or whatever
    :func:`~ragnostic.monitor.windows.moment` takes.

    >>> until("2h", "UTC", datetime(2026, 3, 1, tzinfo=UTC)).isoformat()
    '2026-03-01T02:00:00+00:00'
    """
    if _SPAN.fullmatch(text.strip()):
        return now + span(text, "--until")
    return moment(text, zone=zone, now=now)


def author(given: str) -> str:
    """Who asks for it; raises UsageError where nobody knows."""
    name = given.strip() or os.environ.get("USER", "").strip()
    if not name:
        raise UsageError("--by is missing", hint="others will ask who did it")
    return name
