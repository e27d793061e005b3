"""Faults planted into a real system over a real set, and the causes that are then told."""

from __future__ import annotations

import runpy
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.shared
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def bench(shared, tmp_path_factory):
    """The benchmark's names, the handbook's questions, and those that a clean system answers."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        names = SimpleNamespace(**runpy.run_path(str(BENCHMARKS / "diagnosis.py")))
        faults = sys.modules["planted_faults"]
        folder = tmp_path_factory.mktemp("planted")
        documents, questions = names.READERS["gitlab-handbook"](shared / "data" / "gitlab-handbook")
        system, questions = names.System.of(documents, questions, cut_up=True)
        first = names.run(system, questions, names.Planted(), folder / "clean")
        yield SimpleNamespace(
            names=names, faults=faults, folder=folder, system=system, questions=questions,
            first=first,
        )  # fmt: skip
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_no_cause_is_invented_where_nothing_is_planted(bench):
    """What a clean system misses is given what brute force says: ranked too low, or just so."""
    told = bench.first
    wrong = [name for name, said in told.causes.items() if bench.system.natural(told, name) != said]
    assert len(told.causes) > 30
    assert len(wrong) <= 0.02 * len(told.causes)


def test_planted_misses_are_given_their_cause(bench):
    """All faults at once, each drawn by itself: 95 % and more, and every cause is among them."""
    kept = [one for one in bench.questions if one.id not in bench.first.causes]
    planted = bench.system.plant(kept)
    told = bench.names.run(bench.system, kept, planted, bench.folder / "mixed")
    pairs = Counter(
        (bench.system.truth(planted, told, name), said) for name, said in told.causes.items()
    )
    meant = {pair: count for pair, count in pairs.items() if pair[0] is not None}
    right = sum(count for (true, said), count in meant.items() if true == said)
    assert right >= 0.95 * sum(meant.values())
    assert {true for true, _ in meant} >= set(bench.faults.FAULTS) - {"cut_by_chunker"}
