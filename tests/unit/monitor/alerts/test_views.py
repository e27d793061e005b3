"""How alerts are shown, and found by what a person types."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ragnostic.errors import UsageError
from ragnostic.monitor.alerts.rule_files import RuleBook
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.alerts.states import (
    Acknowledgement,
    AlertKey,
    AlertState,
    Reading,
    Track,
)
from ragnostic.monitor.alerts.views import find_alert, views

NOW = datetime(2026, 3, 2, tzinfo=UTC)
KEYS = [AlertKey("mrr-low", slice="category", value=value) for value in ("a", "b")]


def test_what_fires_comes_first_then_what_is_graver():
    """With every mark that it has; a rule that is gone has no severity."""
    marked = AlertState(
        "firing",
        silence=3,
        inhibitor="grave",
        acknowledged=Acknowledgement("li", NOW, "on it"),
        reading=Reading(reason="20 rows, fewer than 200"),
    )
    clear = AlertState(reading=Reading("clear"))
    tracks = {
        AlertKey("gone"): Track(clear),
        AlertKey("light"): Track(marked),
        AlertKey("grave"): Track(AlertState("firing", reading=Reading("breach"))),
        AlertKey("light", slice="a", value="b"): Track(AlertState("pending")),
    }
    rules = RuleBook(
        (
            Rule(id="light", metric="RR@5", below=0.5, severity="P2"),
            Rule(id="grave", metric="RR@5", below=0.5, severity="P0"),
        )
    )
    found = views(tracks, rules)
    assert [(one.key.rule, one.track.state.status, one.severity) for one in found] == [
        ("grave", "firing", "P0"),
        ("light", "firing", "P2"),
        ("light", "pending", "P2"),
        ("gone", "inactive", "–"),
    ]
    assert found[0].marks == {}
    assert found[1].marks == {
        "silenced": "silence 3",
        "inhibited": "by grave",
        "acknowledged": "by li: on it",
        "no data": "20 rows, fewer than 200",
    }


def test_an_alert_is_found_by_id_by_its_beginning_or_by_its_rule():
    """If that names only one."""
    alone = AlertKey("alone")
    assert find_alert([*KEYS, alone], "alone") == alone
    assert find_alert(KEYS, KEYS[0].id) == KEYS[0]
    assert find_alert(KEYS, KEYS[1].id[:5]) == KEYS[1]


def test_what_names_several_or_none_is_refused():
    """With the ids to choose from."""
    with pytest.raises(UsageError, match=rf"2 alerts: {KEYS[0].id} \(category = a\)"):
        find_alert(KEYS, "mrr-low")
    for name in ("", "x", KEYS[0].id[:2]):
        with pytest.raises(UsageError, match="there is no alert"):
            find_alert(KEYS, name)
