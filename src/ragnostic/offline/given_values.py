"""Values a query that a caller computed elsewhere, as sides of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, SupportsFloat

from ragnostic.errors import DataError, UsageError
from ragnostic.metrics import Metric
from ragnostic.stats.sides import Side, side_from_values


@dataclass(frozen=True, slots=True)
class GivenSide:
    """A side, and the metrics of which only a mean was given: those cannot be paired."""

    side: Side
    bare: tuple[str, ...] = ()


def sides_of_values(given: Mapping[str, Any], name: str) -> list[GivenSide]:
    """Sides of ``{metric: {query id: value}}``: one, or as many as the longest list where values
    are lists of repeats.

    A value is a number, None where undefined, or a list of those. Raises UsageError for anything
    else, DataError for a value that is no finite number, NaN too: it is mostly a slip upstream.

    >>> found = sides_of_values({"mrr@5": {"q1": [0.5, 1.0], "q2": 1.0}}, "base")
    >>> [entry.side.values["retrieve", "RR@5"].tolist() for entry in found]
    [[0.5, 1.0], [1.0]]
    """
    columns: dict[str, Mapping[str, Any]] = {}
    bare: list[str] = []
    for metric, values in given.items():
        if isinstance(values, Mapping):
            columns[metric] = values
            _refuse_nan(name, metric, values)
        elif isinstance(values, int | float):
            columns[metric] = {}
            bare.append(str(Metric.parse(metric)))
        else:
            raise UsageError(
                f"{name}: {metric} holds a {type(values).__name__}",
                hint="give {metric: {query id: value}}",
            )
    if not columns:
        raise UsageError(f"{name}: no metric is given", hint="give {metric: {query id: value}}")
    repeats = max(
        (len(value) for column in columns.values() for value in column.values() if _several(value)),
        default=1,
    )
    return [
        GivenSide(
            side_from_values(name, {key: _repeat(column, at) for key, column in columns.items()}),
            tuple(bare),
        )
        for at in range(max(repeats, 1))
    ]


def _refuse_nan(name: str, metric: str, values: Mapping[str, Any]) -> None:
    for query, value in values.items():
        for number in value if _several(value) else [value]:
            if isinstance(number, SupportsFloat) and math.isnan(number):
                raise DataError(
                    f"{name}: {Metric.parse(metric)} of query {query}: {number!r} is no number",
                    hint="give None where a query has no value",
                )


def _several(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _repeat(column: Mapping[str, Any], at: int) -> dict[str, Any]:
    """The ``at``-th value of each query that has so many; a single value is the first."""
    found: dict[str, Any] = {}
    for query, value in column.items():
        values = list(value) if _several(value) else [value]
        if at < len(values):
            found[query] = values[at]
        elif not values and at == 0:
            found[query] = None
    return found
