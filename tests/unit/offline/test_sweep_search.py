"""Drawing and halving: distinct, repeatable, nested."""

from __future__ import annotations

import builtins

import pytest

from ragnostic.errors import UsageError
from ragnostic.offline.inputs import Inputs
from ragnostic.offline.sweep_plan import Combination, SweepPlan
from ragnostic.offline.sweep_search import RUNGS, draw, halve, load_optuna, sample_of
from ragnostic.records import EvalQuery


def _plan(count: int, written: int | None = None) -> SweepPlan:
    combinations = tuple(Combination(f"n={n}", (), None, f"key{n}") for n in range(count))
    key = None if written is None else f"key{written}"
    return SweepPlan((), combinations, "RR@5", (), key, (), chunkers_differ=False)


@pytest.mark.parametrize("budget", [1, 3, 9, 10, 50])
def test_draws_are_distinct_repeatable_and_begin_with_the_written_one(budget):
    """As many as the budget, or all there are."""
    drawn = [one.key for one in draw(_plan(10, written=7), budget, 3)]
    assert drawn == [one.key for one in draw(_plan(10, written=7), budget, 3)]
    assert len(set(drawn)) == len(drawn) == min(budget, 10)
    assert drawn[0] == "key7"


def test_another_seed_draws_others():
    """And without a written combination none is favoured."""
    draws = {tuple(one.key for one in draw(_plan(30), 5, seed)) for seed in range(5)}
    assert len(draws) == 5


@pytest.mark.parametrize(("upward", "best"), [(True, 9), (False, 0)])
def test_halving_keeps_the_best_and_stops_the_worse_half(upward, best):
    """A combination's quality is its number; the best always gets to the end."""
    measured: list[tuple[str, float]] = []

    def measure(combination: Combination, share: float) -> float:
        measured.append((combination.key, share))
        return float(combination.key.removeprefix("key"))

    chosen = draw(_plan(10), 10, 1)
    whole = halve(chosen, measure, higher_is_better=upward)
    assert f"key{best}" in {one.key for one in whole}
    assert whole[0] == chosen[0]
    assert len(whole) < 10
    assert sum(share == RUNGS[0] for _, share in measured) == 10


def test_a_combination_without_a_mean_does_not_go_on():
    """Only the first, whom nothing stops, may end without one."""
    chosen = draw(_plan(6), 6, 1)
    whole = halve(
        chosen[1:], lambda one, _: None if one != chosen[1] else 1.0, higher_is_better=True
    )
    assert whole == [chosen[1]]
    assert halve(chosen[:1], lambda *_: None, higher_is_better=True) == []


def test_samples_are_nested_and_hold_both_kinds_of_queries():
    """A quarter within a half within all, in the order of the set; never none."""
    queries = tuple(EvalQuery(f"q{n}", "x", answerable=n % 5 != 0) for n in range(40))
    inputs = Inputs("set", queries, None, ())
    parts = [sample_of(share, 2)(inputs).queries for share in RUNGS]
    assert [len(part) for part in parts] == [10, 20, 40]
    assert set(parts[0]) < set(parts[1]) < set(parts[2])
    assert [sum(not query.answerable for query in part) for part in parts] == [2, 4, 8]
    assert list(parts[1]) == [query for query in queries if query in set(parts[1])]
    assert sample_of(0.25, 3)(inputs).queries != parts[0]
    assert len(sample_of(0.01, 0)(Inputs("one", queries[1:2], None, ())).queries) == 1


def test_without_optuna_the_extra_is_named(monkeypatch):
    """The only package that is not always there."""
    real = builtins.__import__

    def without(name, *rest, **named):
        if name == "optuna":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r"pip install 'ragnostic\[sweep\]'"):
        load_optuna()
