"""The shipped rules as Prometheus is given them, in both languages; promtool has nothing to say."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ragnostic.monitor.alerts.prometheus_alerts import Choices, prometheus_alerts
from ragnostic.monitor.alerts.rule_files import load_rules

HERE = Path(__file__).parent


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shipped_rules_are_written_as_before(language):
    """Look at the difference, then write it anew with UPDATE_GOLDEN=1."""
    golden = HERE / f"prometheus_rules.{language}.yml"
    text = prometheus_alerts(load_rules(None).enabled, Choices(language))
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("promtool") is None, reason="system package prometheus is missing")
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("by_state", [False, True])
def test_prometheus_takes_all_rules(language, by_state, tmp_path):
    """Those that are switched off too."""
    rules = load_rules(None).rules
    path = tmp_path / "rules.yml"
    path.write_text(
        prometheus_alerts(rules, Choices(language, by_state=by_state)), encoding="utf-8"
    )
    done = subprocess.run(
        ["promtool", "check", "rules", path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "SUCCESS" in done.stdout
