"""A rule as data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from ragnostic.monitor.alerts.rules import Condition, Links, Rule, key_names
from ragnostic.ports import Notice


def rule(**keys) -> Rule:
    """A rule with these keys beside its id and figure."""
    return Rule.model_validate({"id": "a", "metric": "RR@5", **keys})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("90s", timedelta(seconds=90)),
        ("30m", timedelta(minutes=30)),
        ("24 h", timedelta(days=1)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(days=14)),
        ("never", None),
    ],
)
def test_durations_are_words(written, meant):
    """A number and a unit."""
    assert rule(repeat=written).repeat == meant
    assert rule(rebaseline_after=written).rebaseline_after == meant


@pytest.mark.parametrize("written", ["1x", "0h", "-1h", 24, "", "h"])
def test_other_durations_are_refused(written):
    """With an example of what is meant."""
    with pytest.raises(ValidationError, match="24h"):
        rule(repeat=written)


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a-", "a--b", "a_b", "a" * 65, "ä"])
def test_ids_are_plain(name):
    """They stand in file names, labels and patterns."""
    with pytest.raises(ValidationError, match="hyphens"):
        Rule.model_validate({"id": name, "metric": "RR@5"})


@pytest.mark.parametrize(
    ("keys", "comparison", "limit", "compared_with"),
    [
        ({"below": 0.5}, "below", 0.5, "limit"),
        ({"above": 0.0}, "above", 0.0, "limit"),
        ({"drop": 0.1}, "drop", 0.1, "baseline"),
        ({"rise": 1, "against": "yesterday"}, "rise", 1.0, "yesterday"),
        ({"rise": 1, "against": "last week"}, "rise", 1.0, "last week"),
    ],
)
def test_one_comparison_is_set(keys, comparison, limit, compared_with):
    """And says what the value is held against."""
    found = rule(**keys)
    assert (found.comparison, found.limit, found.compared_with) == (
        comparison,
        limit,
        compared_with,
    )


def test_figures_are_all_that_is_looked_at():
    """Each once, the rule's own first."""
    others = [{"metric": "latency:p95", "above": 1.0}, {"metric": "RR@5", "above": 0.1}]
    assert rule(below=0.5, **{"with": others}).figures == ("RR@5", "latency:p95")
    assert Condition(metric="RR@5", above=0.1).comparison == "above"
    assert Condition(metric="RR@5", below=0.1).comparison == "below"


def test_keys_are_those_of_the_file():
    """Words of Python have other names inside."""
    known = key_names(Rule)
    assert (known["for"], known["with"], known["id"]) == ("times", "conditions", "id")
    assert "times" not in known


def test_every_key_says_what_it_means():
    """The docs and the hints live on it."""
    for model in (Rule, Condition):
        for name, field in model.model_fields.items():
            assert field.description, name


@pytest.mark.parametrize(
    ("links", "runbook", "expected"),
    [
        (Links(), "mrr", ("", "mrr")),
        (Links(pages="https://a.example/"), "", ("https://a.example/alerts/12ab", "")),
        (Links(runbooks="https://b.example/"), "mrr", ("", "https://b.example/mrr")),
        (Links(runbooks="https://b.example/"), "https://c.example", ("", "https://c.example")),
        (Links(runbooks="https://b.example/"), "", ("", "")),
    ],
    ids=["none", "pages", "runbooks", "address", "no runbook"],
)
def test_messages_lead_to_pages_and_runbooks(links, runbook, expected):
    """Where their addresses are set; a runbook that is an address stays it."""
    start = datetime(2026, 3, 1, tzinfo=UTC)
    about = ("r:12ab:3", "firing", "P1", "r", "RR@5", 0.5, 0.7, "limit", 300, start)
    notice = Notice(*about, (start, start), "UTC", runbook=runbook)
    found = links.linked(notice)
    assert (found.link, found.runbook) == expected
