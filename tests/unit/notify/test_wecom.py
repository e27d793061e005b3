"""Messages for WeCom."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from ragnostic.notify.wecom import LIMIT_BYTES, WeCom

MADE = runpy.run_path(str(Path(__file__).parent / "robots.py"))
robot, NOTICE = MADE["robot"], MADE["NOTICE"]


@pytest.mark.parametrize(
    ("kind", "severity", "colour"),
    [
        ("firing", "P0", "warning"),
        ("repeat", "P1", "warning"),
        ("firing", "P2", "comment"),
        ("test", "P0", "comment"),
        ("resolved", "P0", "info"),
        ("rebaselined", "P1", "info"),
    ],
)
def test_the_colour_says_how_urgent_it_is(kind, severity, colour):
    """One of the three that there are."""
    notice = replace(NOTICE, kind=kind, severity=severity)
    (found,) = robot(WeCom).messages([notice], ())
    assert found["markdown"]["content"].startswith(f'### <font color="{colour}">［{severity}］')


def test_one_notice_has_no_heading_and_several_have():
    """What a telephone shows first is the title of the only one."""
    (found,) = robot(WeCom).messages([NOTICE, NOTICE], [NOTICE])
    text = found["markdown"]["content"]
    assert text.startswith("**Ragnostic: 3 notices (P1 × 3)**\n\n###")
    assert text.endswith(
        "1 more (P1 × 1), too many to be shown here: ragnostic alerts list shows all."
    )


def test_a_notice_that_does_not_fit_is_split_at_lines():
    """No markup is opened in one message and closed in the next."""
    slices = {f"column{place}": "指" * 300 for place in range(8)}
    found = robot(WeCom).messages([replace(NOTICE, slice=slices)], ())
    texts = [one["markdown"]["content"] for one in found]
    assert len(texts) == 2
    assert all(len(text.encode()) <= LIMIT_BYTES for text in texts)
    assert all(text.count("<font") == text.count("</font>") for text in texts)
    assert texts[1].startswith("(2/2)\n\n> ")
