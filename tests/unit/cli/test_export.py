"""``ragnostic export``: what it prints, and what it says where it cannot."""

from __future__ import annotations

import pytest
import yaml
from typer.testing import CliRunner

from ragnostic import cli

RULES = """
[[rule]]
id = "mrr-low"
metric = "MRR@5"
below = 0.5
runbook = "mrr.md"
[[rule]]
id = "qer-collapse"
enabled = false
"""


def invoke(*arguments, code=0):
    """Run the program and check its exit code."""
    done = CliRunner().invoke(cli.app, ["export", *map(str, arguments)])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def groups(*arguments):
    """Groups of the rules by their name."""
    text = invoke("rules", *arguments).stdout
    return {group["name"]: group["rules"] for group in yaml.safe_load(text)["groups"]}


@pytest.fixture
def store(tmp_path):
    """A store with rules of its own."""
    (tmp_path / "store.toml").write_text('[store]\nzone = "UTC"\n', encoding="utf-8")
    (tmp_path / "alerts.toml").write_text(RULES, encoding="utf-8")
    return tmp_path


def test_rules_of_a_store_a_file_and_the_shipped_ones(store):
    """Those that are switched on."""
    shipped = groups()
    assert {"mrr-drop", "qer-collapse", "ragnostic"} <= set(shipped)
    assert "rds-high" not in shipped
    changed = groups("--store", store)
    assert set(changed) == set(shipped) - {"qer-collapse"} | {"mrr-low"}
    assert groups("--rules", store / "alerts.toml") == changed
    *_, alert = groups("--store", store, "--settle", "0m", "--runbooks", "https://w.example")[
        "mrr-low"
    ]
    assert "for" not in alert
    assert alert["annotations"]["runbook_url"] == "https://w.example/mrr.md"


def test_words_are_of_one_language(store):
    """And all can go by the state of the check."""
    rules = groups("--store", store, "--lang", "zh", "--by-state")
    assert rules["mrr-low"][0]["annotations"]["summary"] == "MRR@5 告警"
    assert all(len(found) == 1 for name, found in rules.items() if name != "ragnostic")


def test_no_store_and_no_span_are_said(tmp_path):
    """Without a traceback; nothing falls back to the shipped rules."""
    assert "is no store folder" in invoke("rules", "--store", tmp_path / "none", code=2).stderr
    assert "--settle: 'x'" in invoke("rules", "--settle", "x", code=2).stderr
