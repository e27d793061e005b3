"""Alerts as they are exported."""

from __future__ import annotations

import runpy
from pathlib import Path

from ragnostic.exporters.prometheus import exposition
from ragnostic.exporters.samples import MOST_LABELS
from ragnostic.monitor.alerts.book import Book
from ragnostic.monitor.exported_alerts import LABELS, exported_alerts

CASE = runpy.run_path(str(Path(__file__).parent / "alerts" / "watch_case.py"))
RULES = CASE["book_of"](CASE["rule"](below=0.5, slice="category", **{"for": 2}))


def lines(root, rules=RULES):
    """The samples of the exposition."""
    with Book(root) as book:
        text = exposition(exported_alerts(book.read().tracks, rules))
    return [line for line in text.splitlines() if line[0] != "#"]


def labels(category):
    """As the format orders them."""
    place = 'judge="gold",rule="mrr-low",severity="P1"'
    return f'{{{place},slice="category={category}",stage="rerank"}}'


def test_state_value_and_reference_of_each_alert(tmp_path):
    """A window without data gives no value, and the alert goes on."""
    watch = CASE["Watch"](tmp_path, RULES)
    watch.traffic.write({0: 0.4, 1: 0.4}, "RR@5", "category", "refunds")
    watch.traffic.write({0: 0.8, 1: 0.4}, "RR@5", "category", "vpn")
    watch.run([0, 1])
    *found, checked = lines(tmp_path)
    assert found == [
        f"ragnostic_alert_state{labels('refunds')} 2.0",
        f"ragnostic_alert_state{labels('vpn')} 1.0",
        f"ragnostic_alert_value{labels('refunds')} 0.4",
        f"ragnostic_alert_value{labels('vpn')} 0.4",
        f"ragnostic_alert_reference{labels('refunds')} 0.5",
        f"ragnostic_alert_reference{labels('vpn')} 0.5",
    ]
    end = (CASE["START"] + 2 * CASE["HOUR"]).timestamp()
    name, _, number = checked.partition(" ")
    assert (name, float(number)) == ("ragnostic_alerts_window_end_timestamp_seconds", end)
    watch.traffic.write({2: 0.8}, "RR@5", "category", "vpn")
    watch.run([2])
    assert lines(tmp_path)[:3] == [
        f"ragnostic_alert_state{labels('refunds')} 2.0",
        f"ragnostic_alert_state{labels('vpn')} 0.0",
        f"ragnostic_alert_value{labels('vpn')} 0.8",
    ]


def test_alerts_of_rules_that_are_gone_are_not_exported(tmp_path):
    """Until the next check has told of their end."""
    watch = CASE["Watch"](tmp_path, RULES)
    watch.traffic.write({0: 0.4}, "RR@5", "category", "refunds")
    watch.run([0])
    assert lines(tmp_path)
    assert lines(tmp_path, CASE["book_of"]()) == []


def test_an_empty_book_has_no_samples(tmp_path):
    """No data is no sample, and no family has too many labels."""
    CASE["Watch"](tmp_path, CASE["book_of"]()).check(1)
    assert lines(tmp_path) == []
    assert len(LABELS) <= MOST_LABELS
