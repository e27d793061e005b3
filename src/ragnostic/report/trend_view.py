"""What the trend page is made from: the runs of one evaluation set over time, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class TrendValue(NamedTuple):
    """A mean with its 95 % interval over ``n`` queries; None where it is undefined."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


class Turn(NamedTuple):
    """A change against the run before that chance does not explain: ``run`` is the later one,
    ``difference`` later minus earlier, paired, with its interval.
    """

    metric: str
    run: str
    difference: float
    low: float | None
    high: float | None


class EasyQuery(NamedTuple):
    """A query with a relevant first result in every one of the last runs; ``text`` may be None."""

    query_id: str
    text: str | None


@dataclass(frozen=True, slots=True)
class TrendRun:
    """One run: ``settings_changed`` are (key, value before, value now) against the run before.

    ``values`` holds the metrics of ``stage``, the final one. ``link`` is the path of its report
    relative to the trend page; None makes no link.
    """

    name: str
    created: str | None = None
    tags: tuple[str, ...] = ()
    settings_changed: tuple[tuple[str, str, str], ...] = ()
    values: Mapping[str, TrendValue] = field(default_factory=dict)
    stage: str = ""
    link: str | None = None


@dataclass(frozen=True, slots=True)
class TrendView:
    """All runs of one evaluation set, oldest first.

    ``best`` is the run name that was best by each metric; ``last`` how many of the latest runs an
    easy query was first in.
    """

    evaluation_set: str
    metrics: tuple[str, ...]
    runs: tuple[TrendRun, ...]
    best: Mapping[str, str] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()
    easy: tuple[EasyQuery, ...] = ()
    last: int = 5
