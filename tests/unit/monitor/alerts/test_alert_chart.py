"""The picture in a mail: that of the alert's own figure, where there is something to see."""

from __future__ import annotations

import dataclasses
import email
import email.policy
import re
import runpy
from datetime import timedelta
from pathlib import Path

import pytest

from ragnostic.monitor.alerts.alert_chart import alert_charts
from ragnostic.notify.letter import address, compose
from ragnostic.notify.notice_letter import notices_letter

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


def test_a_mail_holds_its_picture(traffic):
    """Inside of it, with words for those who cannot see it; nothing is fetched from elsewhere."""
    traffic.write(hours(0.8, 0.7, 0.4))
    about = notice(link="https://rag.example/alerts/1", runbook="https://wiki.example/mrr")
    letter = notices_letter([about], "en", alert_charts(traffic.lake))
    sender = address("alerts@example.com")
    raw = compose(letter, sender, [address("li@example.com")], START).as_bytes()
    mail = email.message_from_bytes(raw, policy=email.policy.default)
    related = mail.get_body(("related",))
    page, picture = related.iter_parts()
    assert related.get_content_type() == "multipart/related"
    assert (page.get_content_type(), picture.get_content_type()) == ("text/html", "image/png")
    assert picture.get_content().startswith(PNG)
    assert picture["Content-Disposition"].content_disposition == "inline"
    html = page.get_content()
    (tag,) = re.findall(r"<img [^>]*>", html)
    assert f'src="cid:{picture["Content-ID"].strip("<>")}"' in tag
    assert re.search(r'alt="[^"]*RR@5[^"]*"', tag)
    assert re.findall(r'(?:src|srcset|background|<link[^>]* href)="(?!cid:)', html) == []
    assert "url(" not in html
    for address_ in (about.link, about.runbook):
        assert f'href="{address_}"' in html
        assert address_ in mail.get_body(("plain",)).get_content()
