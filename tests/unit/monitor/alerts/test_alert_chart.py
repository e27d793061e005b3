"""The picture in a mail: that of the alert's own figure, where there is something to see."""

from __future__ import annotations

import dataclasses
import runpy
from datetime import timedelta
from pathlib import Path

import pytest

from ragnostic.monitor.alerts.alert_chart import alert_charts

CASE = runpy.run_path(str(Path(__file__).parent / "watch_case.py"))
NOTICE = runpy.run_path(str(Path(__file__).parents[3] / "notice_case.py"))["NOTICE"]
Traffic, START, ZONE = (CASE[name] for name in ("Traffic", "START", "ZONE"))
PNG = b"\x89PNG\r\n"


def hours(*values):
    """A value for each hour, of 500 rows."""
    return {hour: (value, 500) for hour, value in enumerate(values)}


@pytest.fixture
def traffic(tmp_path):
    """Roll-ups of a store."""
    return Traffic(tmp_path)


def notice(**changes):
    """About the third hour."""
    window = (START + timedelta(hours=2), START + timedelta(hours=3))
    plain = {"metric": "RR@5", "stage": "", "slice": {}, "zone": ZONE, "window": window}
    return dataclasses.replace(NOTICE, **{**plain, **changes})


def test_two_windows_make_a_picture(traffic):
    """Of the figure that the alert is about; with what it is held against, or without."""
    traffic.write(hours(0.8, 0.7, 0.4))
    charts = alert_charts(traffic.lake)
    for reference in (0.75, None):
        found = charts(notice(reference=reference))
        assert list(found) == ["RR@5"]
        assert found["RR@5"].startswith(PNG)


def test_a_slice_has_its_own_picture(traffic):
    """The judge that stands among the slices is no column."""
    traffic.write(hours(0.8, 0.7, 0.4), "RR@5", "category", "a")
    charts = alert_charts(traffic.lake)
    assert charts(notice(slice={"category": "a"}))
    assert charts(notice(slice={"category": "b"})) == {}
    assert charts(notice()) == {}


def test_one_window_and_a_test_message_have_none(traffic):
    """There is nothing to see."""
    traffic.write({2: (0.4, 500)})
    charts = alert_charts(traffic.lake)
    assert charts(notice()) == {}
    traffic.write(hours(0.8, 0.7, 0.4))
    assert charts(notice(kind="test")) == {}
