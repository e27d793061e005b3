"""The page is one safe, small, repeatable file."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pyarrow as pa
import pytest

from ragnostic.errors import UsageError
from ragnostic.records import CHUNK_SCHEMA
from ragnostic.report import RunData, render_run

VOID = {"meta", "br", "hr", "img", "input", "link"}
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}\x00\u202e\ud800'


class Checker(HTMLParser):
    """Collects tags and attributes, and sees to it that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag, attrs):
        """Note the tag and expect its end."""
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Note the tag."""
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        """The last open tag is the one that ends."""
        assert self.open.pop() == tag


def check(html: str) -> Checker:
    """The page, parsed; tags are balanced and ids unique."""
    parser = Checker()
    parser.feed(html)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    return parser


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_page_is_self_contained(sample, language):
    """No script, no link outwards, a strict policy, balanced tags, unique ids."""
    html = render_run(sample, language=language)
    parser = check(html)
    assert not parser.tags & {"script", "link", "iframe", "object", "embed", "form", "img", "base"}
    targets = [value for name, value in parser.attributes if name in {"href", "src", "action"}]
    assert all(target.startswith("#") for target in targets)
    assert {target[1:] for target in targets} <= set(parser.ids)
    assert not [name for name, _ in parser.attributes if name.startswith("on")]
    assert not re.search(r"https?://|url\((?!#)", html)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert f'<html lang="{"zh-CN" if language == "zh" else "en"}">' in html


def test_the_same_run_gives_the_same_bytes(sample):
    """Twice the same file."""
    assert render_run(sample) == render_run(sample)


def test_a_chinese_page_has_no_english_words_of_ours(sample):
    """Beside names of metrics, settings and data nothing is left in English."""
    html = render_run(sample, language="zh")
    for word in ("Metrics", "Queries", "Reranking", "unscored", "missing", "cutoff", "Worst"):
        assert f">{word}" not in html


def test_everything_from_data_is_escaped(make_run):
    """Ids, texts, answers, categories, stage names, settings and messages stay text."""
    query = {
        "id": HOSTILE.replace("\ud800", ""),
        "query": HOSTILE.replace("\ud800", ""),
        "labels": {"expected_answer": HOSTILE.replace("\ud800", "")},
        "answer": HOSTILE.replace("\ud800", ""),
        "category": HOSTILE.replace("\ud800", ""),
        "gold": {HOSTILE.replace("\ud800", ""): 1},
        "<b>stage": ["x", HOSTILE.replace("\ud800", "")],
        "rerank": {"ids": [], "error": HOSTILE.replace("\ud800", "")},
    }
    metric = "<i>odd"
    scores = [(query["id"], "<b>stage", metric, 0.2), (query["id"], "rerank", metric, 0.1)]
    run = make_run(
        [query, {**query, "id": "q2", "category": "other"}],
        stages=("<b>stage", "rerank"),
        scores=[*scores, ("q2", "rerank", metric, 0.3), ("q2", "<b>stage", metric, 0.1)],
        texts={query["id"]: HOSTILE.replace("\ud800", "") * 90},
        meta={
            "run": HOSTILE,
            "created": HOSTILE,
            "settings": {HOSTILE: {HOSTILE: HOSTILE}, "rerank": {"use": HOSTILE}},
            "warnings": [{"kind": HOSTILE, "message": HOSTILE}],
            "stages": {"rerank": {"metrics": {metric: {"mean": None, "reason": HOSTILE}}}},
        },
    )
    html = render_run(run)
    html.encode()
    parser = check(html)
    assert not parser.tags & {"script", "img", "i odd", "b stage"}
    assert "49" not in re.findall(r"\{\{ 7\*7 \}\}|49", html)[:1]
    for character in ("\x00", "\u202e", "\ud800"):
        assert character not in html
    assert "⟨U+202E⟩" in html


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("stages", [(), ("retrieve",), ("retrieve", "fuse", "rerank")])
def test_a_run_of_nothing_is_a_page(make_run, stages, language):
    """Zero queries, no metrics, no texts, no settings."""
    html = render_run(make_run(stages=stages), language=language)
    check(html)
    assert ("没有可以评分的查询" if language == "zh" else "No query could be scored") in html


def test_a_judged_run_without_pipeline_is_a_page(make_run):
    """Qrels and a run: one stage, no texts, no query text, few keys."""
    run = make_run(
        [
            {"id": "q1", "gold": {"a": 1}, "retrieve": ["x", "a", None]},
            {"id": "q2", "gold": {"b": 2}},
            {"id": "q3", "gold": None, "retrieve": ["x"]},
        ],
        scores=[("q1", "retrieve", "RR@5", 0.5), ("q2", "retrieve", "RR@5", 0.0)],
        meta={"run": "trec"},
    )
    html = render_run(RunData(run.meta, run.records, pa.table({}), run.scores), language="en")
    check(html)
    assert "hold a relevant passage for 50% of the queries (1 of 2)" in html
    assert "empty ranking" in html
    assert "no id" in html


def test_a_large_run_stays_below_two_megabytes(make_run):
    """1,000 queries with 100 long Chinese results each, at two stages."""
    stages = ("retrieve", "rerank")
    ids = [f"chunk-{at:03}" for at in range(100)]
    queries = [
        {
            "id": f"q{at:04}",
            "query": "入职满一年的员工每年有几天年假？" * 30,
            "labels": {"expected_answer": "五天" * 400},
            "gold": {"chunk-090": 3, "chunk-095": 2, "gone-1": 1, "gone-2": 1},
            "retrieve": ids,
            "rerank": ids[::-1] if at % 2 else ids,
        }
        for at in range(1000)
    ]
    scores = [
        (query["id"], stage, "nDCG@5", (at % 7) / 10 + 0.01 * (stage == "rerank") * (-1) ** at)
        for at, query in enumerate(queries)
        for stage in stages
    ]
    texts = dict.fromkeys((*ids, "gone-1", "gone-2"), "员工手册规定，" * 700)
    html = render_run(make_run(queries, stages=stages, scores=scores, texts=texts))
    assert len(html.encode()) <= 2_000_000


def test_an_unknown_language_is_a_usage_error(sample):
    """It names the languages there are."""
    with pytest.raises(UsageError, match="unknown report language"):
        render_run(sample, language="fr")


def test_chunks_may_lack_texts(make_run):
    """store_text=false leaves the column null; ids are shown then."""
    run = make_run(
        [{"id": "q", "gold": {"a": 1}, "retrieve": ["b"]}], scores=[("q", "retrieve", "P@1", 0.0)]
    )
    rows = [dict.fromkeys(CHUNK_SCHEMA.names) | {"id": name, "doc_id": "d"} for name in "ab"]
    run = RunData(run.meta, run.records, pa.Table.from_pylist(rows, CHUNK_SCHEMA), run.scores)
    assert "<code>d</code>" in render_run(run)
