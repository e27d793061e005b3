"""The shipped rules as Prometheus is given them, in both languages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.monitor.exported_rules import Choices, prometheus_file

HERE = Path(__file__).parent


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_rule_file_is_as_pinned(language):
    """Look at the difference, then write it anew with UPDATE_GOLDEN=1."""
    golden = HERE / f"prometheus_rules.{language}.yml"
    rules = load_rules(None).enabled
    stages = dict.fromkeys((rule.metric for rule in rules), "rerank")
    text = prometheus_file(rules, stages, Choices(language))
    if os.environ.get("UPDATE_GOLDEN") == "1":
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8"), f"{golden.name}: UPDATE_GOLDEN=1 rewrites it"
