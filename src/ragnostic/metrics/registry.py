"""The registry: one decorator makes a function a metric.

Definitions are found by importing every module of this package, so a new metric is one new
function (or file) and nothing else. The catalogue's order is METRICS.md's.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from ragnostic.metrics.inputs import Array, Columns, Floats

Queries = Literal["answerable", "unanswerable", "both"]
Cutoff = Literal["required", "optional", "none"]
Params = Mapping[str, Any]


def mean(columns: Columns) -> float | None:
    """The default reduction: mean of the defined values, None when there is none."""
    values = columns.value[~np.isnan(columns.value)]
    return float(values.mean()) if values.size else None


@dataclass(frozen=True, slots=True)
class Definition:
    """What is known of a metric apart from its parameters' values."""

    name: str
    compute: Callable[..., Columns]
    section: str
    formula: str
    purpose: str
    cutoff: Cutoff
    params: Params
    """Parameter → default, or a tuple of allowed words whose first is the default; None stands
    for any number, none by default."""
    aliases: tuple[str, ...] = ()
    mean_name: str = ""
    """How the mean is shown (MRR for RR); empty: as the name."""
    graded: bool = False
    """Scored against relevance judgments, so Judged@k belongs beside it."""
    higher_is_better: bool = True
    range: tuple[float, float] | None = (0.0, 1.0)
    needs: tuple[str, ...] = ()
    """Optional columns of :class:`~ragnostic.metrics.inputs.Gains` that must be there; the word
    ``facets`` asks for gains whose items are the facets."""
    curve: bool = False
    """A value a depth instead of one: drawn in reports, not listed beside means."""
    on: Queries = "answerable"
    """The queries that have a value. Metrics of unanswerable ones too are computed from
    :class:`~ragnostic.metrics.inputs.Results`, the others from the gain matrix (METRICS 9)."""
    finish: Callable[[Floats, Array], Floats] | None = None
    """Makes the values a query once all queries are there, from the computed ones and from which
    queries are unanswerable; for a metric that compares queries with each other."""
    reduce: Callable[[Columns], Any] = mean

    def default(self, param: str) -> Any:
        """Default value of a parameter."""
        allowed = self.params[param]
        return allowed[0] if isinstance(allowed, tuple) else allowed


@dataclass(frozen=True, slots=True)
class Signal:
    """What is known of a signal: a figure of live traffic that needs more than a ranking and
    judgments, so that it is not computed from the gain matrix.
    """

    name: str
    compute: Callable[..., Any]
    section: str
    formula: str
    purpose: str
    needs: str
    """What must be logged or probed for it."""
    write: str
    """How it is written in a list of metrics."""
    higher_is_better: bool = True
    range: tuple[float, float] | None = (0.0, 1.0)


_REGISTRY: dict[str, Definition] = {}
_SIGNALS: dict[str, Signal] = {}

COMMON: Params = {
    "rel": 1,
    "judged_only": False,
    "unjudged": ("irrelevant", "relevant"),
    "facet": "",
}
"""Parameters of every relevance metric (METRICS 1.8, 1.9, 5), applied before it is computed:
``judged_only`` condenses the ranking, ``unjudged=relevant`` is the upper bound, ``facet`` picks
the judgments of one dimension. ``rel`` is handed to the function if it takes it."""


def metric(
    name: str,
    *,
    section: str,
    formula: str,
    purpose: str,
    cutoff: Cutoff = "optional",
    params: Params | None = None,
    graded: bool = True,
    **rest: Any,
) -> Callable[[Callable[..., Columns]], Callable[..., Columns]]:
    """Register the decorated function as metric ``name``; see :class:`Definition`."""

    def register(compute: Callable[..., Columns]) -> Callable[..., Columns]:
        own = dict(params or {})
        if graded:
            takes_rel = "rel" in inspect.signature(compute).parameters
            of_facets = "facets" in rest.get("needs", ())
            unwanted = {"rel": not takes_rel, "facet": of_facets}
            own |= {k: v for k, v in COMMON.items() if not unwanted.get(k)}
        _REGISTRY[name] = Definition(
            name=name,
            compute=compute,
            section=section,
            formula=formula,
            purpose=purpose,
            cutoff=cutoff,
            params=own,
            graded=graded,
            **rest,
        )
        return compute

    return register


def signal(name: str, **facts: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as signal ``name``; see :class:`Signal`."""

    def register(compute: Callable[..., Any]) -> Callable[..., Any]:
        _SIGNALS[name] = Signal(name=name, compute=compute, **facts)
        return compute

    return register


@cache
def _import_all() -> None:
    package = importlib.import_module("ragnostic.metrics")
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"ragnostic.metrics.{module}")


def definitions() -> Iterator[Definition]:
    """All metrics in the order of METRICS.md.

    >>> [d.name for d in definitions()][:2]
    ['F1', 'P']
    """
    _import_all()

    def place(definition: Definition) -> tuple[bool, str, str]:
        # Section 1.9 (unjudged chunks) reads better after the metrics it qualifies.
        return definition.section.startswith("1."), definition.section, definition.name.lower()

    return iter(sorted(_REGISTRY.values(), key=place))


def signals() -> Iterator[Signal]:
    """All signals that are no metric of a ranking, in the order of METRICS.md.

    >>> [one.name for one in signals()]
    ['QER', 'RDS', 'RBO', 'RCS', 'RetrievalOverlap', 'RetrievalRBO']
    """
    _import_all()
    return iter(sorted(_SIGNALS.values(), key=lambda one: (one.section, one.name)))


@cache
def lookup() -> Mapping[str, Definition]:
    """Lower-cased name or alias → definition."""
    found: dict[str, Definition] = {}
    for definition in definitions():
        for word in (definition.name, *definition.aliases):
            found[word.lower()] = definition
    return found
