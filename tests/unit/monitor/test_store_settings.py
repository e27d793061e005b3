"""``store.toml``: defaults, every fault at once with its line, judges' options."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ragnostic.errors import ConfigError
from ragnostic.monitor.store_settings import STORE_TABLES, load_store_settings

PAGE = Path(__file__).resolve().parents[3] / "docs" / "live.md"


def faults(tmp_path, text):
    """The faults of a store.toml with this text, each as one line."""
    (tmp_path / "store.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_store_settings(tmp_path)
    return [str(fault).splitlines()[0] for fault in caught.value.faults]


def test_without_a_file_there_are_defaults(tmp_path):
    """Nothing needs to be written down."""
    found = load_store_settings(tmp_path)
    assert found.zone == "Asia/Shanghai"
    assert found.settings.store.keep_days == 90
    assert found.judge is not None
    assert found.judge.name == "answer_span"
    assert "RR(weight=soft)@5" in found.settings.score.metrics


def test_all_faults_come_at_once_with_their_lines(tmp_path):
    """Unknown tables and keys, wrong values, a metric and a judge that do not exist."""
    text = (
        '[store]\nzone = "Mars/Olympus"\nkeep_dayz = 3\n'
        '[judge]\nuse = "oracle"\n[score]\nmetrics = ["nDCG@10", "nope@3"]\n'
        "[work]\nbatch = 0\n[queue]\nx = 1\n"
    )
    found = faults(tmp_path, text)
    assert [line.partition(": ")[0] for line in found] == [
        f"store.toml:{number}" for number in (2, 3, 5, 7, 9, 10)
    ]
    assert "must be a time zone" in found[0]
    assert "unknown key store.keep_dayz" in found[1]
    assert "unknown judge 'oracle'" in found[2]
    assert "nope" in found[3]
    assert "work.batch must be at least 1, not 0" in found[4]
    assert "unknown key queue" in found[5]


def test_a_judge_has_its_own_table_which_is_checked_even_out_of_use(tmp_path):
    """A slip in the options of a judge that is not in use is told too."""
    text = '[judge]\nuse = "none"\n[judge.gold]\npth = "a.jsonl"\n'
    found = faults(tmp_path, text)
    assert any("unknown key judge.gold.pth" in line for line in found)


def test_none_judges_nothing(tmp_path):
    """Records are kept and scored as unjudged."""
    (tmp_path / "store.toml").write_text('[judge]\nuse = "none"\n', encoding="utf-8")
    found = load_store_settings(tmp_path)
    assert found.judge is None
    assert found.judge_parameters() == {}


def test_a_table_that_is_a_value_is_told(tmp_path):
    """Not a traceback."""
    assert faults(tmp_path, "store = 3\n") == ["store.toml:1: store must be a table: [store]"]


def test_redaction_and_metrics_are_read(tmp_path):
    """Tables of other rooms are part of the file."""
    text = '[redact]\npersonal_data = false\n[score]\nmetrics = "RR@5,QER@5"\n[judge]\nuse="none"\n'
    (tmp_path / "store.toml").write_text(text, encoding="utf-8")
    settings = load_store_settings(tmp_path).settings
    assert settings.redact.personal_data is False
    assert settings.score.metrics == ("RR@5", "QER@5")


def test_the_page_shows_every_setting_and_only_those(tmp_path):
    """But the redaction's, which have a page of their own; what it shows loads."""
    text = re.search(r'title="store/store.toml"\n(.*?)```', PAGE.read_text("utf-8"), re.DOTALL)[1]
    (tmp_path / "store.toml").write_text(text, encoding="utf-8")
    assert load_store_settings(tmp_path).zone == "Asia/Shanghai"
    shown = tomllib.loads(text)
    for name, model in STORE_TABLES.items():
        if name != "redact":
            assert model.model_fields.keys() <= shown[name].keys(), name


def test_every_setting_says_what_it_does():
    """In words, for the reference."""
    for model in STORE_TABLES.values():
        assert all(field.description for field in model.model_fields.values())
