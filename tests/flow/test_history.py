"""``ragnostic runs``: tags, the best run, the trend, easy queries; on runs made for it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.offline.run_folder import list_runs

OLD = Path(__file__).resolve().parents[1] / "data" / "run-schema-1"
CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
name = "house <rules>"
[retrieve]
use = "python"
top_k = 5
[retrieve.python]
target = "search:VERSION"
[score]
metrics = ["RR@5", "Success@1"]
"""
SEARCH = """
def good(query, k):
    at = int(query.split()[-1])
    return [f"doc-{at}", f"doc-{(at + 1) % 30}"]

def poor(query, k):
    found = good(query, k)
    return found if int(query.split()[-1]) < 10 else found[::-1]
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Runs of three versions, good, poor and good again, beside one of the first schema."""
    place = tmp_path_factory.mktemp("history")
    rows = [
        {"query_id": f"q{at}", "query": f"rule {at}", "gold": [f"doc-{at}"]} for at in range(30)
    ]
    texts = [{"_id": f"doc-{at}", "text": f"text {at}"} for at in range(30)]
    for name, lines in (("eval.jsonl", rows), ("corpus.jsonl", texts)):
        (place / name).write_text("".join(f"{json.dumps(row)}\n" for row in lines))
    (place / "search.py").write_text(SEARCH)
    for day, version in enumerate(("good", "poor", "good"), 1):
        path = place / "eval.toml"
        path.write_text(CONFIG.replace("VERSION", version))
        made = Path(_json("eval", str(path), "--out", str(place / "runs"))["run"])
        # Runs of one second have no order; a day apart they have.
        named = made.with_name(f"2027010{day}-000000-nogit-{made.name[-8:]}")
        made.rename(named)
        meta = json.loads((named / "run.json").read_text(encoding="utf-8"))
        meta |= {"created": f"2027-01-0{day}T00:00:00+00:00", "run": named.name}
        (named / "run.json").write_text(json.dumps(meta), encoding="utf-8")
    (old,) = OLD.iterdir()
    shutil.copytree(old, place / "runs" / old.name)
    return place / "runs"


def _done(*arguments):
    done = CliRunner().invoke(cli.app, list(arguments))
    assert done.exit_code == 0, done.output
    return done


def _json(*arguments):
    return json.loads(_done(*arguments, "--json").stdout)


def _ids(out):
    return [folder.name for folder in list_runs(out)]


def test_a_tag_is_taken_wherever_a_run_is(out):
    """Given, moved, shown, deleted; a run is reported by it."""
    _, first, second, _ = _ids(out)
    at = ("--out", str(out))
    assert _done("runs", "tag", first, "baseline", *at).stdout == f"baseline stands for {first}\n"
    assert _json("runs", "tag", second, "baseline", *at) == {
        "tag": "baseline",
        "run": second,
        "before": first,
    }
    moved = _done("runs", "tag", first, "baseline", *at).stdout
    assert moved == f"baseline moved from {second} to {first}\n"
    assert "baseline" in _done("runs", "list", *at).stdout
    assert "tags: baseline" in _done("runs", "show", "baseline", *at).stdout
    page = out.parent / "page.html"
    _done("report", "baseline", "--runs", str(out), "--out", str(page))
    assert first in page.read_text(encoding="utf-8")
    deleted = _done("runs", "tag", "baseline", "--delete", *at).stdout
    assert deleted == f"baseline deleted; it stood for {first}\n"
    assert json.loads((out / "tags.json").read_text()) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["2027"], "fits 3 runs"),
        (["20270101"], "NAME is missing"),
        (["20270101", "../x"], "cannot be a tag"),
        (["20270101", "x", "--delete"], "--delete takes the tag alone"),
        (["x", "--delete"], "no tag 'x'"),
    ],
)
def test_a_wrong_tag_says_what_is_wrong(out, arguments, message):
    """Exit 2 and a hint; nothing is tagged."""
    arguments = [*arguments, "name"] if arguments == ["2027"] else arguments
    done = CliRunner().invoke(cli.app, ["runs", "tag", *arguments, "--out", str(out)])
    assert done.exit_code == 2
    assert message in done.stderr


