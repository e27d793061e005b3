"""Faults planted into thirty simulated days, and the shipped rules: a small benchmark run."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def loaded() -> SimpleNamespace:
    """The benchmark's names, as ``python benchmarks/watch.py`` would see them."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return SimpleNamespace(**runpy.run_path(str(BENCHMARKS / "watch.py")))
    finally:
        sys.path.remove(str(BENCHMARKS))


WATCH = loaded()
PLANTED = [fault for fault in WATCH.FAULTS if fault.rule]
(SURGE,) = (fault for fault in WATCH.FAULTS if not fault.rule)


@pytest.fixture(scope="module")
def shipped():
    """The rules as they are shipped."""
    return WATCH.rules_with(None)


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.rule)
def test_a_planted_fault_is_told_in_time(fault, shipped):
    """By the rule that is there for it, and not before it began."""
    told = WATCH.followed(shipped, WATCH.simulated(1, fault.weather))
    found = WATCH.delay(fault, told)
    assert found is not None
    assert found <= fault.within
    assert [one for one in WATCH.begun(told) if one.at <= fault.onset] == []


def test_one_bad_category_is_told_by_its_name(shipped):
    """And the rule on everything does not see it."""
    (fault,) = (fault for fault in PLANTED if fault.rule == "mrr-drop-category")
    told = WATCH.begun(WATCH.followed(shipped, WATCH.simulated(2, fault.weather)))
    assert [(one.rule, one.value) for one in told] == [("mrr-drop-category", "travel")]


def test_a_sale_day_does_not_fire(shipped):
    """Three times the traffic, slower, and of another mix."""
    assert WATCH.followed(shipped, WATCH.simulated(1, SURGE.weather)) == []


@pytest.mark.parametrize("alpha", [None, 0.8])
def test_clean_days_are_quiet(alpha):
    """At most one false P0 or P1 in thirty of them."""
    traffic = WATCH.simulated(1, lambda _: WATCH.Conditions())
    told = WATCH.followed(WATCH.rules_with(alpha), traffic)
    assert len(WATCH.false_alarms(told)) <= 1


def test_the_same_seed_is_the_same_traffic():
    """What is measured can be measured again."""
    first, again = (WATCH.simulated(3, lambda _: WATCH.Conditions(), days=2) for _ in range(2))
    assert first.hours == again.hours
