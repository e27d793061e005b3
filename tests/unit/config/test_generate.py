"""The table of the generator: checked, and no part of an evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragnostic import config, plugins
from ragnostic.errors import ConfigError
from ragnostic.metrics import Metric

BASE = '[dataset]\npath = "eval.jsonl"\ncorpus = "corpus.jsonl"\n'
CHAT = BASE + '[generate]\nuse = "chat"\n[generate.chat]\nurl = "http://h"\nmodel = "m"\n'


def load(folder: Path, text: str, *sets: str) -> config.Configuration:
    """The configuration of this text."""
    for name in ("eval.jsonl", "corpus.jsonl"):
        (folder / name).touch()
    path = folder / "eval.toml"
    path.write_text(text, encoding="utf-8")
    return config.load(path, find_plugin=plugins.load, check_metric=Metric.parse, sets=sets)


def test_a_generator_does_not_change_a_run(tmp_path):
    """Its settings are not those of the run, so the run's name stays; nor are its secrets."""
    literal = 'headers = { Authorization = "Bearer abc" }\n'
    found = load(tmp_path, CHAT + literal)
    assert found.as_json() == load(tmp_path, BASE).as_json()
    assert found.choices["generate"].options.model == "m"
    assert "generate" not in load(tmp_path, BASE).choices


def test_the_time_of_a_call_is_that_of_the_run_where_it_names_none(tmp_path):
    """As for every other service."""
    assert load(tmp_path, CHAT).choices["generate"].options.timeout_s == 120
    assert load(tmp_path, CHAT, "run.timeout_s=9").choices["generate"].options.timeout_s == 9


@pytest.mark.parametrize(
    ("assignment", "fault"),
    [
        ("generate.use=chatt", "unknown generator 'chatt'; known: chat, python"),
        ("generate.chat.temprature=1", "unknown key generate.chat.temprature"),
        ("generate.chat.url=h", "generate.chat.url must be an http or https address"),
        ("generate.prompts.zh.with_context=你好", "must hold {query} and {context}"),
        ("generate.prompts.en.without_context={query} {context}", "must hold {query}, and not"),
        ("generate.prompts.fr.system=x", "unknown key generate.prompts.fr"),
    ],
)
def test_an_evaluation_checks_the_table(tmp_path, assignment, fault):
    """A fault shows when the configuration is first used, not after an hour."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, CHAT, assignment)
    assert fault in str(caught.value)
