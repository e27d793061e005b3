"""What a sweep will run: every combination checked, named and told apart, before any runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragnostic.config import PLUG_TABLES, Configuration
from ragnostic.errors import ConfigError, ConfigFault, UsageError, counted
from ragnostic.metrics import Metric
from ragnostic.metrics.registry import mean
from ragnostic.offline.memo import corpus_key, index_key, rerank_key, retrieval_key
from ragnostic.offline.sweep_grid import Axis, named
from ragnostic.offline.sweep_pick import LARGEST_GRID, grid_size, picked

BUDGET_METRICS = ("R(budget=2000)", "TokenPrecision")
"""What chunkers are compared by: at equal k bigger chunks always win (METRICS 3)."""

Load = Callable[[Sequence[str]], Configuration]
"""``a.b=value`` overrides → the configuration with them; raises ConfigError."""


@dataclass(frozen=True, slots=True)
class Combination:
    """One point of the grid. ``key`` (16 hex) stands for its settings, its name included."""

    name: str
    sets: tuple[str, ...]
    configuration: Configuration
    key: str


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The distinct combinations in the order of the grid.

    ``metric`` ranks them, those in ``beside`` are shown with it. ``written`` is the key of the
    combination that the configuration is without any --grid; None where there is none.
    ``left_out``: (name, name of the combination with the same settings). ``chunkers_differ``:
    more than one way of cutting documents is compared. ``grid``: how many combinations the grid
    has where these are only some that were drawn from it; else 0.
    """

    axes: tuple[Axis, ...]
    combinations: tuple[Combination, ...]
    metric: str
    beside: tuple[str, ...]
    written: str | None
    left_out: tuple[tuple[str, str], ...]
    chunkers_differ: bool
    grid: int = 0

    @property
    def total(self) -> int:
        """How many combinations there are to choose from."""
        return self.grid or len(self.combinations)

    def in_running_order(self, chosen: Iterable[Combination]) -> list[Combination]:
        """The chosen combinations, those that share most next to each other."""
        wanted = list(chosen)
        keys = (corpus_key, index_key, retrieval_key, rerank_key)
        ranks: list[dict[Any, int]] = [{} for _ in keys]

        def place(combination: Combination) -> tuple[int, ...]:
            return tuple(
                seen.setdefault(key(combination.configuration), len(seen))
                for key, seen in zip(keys, ranks, strict=True)
            )

        return sorted(wanted, key=place)


def plan_sweep(
    load: Load,
    axes: Sequence[Axis],
    sets: Sequence[str] = (),
    *,
    metric: str | None = None,
    budget: int | None = None,
    seed: int = 0,
) -> SweepPlan:
    """Load every combination; raises ConfigError with the faults of all, each told once.

    ``metric`` ranks the combinations instead of the first one of the configuration; where
    chunkers differ only another budget metric does. ``budget``: how many a search will try; of
    a grid of more than 5,000 only so many are drawn and loaded, and without a budget UsageError
    is raised, as for a metric that looks deeper than a combination retrieves.
    """
    try:
        base = load(sets)
    except ConfigError:  # only the grid makes it whole
        base = None
    settings = {} if base is None else base.as_json()
    points = [named(axes, values) for values in picked(axes, budget, seed, settings)]
    loaded = _load_all(load, points, axes, sets)
    distinct, left_out = _distinct(loaded)
    chunkers = {corpus_key(configuration) for _, _, configuration in distinct}
    differ = len(chunkers) > 1 and any(axis.path[0] == "chunk" for axis in axes)
    ranking, beside = _metrics(distinct[0][2], metric, chunkers_differ=differ)
    combinations = tuple(
        _combination(name, assignments, configuration, (ranking, *beside))
        for name, assignments, configuration in distinct
    )
    for combination in combinations:
        _check_depth(combination, ranking)
    written = "" if base is None else _identity(base)
    same = (
        combination.key
        for combination, (_, _, configuration) in zip(combinations, distinct, strict=True)
        if _identity(configuration) == written
    )
    whole = grid_size(axes)
    return SweepPlan(
        tuple(axes),
        combinations,
        ranking,
        beside,
        next(same, None),
        left_out,
        differ,
        grid=whole if whole > LARGEST_GRID else 0,
    )