def test_runs_are_listed_by_their_set(out):
    """By name or fingerprint; an unknown one lists those there are."""
    at = ("--out", str(out))
    listed = _json("runs", "list", "--set", "house <rules>", *at)["runs"]
    assert [one["run"][:8] for one in listed] == ["20270101", "20270102", "20270103"]
    assert listed[1]["metrics"]["Success@1"]["mean"] == pytest.approx(1 / 3)
    assert len(_json("runs", "list", *at)["runs"]) == 4
    table = _done("runs", "list", "--set", "house rules", *at).stdout
    assert len(table.splitlines()) == 2
    done = CliRunner().invoke(cli.app, ["runs", "list", "--set", "nosuch", *at])
    assert (done.exit_code, "there are: house rules" in done.stderr) == (2, True)


def test_the_best_run_is_told_with_what_chance_allows(out):
    """A set a block; the two good runs cannot be told apart; the old folder takes part."""
    at = ("--out", str(out))
    text = _done("runs", "best", "top1", *at).stdout
    assert "evaluation set house rules (" in text
    assert "no query differs between the two" in text
    found = _json("runs", "best", "mrr@5", "--set", "house <rules>", *at)["best"]
    assert [one["metric"] for one in found] == ["RR@5"]
    assert found[0]["best"]["run"].startswith("20270101")
    assert found[0]["second"]["run"].startswith("20270103")
    assert found[0]["lead"]["finding"] == "same"
    assert found[0]["runs"] == 3
    one = _done("runs", "best", "RR@4", "--stage", "retrieve", *at).stdout
    assert "3 runs without RR@4 at stage retrieve left out" in one
    done = CliRunner().invoke(cli.app, ["runs", "best", "P@5", *at])
    assert done.exit_code == 2
    assert "no run has a mean of P@5" in done.stderr


def test_the_trend_says_when_it_turned(out):
    """Down with the poor version and up again, each with what was changed."""
    at = ("--out", str(out))
    found = _json("runs", "trend", *at)
    assert found["evaluation_set"] == "house <rules>"
    assert [(one["metric"], one["run"][:8]) for one in found["turns"]] == [
        ("RR@5", "20270102"),
        ("Success@1", "20270102"),
        ("RR@5", "20270103"),
        ("Success@1", "20270103"),
    ]
    assert found["turns"][0]["difference"] == pytest.approx(-1 / 3)
    assert found["runs"][1]["changed"] == [
        {
            "key": "retrieve.python.target",
            "before": "search:good",
            "now": "search:poor",
        }
    ]
    done = _done("runs", "trend", "--metrics", "mrr@5", *at)
    assert "turn at 20270102" in done.stdout
    assert "changed in 20270103" in done.stdout
    assert "10 queries with a relevant first result in the last 3 runs" in done.stdout
    assert "other evaluation sets, see --set: house rules" in done.stderr


def test_the_trend_page_is_written_beside(out):
    """In the language asked for; names are escaped, reports linked."""
    page = out.parent / "pages" / "trend.html"
    done = _done("runs", "trend", "--html", str(page), "--lang", "en", "--out", str(out))
    assert done.stdout.endswith(f"page: {page}\n")
    html = page.read_text(encoding="utf-8")
    assert "house &lt;rules&gt;" in html
    assert "<rules>" not in html
    assert "../runs/20270101" in html


def test_easy_queries_are_candidates_for_replacement(out):
    """Those that even the poor version answers at once."""
    at = ("--out", str(out))
    found = _json("runs", "easy", *at)
    assert [one["query_id"] for one in found["easy"]] == [f"q{at}" for at in range(10)]
    assert found["easy"][0]["query"] == "rule 0"
    assert len(_json("runs", "easy", "--last", "1", *at)["easy"]) == 30
    text = _done("runs", "easy", "--metric", "mrr@5", *at).stdout
    assert "10 of 30 queries have RR@5 at its best in the last 3 runs" in text
