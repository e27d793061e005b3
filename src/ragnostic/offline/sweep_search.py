"""Which combinations are tried within a budget: drawn at random, or by successive halving."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from ragnostic.errors import UsageError
from ragnostic.offline.inputs import Inputs
from ragnostic.offline.sweep_plan import Combination, SweepPlan

RUNGS = (0.25, 0.5, 1.0)
"""Shares of the queries on which halving measures; the last one is all of them."""

Measure = Callable[[Combination, float], float | None]
"""(combination, share of the queries) → its mean there, None where it has none."""


def load_optuna() -> Any:
    """The optimiser, which only a search within a budget needs; raises UsageError without it."""
    try:
        import optuna  # noqa: PLC0415 - heavy, and optional
    except ImportError as error:
        raise UsageError(
            "--search random and --search halving need the package optuna",
            hint="pip install 'ragnostic[sweep]', or try all combinations with --search grid",
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def draw(plan: SweepPlan, budget: int, seed: int) -> list[Combination]:
    """``budget`` distinct combinations, in the order in which they were drawn.

    The combination that the configuration itself is comes first: the others are compared with
    it. All combinations where the budget allows for them.
    """
    optuna = load_optuna()
    everything = list(plan.combinations)
    found = {one.key: one for one in everything if one.key == plan.written}
    if budget >= len(everything):
        random.Random(seed).shuffle(everything)  # noqa: S311 - no secret
        return list((found | {one.key: one for one in everything}).values())
    sampler = optuna.samplers.RandomSampler(seed=seed)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    places = optuna.distributions.CategoricalDistribution(range(len(everything)))
    while len(found) < budget:
        place = study.ask({"combination": places}).params["combination"]
        found.setdefault(everything[place].key, everything[place])
    return list(found.values())[:budget]


def halve(
    chosen: Sequence[Combination], measure: Measure, *, higher_is_better: bool
) -> list[Combination]:
    """The combinations that were measured on all queries, in the order in which they came.

    Each is measured on ever larger parts; it goes on only while it is in the better half of
    those that reached the same part before it. The first one always gets to the end.
    """
    optuna = load_optuna()
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=2)
    direction = "maximize" if higher_is_better else "minimize"
    study = optuna.create_study(pruner=pruner, direction=direction)
    whole: list[Combination] = []
    for combination in chosen:
        trial = study.ask()
        score = None
        for rung, share in enumerate(RUNGS):
            score = measure(combination, share)
            trial.report(float("nan") if score is None else score, 2**rung)
            if share < 1 and trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            whole.append(combination)
            failed = optuna.trial.TrialState.FAIL if score is None else None
            study.tell(trial, score, state=failed)
    return whole


def sample_of(share: float, seed: int) -> Callable[[Inputs], Inputs]:
    """A function that picks this share of the queries, at least one; larger shares hold smaller
    ones. Answerable and unanswerable queries are drawn apart, so that both are in every part.
    """

    def sample(inputs: Inputs) -> Inputs:
        picked: set[str] = set()
        for answerable in (True, False):
            ids = [query.query_id for query in inputs.queries if query.answerable is answerable]
            random.Random(f"{seed} {answerable}").shuffle(ids)  # noqa: S311 - no secret
            picked.update(ids[: ceil(share * len(ids))])
        kept = tuple(query for query in inputs.queries if query.query_id in picked)
        return replace(inputs, queries=kept)

    return sample
