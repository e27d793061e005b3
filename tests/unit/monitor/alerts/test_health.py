"""Colours of figures."""

from __future__ import annotations

import pytest

from ragnostic.monitor.alerts.health import Health
from ragnostic.monitor.alerts.rule_files import load_rules


@pytest.mark.parametrize(
    ("limits", "value", "colour"),
    [
        ({"healthy_above": 8.0}, 8.1, "green"),
        ({"healthy_above": 8.0}, 8.0, "amber"),
        ({"healthy_below": 0.5}, 0.4, "green"),
        ({"healthy_below": 0.5}, 0.5, "amber"),
        ({"red_below": 0.7}, 0.69, "red"),
        ({"red_below": 0.7}, 0.7, "green"),
        ({"red_above": 0.7}, 0.71, "red"),
        ({"red_below": 0.5, "healthy_above": 0.7}, 0.6, "amber"),
        ({"red_below": 0.5}, None, "grey"),
    ],
)
def test_a_limit_gives_a_colour(limits, value, colour):
    """Equality passes no limit."""
    assert Health(metric="RR@5", **limits).colour(value) == colour


def test_a_rise_is_red_against_the_baseline():
    """And says nothing where there is none."""
    rds = Health(metric="RDS", red_rise=0.5)
    assert [rds.colour(value, 0.2) for value in (0.3, 0.31)] == ["green", "red"]
    assert rds.colour(0.9) == "green"


def test_the_shipped_colours_are_those_of_the_definitions():
    """METRICS 13."""
    found = {one.metric: one.model_dump(exclude_none=True) for one in load_rules(None).health}
    assert found == {
        "RR@5": {"metric": "RR@5", "healthy_above": 0.75},
        "R@10": {"metric": "R@10", "healthy_above": 0.6},
        "QER@5": {"metric": "QER@5", "healthy_above": 8.0},
        "RCS@10": {"metric": "RCS@10", "red_below": 0.7},
        "RDS(norm=random)": {"metric": "RDS(norm=random)", "red_rise": 0.5},
    }
