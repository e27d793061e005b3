"""Alerts as they are exported."""

from __future__ import annotations

import runpy
from pathlib import Path

from ragnostic.exporters.prometheus import exposition
from ragnostic.monitor.exported_alerts import alert_families

CASE = runpy.run_path(str(Path(__file__).parent / "alerts" / "watch_case.py"))


def lines(root):
    """The samples of the exposition."""
    return [line for line in exposition(alert_families(root)).splitlines() if line[0] != "#"]


def test_without_a_check_there_is_nothing(tmp_path):
    """And nothing is written into the store."""
    assert alert_families(tmp_path) == []
    assert not list(tmp_path.iterdir())


def test_state_value_and_reference_of_each_alert(tmp_path):
    """A window without data gives no value, and the alert goes on."""
    rules = CASE["book_of"](CASE["rule"](below=0.5, slice="category", **{"for": 2}))
    watch = CASE["Watch"](tmp_path, rules)
    watch.traffic.write({0: 0.4, 1: 0.4}, "RR@5", "category", "refunds")
    watch.traffic.write({0: 0.8, 1: 0.4}, "RR@5", "category", "vpn")
    watch.run([0, 1])
    place = 'judge="gold",rule="mrr-low",slice="category",stage="rerank"'
    *alerts, checked = lines(tmp_path)
    assert alerts == [
        f'ragnostic_alert_state{{{place},value="refunds"}} 2.0',
        f'ragnostic_alert_state{{{place},value="vpn"}} 1.0',
        f'ragnostic_alert_value{{{place},value="refunds"}} 0.4',
        f'ragnostic_alert_value{{{place},value="vpn"}} 0.4',
        f'ragnostic_alert_reference{{{place},value="refunds"}} 0.5',
        f'ragnostic_alert_reference{{{place},value="vpn"}} 0.5',
    ]
    end = (CASE["START"] + 2 * CASE["HOUR"]).timestamp()
    assert float(checked.removeprefix("ragnostic_alerts_window_end_timestamp_seconds ")) == end
    watch.traffic.write({2: 0.8}, "RR@5", "category", "vpn")
    watch.run([2])
    assert lines(tmp_path)[:3] == [
        f'ragnostic_alert_state{{{place},value="refunds"}} 2.0',
        f'ragnostic_alert_state{{{place},value="vpn"}} 0.0',
        f'ragnostic_alert_value{{{place},value="vpn"}} 0.8',
    ]


def test_alerts_that_have_never_seen_a_window(tmp_path):
    """An empty book is a book without alerts."""
    CASE["Watch"](tmp_path, CASE["book_of"]()).check(1)
    assert lines(tmp_path) == []
