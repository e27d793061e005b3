"""What the page of a diagnosis is made from, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExampleView:
    """A missed item: the question, the text (or its pieces), the ranks that are known, hints."""

    query_id: str
    query: str
    texts: tuple[str, ...]
    ranks: Mapping[str, int]
    hints: tuple[str, ...]
    overlap: float | None


@dataclass(frozen=True, slots=True)
class CauseView:
    """A cause, in pipeline order: misses, their share, what mending is worth with its interval,
    recall if it and all before it are mended.
    """

    cause: str
    items: int
    share: float
    gain: float
    low: float
    high: float
    ceiling: float
    in_order: float
    examples: tuple[ExampleView, ...]


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """The diagnosis of a run. ``slices``: column → value → cause → misses; ``untested``: causes
    that could not be tested, with for how many items.
    """

    name: str
    metric: str
    value: float | None
    items: int
    missed: int
    queries: int
    causes: tuple[CauseView, ...]
    first: str | None
    slices: Mapping[str, Mapping[str, Mapping[str, int]]]
    untested: Mapping[str, int]
    remarks: tuple[str, ...]