def _check_depth(combination: Combination, metric: str) -> None:
    """A metric that looks deeper than was retrieved has no value (METRICS 1.1)."""
    cutoff, top_k = Metric.parse(metric).cutoff, combination.configuration.settings.retrieve.top_k
    if cutoff is not None and cutoff > top_k:
        raise UsageError(
            f"{metric} looks at {cutoff} results, but {combination.name} retrieves"
            f" {top_k} (retrieve.top_k), so it has no value there",
            hint=f"raise retrieve.top_k to {cutoff} or more, or rank by another --metric",
        )


def _load_all(
    load: Load,
    points: Sequence[tuple[str, tuple[str, ...]]],
    axes: Sequence[Axis],
    sets: Sequence[str],
) -> list[tuple[str, tuple[str, ...], Configuration]]:
    found: list[tuple[str, tuple[str, ...], Configuration]] = []
    faults: dict[ConfigFault, list[str]] = {}
    for name, assignments in points:
        try:
            found.append((name, assignments, load([*sets, *assignments])))
        except ConfigError as error:
            for fault in error.faults:
                faults.setdefault(_of_grid(fault, axes), []).append(name)
    if faults:
        raise ConfigError(_told(fault, names, len(points)) for fault, names in faults.items())
    return found


def _of_grid(fault: ConfigFault, axes: Sequence[Axis]) -> ConfigFault:
    keys = {f"--set {axis.key}": f"--grid {axis.key}" for axis in axes}
    return replace(fault, where=keys.get(fault.where, fault.where))


def _told(fault: ConfigFault, names: Sequence[str], total: int) -> ConfigFault:
    if len(names) == total:
        return fault
    more = f" and {counted(len(names) - 1, 'more combination')}" if len(names) > 1 else ""
    return replace(fault, message=f"{fault.message} (with {names[0]}{more})")


def _distinct(
    loaded: Sequence[tuple[str, tuple[str, ...], Configuration]],
) -> tuple[list[tuple[str, tuple[str, ...], Configuration]], tuple[tuple[str, str], ...]]:
    """Combinations without those whose settings come to the same, and the names of these."""
    first: dict[str, str] = {}
    kept, left_out = [], []
    for entry in loaded:
        same = first.setdefault(_identity(entry[2]), entry[0])
        if same == entry[0]:
            kept.append(entry)
        else:
            left_out.append((entry[0], same))
    return kept, tuple(left_out)


def _identity(configuration: Configuration) -> str:
    """What can change a number, as JSON: settings of implementations that are not used cannot."""
    left_out: Any = {"run": True, "report": True, "generate": True, "index": True}
    tables = configuration.settings.model_dump(mode="json", exclude=left_out)
    for name, plug in PLUG_TABLES.items():
        choice = configuration.choices.get(name)
        if choice is None:
            tables.pop(name, None)
        elif name in tables:
            own = {key: value for key, value in tables[name].items() if key not in plug.shared}
            tables[name] = {**own, "options": choice.options.model_dump(mode="json")}
    return json.dumps(tables, sort_keys=True)


def _metrics(
    configuration: Configuration, asked: str | None, *, chunkers_differ: bool
) -> tuple[str, tuple[str, ...]]:
    own = [str(Metric.parse(name)) for name in configuration.settings.score.metrics]
    wanted = own[0] if asked is None else str(Metric.parse(asked))
    if Metric.parse(wanted).definition.reduce is not mean:
        raise UsageError(
            f"{wanted} is no mean of values a query, so combinations cannot be ranked by it",
            hint="name another with --metric",
        )
    if not chunkers_differ:
        return wanted, tuple(name for name in own if name != wanted)
    budget = "budget" in Metric.parse(wanted).definition.params and Metric.parse(wanted).param(
        "budget"
    )
    names = [*([wanted] if budget else []), *BUDGET_METRICS, *([] if budget else [wanted]), *own]
    ranking, *beside = dict.fromkeys(names)
    return ranking, tuple(beside)


def _combination(
    name: str, sets: tuple[str, ...], configuration: Configuration, metrics: Sequence[str]
) -> Combination:
    """The combination with its name, and with the metrics that the table shows."""
    settings = configuration.settings
    own = [str(Metric.parse(metric)) for metric in settings.score.metrics]
    every = tuple(dict.fromkeys((*own, *metrics)))
    changed = settings.model_copy(
        update={
            "run": settings.run.model_copy(update={"name": name}),
            "score": settings.score.model_copy(update={"metrics": every}),
        }
    )
    whole = replace(configuration, settings=changed)
    text = json.dumps(whole.as_json(), sort_keys=True, ensure_ascii=False)
    return Combination(name, sets, whole, hashlib.sha256(text.encode()).hexdigest()[:16])
