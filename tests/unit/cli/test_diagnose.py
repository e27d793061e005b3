"""``ragnostic diagnose`` on a small run: the table, the advice, JSON, and what is missing."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.cli.diagnosis_table import ADVICE, TITLES
from ragnostic.diagnose.causes import NAMES, UNEXPLAINED

LEAVE = "Employees get 20 days of annual leave a year. Ask your manager two weeks before."
COSTS = "Travel costs are paid back within a month. Keep the receipts."
CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "handbook"
[retrieve]
use = "bm25"
top_k = 2
[rerank]
use = "none"
[score]
metrics = ["R@5"]
[run]
out = "runs"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A run of three questions: one is found, one shares no word, one is not in the corpus."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "handbook").mkdir()
    for name, text in (("leave.md", LEAVE), ("costs.md", COSTS), ("desk.md", "Ask the desk.")):
        (tmp_path / "handbook" / name).write_text(text, encoding="utf-8")
    rows = [
        {"query_id": "q1", "query": "annual leave", "gold": ["leave.md"]},
        {"query_id": "q2", "query": "holiday", "gold": ["leave.md"]},
        {"query_id": "q3", "query": "travel", "gold": [{"doc_id": "costs.md", "quote": "by air"}]},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "eval.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "eval.toml").write_text(CONFIG, encoding="utf-8")
    done = CliRunner().invoke(cli.app, ["eval", "eval.toml"])
    assert done.exit_code == 0, done.stderr
    return tmp_path


def diagnosed(*arguments, code=0):
    """What the command prints."""
    done = CliRunner().invoke(cli.app, ["diagnose", "latest", *arguments])
    assert done.exit_code == code, (done.stdout, done.stderr)
    return done


def test_each_miss_has_its_cause_and_the_first_to_mend_its_advice(folder):
    """With the texts, and what mending is worth."""
    said = diagnosed("--config", "eval.toml").stdout
    assert said.startswith("2 of 3 relevant items of 3 queries missed; R@5 0.3333\n")
    assert "the search does not see it" in said
    assert "not in the corpus" in said
    assert "mend first: " in said
    assert "try: " in said
    assert "q2: holiday" in said


def test_json_has_every_miss_with_its_evidence(folder):
    """By query."""
    found = json.loads(diagnosed("--config", "eval.toml", "--json").stdout)
    causes = {one["query_id"]: one["cause"] for one in found["misses"]}
    assert causes == {"q2": "representation", "q3": "not_in_corpus"}
    assert found["value"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("language", "said"), [("zh", "先修：检索看不到。"), ("en", "Mend first: the search does not")]
)
def test_the_page_says_the_same_in_both_languages(folder, language, said):
    """One file, the same bytes each time; what a user wrote stays text."""
    text = (folder / "eval.jsonl").read_text(encoding="utf-8")
    hostile = "<img src=x onerror=alert(1)>holiday"
    (folder / "eval.jsonl").write_text(text.replace("holiday", hostile), encoding="utf-8")
    assert CliRunner().invoke(cli.app, ["eval", "eval.toml"]).exit_code == 0
    pages = []
    for name in ("a.html", "b.html"):
        arguments = ("--config", "eval.toml", "--html", name, "--lang", language)
        assert f"page: {name}" in diagnosed(*arguments).stdout
        pages.append((folder / name).read_text(encoding="utf-8"))
    assert pages[0] == pages[1]
    assert said in pages[0]
    assert "<img" not in pages[0]
    assert "&lt;img src=x" in pages[0]
    assert "--html - names no file" in diagnosed("--html", "-", code=2).stderr


def test_without_the_configuration_nothing_is_guessed(folder):
    """What was never retrieved stays unexplained, and that is said."""
    done = diagnosed()
    assert "without --config" in done.stderr
    assert "not tested for items that stay unexplained" in done.stdout


def test_every_cause_has_a_name_and_an_advice():
    """But for what is not explained."""
    assert list(TITLES) == list(NAMES)
    assert set(ADVICE) == set(NAMES) - {UNEXPLAINED}


def test_a_run_without_misses_says_so(folder):
    """And no table follows."""
    (folder / "eval.jsonl").write_text(
        '{"query_id": "q1", "query": "annual leave", "gold": ["leave.md"]}\n', encoding="utf-8"
    )
    assert CliRunner().invoke(cli.app, ["eval", "eval.toml"]).exit_code == 0
    said = diagnosed("--config", "eval.toml", "--html", "a.html", "--lang", "en").stdout
    assert said == "0 of 1 relevant item of 1 query missed; R@5 1.0000\n\npage: a.html\n"
    assert "Nothing relevant is missed." in (folder / "a.html").read_text(encoding="utf-8")
