"""The words of every kind of notice, and the body that each vendor is sent."""

from __future__ import annotations

import json
import os
import runpy
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragnostic.notify.dingtalk import DingTalk
from ragnostic.notify.feishu import Feishu
from ragnostic.notify.message import message, plain
from ragnostic.notify.slack import Slack
from ragnostic.notify.wecom import WeCom

HERE = Path(__file__).parent
ROBOTS = {"wecom": WeCom, "feishu": Feishu, "dingtalk": DingTalk, "slack": Slack}
CASE = runpy.run_path(str(HERE.parent / "notice_case.py"))
HOUR = CASE["HOUR"]
DROP = replace(
    CASE["NOTICE"],
    key="mrr-drop/category=refunds/1",
    low=0.652,
    summary={"zh": "最相关的结果排得更靠后了。", "en": "The best result stands lower than before."},
    likely_cause={"zh": "重排模型升级", "en": "an upgrade of the reranker"},
    runbook="https://wiki.example/mrr-drop",
    link="https://rag.example/alerts?rule=mrr-drop&day=2026-01-05",
)
DAY = (datetime(2026, 1, 3, 16, tzinfo=UTC), datetime(2026, 1, 4, 16, tzinfo=UTC))
NOTICES = {
    "drop": DROP,
    "again": replace(DROP, kind="repeat"),
    "over": replace(DROP, kind="resolved", value=0.803, low=0.77, high=0.83),
    "new baseline": replace(DROP, kind="rebaselined"),
    "test": replace(DROP, kind="test"),
    "limit": replace(
        DROP,
        severity="P0",
        rule="rcs-low",
        metric="RCS@10",
        value=0.61,
        reference=0.65,
        against="limit",
        slice={},
        window=DAY,
        runbook="docs/rules/rcs-low.md",
        link="",
    ),
    "slow": replace(
        DROP,
        rule="slow",
        metric="latency:p95",
        value=1.31,
        reference=0.42,
        against="yesterday",
        low=None,
        high=None,
        summary={},
        worst_query="",
        likely_cause={},
    ),
}


class Clock:
    """Not asked for anything here."""

    def now(self) -> float:
        """Never."""
        return 0.0

    def sleep(self, seconds: float) -> None:
        """Never."""


def pin(name: str, text: str) -> None:
    """Compare with the golden file, or write it."""
    path = HERE / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), f"{name} differs; UPDATE_GOLDEN=1 rewrites it"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_words_of_every_kind_are_as_pinned(language):
    """As plain text, one below the other."""
    texts = [
        f"== {name}\n{plain(message(notice, language), language)}"
        for name, notice in NOTICES.items()
    ]
    pin(f"notify.{language}.txt", "\n\n".join(texts) + "\n")


@pytest.mark.parametrize("name", ROBOTS)
def test_the_body_for_each_vendor_is_as_pinned(name):
    """Two notices in one message, in Chinese."""
    kind = ROBOTS[name]
    options = kind.Options(url_env="HOOK")
    robot = kind("ops", options, {"HOOK": "https://hooks.example/x"}, Clock())
    found = robot.messages([NOTICES["limit"], DROP], ())
    pin(f"notify.{name}.json", json.dumps(found, ensure_ascii=False, indent=1) + "\n")
