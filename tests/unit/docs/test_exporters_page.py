"""The configurations on the page about exporters are taken by the programs that they are for."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs/exporters.md").read_text("utf-8")
RULES = ROOT / "tests/golden/prometheus_rules.en.yml"


@pytest.mark.parametrize(
    ("title", "command"),
    [
        ("prometheus.yml", ("promtool", "check", "config")),
        ("alertmanager.yml", ("amtool", "check-config")),
    ],
    ids=["prometheus", "alertmanager"],
)
def test_a_configuration_is_taken(tmp_path, title, command):
    """With the rules that it names beside it."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"system package of {command[0]} is missing")
    found = re.search(rf'```yaml title="{title}"\n(.*?)```', TEXT, re.DOTALL)
    assert found
    (tmp_path / title).write_text(found[1], encoding="utf-8")
    shutil.copy(RULES, tmp_path / "ragnostic.rules.yml")
    done = subprocess.run([*command, title], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_family_is_on_the_page():
    """Names that the exporter gives, and those that rules record."""
    source = ROOT / "src/ragnostic/monitor"
    files = ("exported.py", "exported_alerts.py", "exported_promql.py")
    named = {
        name
        for file in files
        for name in re.findall(r'"(ragnostic[_:][a-z_]+)"', (source / file).read_text("utf-8"))
    }
    counters = {"ragnostic_intake_rows", "ragnostic_judgments"}
    assert len(named) > 12
    for name in named:
        assert f"`{name}_total`" in TEXT if name in counters else f"`{name}`" in TEXT, name
