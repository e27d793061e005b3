"""One evaluation set or several, never both."""

from __future__ import annotations

import pytest

from ragnostic import config, plugins
from ragnostic.errors import ConfigError

SETS = """[dataset]
corpus = "docs"
[[dataset.set]]
name = "frozen"
path = "a.jsonl"
[[dataset.set]]
name = "fresh"
path = ["b.jsonl", "c.jsonl"]
split = "dev"
"""


def _load(folder, text, *sets):
    (folder / "docs").mkdir(exist_ok=True)
    for name in "abc":
        (folder / f"{name}.jsonl").touch()
    (folder / "eval.toml").write_text(text, encoding="utf-8")
    return config.load(folder / "eval.toml", find_plugin=plugins.load, check_metric=str, sets=sets)


def test_sets_stand_in_the_place_of_the_path(tmp_path):
    """Names, paths and splits, in order; the resolved settings are as written."""
    found = _load(tmp_path, SETS)
    frozen, fresh = found.settings.dataset.set
    assert (frozen.name, frozen.path, frozen.split) == ("frozen", ("a.jsonl",), None)
    assert (fresh.path, fresh.split) == (("b.jsonl", "c.jsonl"), "dev")
    assert found.settings.dataset.paths == ("a.jsonl", "b.jsonl", "c.jsonl")
    shown = found.as_json()["dataset"]
    assert "path" not in shown
    assert shown["set"] == [
        {"name": "frozen", "path": "a.jsonl", "split": None},
        {"name": "fresh", "path": ["b.jsonl", "c.jsonl"], "split": "dev"},
    ]


def test_without_sets_the_settings_are_what_they_were(tmp_path):
    """So the last part of a run's name is, too."""
    shown = _load(tmp_path, '[dataset]\npath = "a.jsonl"\ncorpus = "docs"\n').as_json()
    assert sorted(shown["dataset"]) == ["corpus", "graded", "mapping", "name", "path", "split"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            SETS.replace("[dataset]\n", '[dataset]\npath = "a.jsonl"\n'),
            "eval.toml:2: dataset.path and [[dataset.set]] are both given\n    hint: leave dataset",
        ),
        (
            SETS.replace('"fresh"', '"frozen"'),
            "eval.toml:7: dataset.set[1].name: 'frozen' is the name of dataset.set[0] too",
        ),
        (
            SETS.replace('"c.jsonl"', '"d.jsonl"'),
            "eval.toml:8: dataset.set[1].path: no such file or folder: d.jsonl",
        ),
        (
            SETS.replace('path = "a.jsonl"', ""),
            "eval.toml:3: dataset.set[0].path is missing\n    hint: As dataset.path: a file",
        ),
        (SETS.replace('"fresh"', '""'), "eval.toml:7: dataset.set[1].name must not be empty"),
        (
            SETS.replace('"fresh"', '"a}"'),
            "eval.toml:7: dataset.set[1].name: 'a}' could not be named in a gate rule",
        ),
        (
            SETS.replace("split", "splot"),
            "eval.toml:9: unknown key dataset.set[1].splot\n    hint: did you mean dataset.set[1]",
        ),
        (
            '[dataset]\nset = 1\ncorpus = "docs"\n',
            "eval.toml:2: dataset.set must be a list, not 1",
        ),
        ('[dataset]\nset = []\ncorpus = "docs"\n', "eval.toml:2: dataset.set must not be empty"),
        (
            '[dataset]\ncorpus = "docs"\n',
            "eval.toml:1: dataset.path is missing\n    hint: The evaluation set: a JSONL",
        ),
        (
            SETS.replace('corpus = "docs"\n', ""),
            "eval.toml:1: dataset.corpus is missing: retriever bm25 searches the corpus",
        ),
    ],
)
def test_each_fault_is_told_once_with_its_line(tmp_path, text, fault):
    """And a hint where there is one."""
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    (found,) = map(str, caught.value.faults)
    assert found.startswith(fault)


def test_sets_may_come_from_the_command_line(tmp_path):
    """As one value."""
    text = '[dataset]\ncorpus = "docs"\n'
    found = _load(tmp_path, text, "dataset.set=[{name = 'x', path = 'a.jsonl'}]")
    assert found.settings.dataset.set[0].name == "x"
