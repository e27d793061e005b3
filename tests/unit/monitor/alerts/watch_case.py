"""A store with roll-ups of a few figures, hour by hour or day by day, and rules over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.monitor.alerts.actions import Action
from ragnostic.monitor.alerts.book import Book
from ragnostic.monitor.alerts.check import Checked, check_alerts
from ragnostic.monitor.alerts.rule_files import RuleBook
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.rollups.rows import ROLLUP_SCHEMA
from ragnostic.store.lake import ParquetLake

ZONE = "UTC"
START = datetime(2026, 3, 2, tzinfo=UTC)
"""A Monday."""
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
N = 300


def rule(**values: Any) -> Rule:
    """A rule on the hours of RR@5."""
    return Rule.model_validate(
        {"id": "mrr-low", "metric": "RR@5", "window": "hour", "severity": "P1"} | values
    )


def book_of(*rules: Rule, actions: Iterable[str] = ()) -> RuleBook:
    """The rules of a store."""
    return RuleBook(rules, actions=tuple(Action(name=name, flag_file="f") for name in actions))


class Traffic:
    """Roll-ups of a store; what is written for an hour again replaces it."""

    def __init__(self, root: Path, zone: str = ZONE) -> None:
        self.lake = ParquetLake(root, zone)
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}

    def write(
        self,
        hours: Mapping[int, float | tuple[float, int]],
        metric: str = "RR@5",
        slice_: str = "",
        value: str = "",
        judge: str = "gold",
    ) -> None:
        """Hour since START → mean, or mean and n."""
        for hour, given in hours.items():
            mean, n = given if isinstance(given, tuple) else (given, N)
            ts = START + hour * HOUR
            more = [float(n), float(n), n * mean] if metric == "QER@5" else []
            self.rows[hour, judge, slice_, value, metric] = {
                "ts": ts,
                "judge": judge,
                "stage": "rerank",
                "stage_place": 1,
                "slice": slice_,
                "value": value,
                "metric": metric,
                "n": n,
                "sum": n * mean,
                "sum_squares": n * (mean * mean + 0.01),
                "more": more,
                "sketch": None,
            }
        rows = list(self.rows.values())
        schema = ROLLUP_SCHEMA.remove(ROLLUP_SCHEMA.get_field_index("day"))
        self.lake.write("rollups", pa.Table.from_pylist(rows, schema), name="rollup")


class Watch:
    """A store that is checked again and again; ``heard`` is what one channel was told."""

    def __init__(self, root: Path, rules: RuleBook) -> None:
        self.root = root
        self.rules = rules
        self.traffic = Traffic(root)
        self.heard: list[tuple[int, str, str]] = []
        self.last: Checked | None = None

    def check(self, hour: float, **options: Any) -> Checked:
        """A check as a new process does it, a quarter past an hour."""
        now = START + hour * HOUR + timedelta(minutes=15)
        options = {"routes": lambda _: ["ops"]} | options
        with Book(self.root) as book:
            found = check_alerts(self.traffic.lake, book, self.rules, now, zone=ZONE, **options)
        for _, notice in found.messages:
            place = "/".join(notice.slice.values())
            self.heard.append((int(hour), notice.kind, f"{notice.rule}:{place}"))
        self.last = found
        return found

    def run(self, hours: Iterable[int]) -> None:
        """A check after each of these hours."""
        for hour in hours:
            self.check(hour + 1)

    def statuses(self) -> dict[str, str]:
        """Rule and slice value → status."""
        assert self.last is not None
        return {
            f"{key.rule}:{key.value}": track.state.status for key, track in self.last.tracks.items()
        }
