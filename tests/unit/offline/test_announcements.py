"""What is said aloud and not refused."""

from __future__ import annotations

import runpy
from pathlib import Path

from ragnostic.offline.announcements import announcements, repeats
from ragnostic.offline.run_source import memory_source
from ragnostic.report.announced import in_words
from ragnostic.report.catalogue import catalogue

MADE = runpy.run_path(str(Path(__file__).parent / "compared_run.py"))


def source(name, **options):
    """A run of one query."""
    return memory_source(MADE["compared_run"](name, {"q": ["a"]}, {"q": ["a"]}, **options), "run")


def said(base, candidate, stages=("retrieve", "retrieve")):
    """The lines about two runs."""
    return announcements(base, candidate, stages, 1)


def test_equal_runs_have_nothing_to_announce():
    """Settings that change no number aside."""
    quiet = source("two", settings={"run": {"name": "b", "retries": 5}, "report": {"worst": 3}})
    assert said(source("one"), quiet) == []


def test_every_part_that_differs_has_its_line():
    """Evaluation set, corpus, chunker, embedder, retriever, reranker, top_k, rest, versions."""
    other = source(
        "two",
        corpus="feedfacefeedface",
        settings={
            "chunk": {"by": "markdown"},
            "embed": {"use": "http"},
            "retrieve": {"use": "dense", "top_k": 20},
            "rerank": {"use": "embedding"},
            "dataset": {"split": "dev"},
        },
        meta={"versions": {"python": "3.12", "ragnostic": "2.0", "bm25s": "1"}},
    )
    other.meta["data"]["evaluation_set"]["sha256"] = "e2"
    assert said(source("one"), other, ("retrieve", "rerank")) == [
        "the stages differ: retrieve of the base, rerank of the candidate",
        (
            "the evaluation set differs: eval.jsonl (1 query) → eval.jsonl (1 query);"
            " 1 query is in both"
        ),
        (
            "the corpus, as it was chunked, differs: docs (3 documents, 9 chunks, c0ffee00)"
            " → docs (3 documents, 9 chunks, feedface)"
        ),
        "top_k differs: retrieve.top_k: 10 → 20",
        "the chunker differs: chunk.by: none → markdown",
        (
            "at equal k bigger chunks always win: where chunkers differ, compare R(budget=2000)"
            " and token precision"
        ),
        "the embedder differs: embed.use: – → http",
        "the retriever differs: retrieve.bm25.k1: 1.2 → –; retrieve.use: bm25 → dense",
        "the reranker differs: rerank.use: none → embedding",
        "other settings differ: dataset.split: – → dev",
        "the version of ragnostic differs: 1.0 → 2.0",
        "other versions differ: python: 3.11 → 3.12",
    ]


def test_what_only_one_run_knows_is_said():
    """Its corpus, its judge: the other may have had another one."""
    bare = source("two", meta={"judge": None, "data": {}})
    lines = [
        "only one names its corpus: the other may have searched another one",
        "only one names its judge: the other may have been judged otherwise",
    ]
    assert said(source("one"), bare) == lines
    assert said(bare, source("one")) == lines


def test_long_lists_are_cut_and_counted():
    """Five settings are named."""
    many = source("two", settings={"x": {f"k{n}": n for n in range(7)}})
    assert said(source("one"), many) == [
        (
            "other settings differ: x.k0: – → 0; x.k1: – → 1; x.k2: – → 2; x.k3: – → 3; x.k4: – → 4"
            " and 2 more"
        )
    ]


def test_repeats_with_other_settings_are_no_repeats():
    """Said by key; equal ones are quiet."""
    other = source("two", settings={"rerank": {"use": "embedding"}})
    averaged = "the base is the mean of 2 runs, query by query; rankings are shown of the first"
    assert repeats("base", [source("one"), source("two")], 2) == [averaged]
    assert repeats("base", [], 2) == [averaged]
    assert repeats("base", [source("one")], 1) == []
    assert repeats("base", [source("one"), other], 2) == [
        averaged,
        "the runs of the base do not share their settings: rerank.use",
    ]


def test_a_page_says_all_of_it_in_its_language():
    """Sentences in Chinese; names and settings as they are."""
    other = source(
        "two",
        corpus="feedfacefeedface",
        settings={"chunk": {"by": "markdown"}, "x": {f"k{n}": n for n in range(7)}},
    )
    other.meta["data"]["evaluation_set"]["sha256"] = "e2"
    found = [in_words(line, catalogue("zh")) for line in said(source("one"), other)]
    assert found[:2] == [
        "评测集不同：eval.jsonl（1 条查询） → eval.jsonl（1 条查询）；两边共有 1 条查询",
        (
            "切分后的语料不同：docs（3 篇文档、9 个文本块、c0ffee00）"
            " → docs（3 篇文档、9 个文本块、feedface）"
        ),
    ]
    assert found[2] == "切分方式不同：chunk.by: none → markdown"
    assert found[-1].endswith("x.k4: – → 4，另有 2 项")
    assert in_words("a line of somebody else", catalogue("zh")) == "a line of somebody else"
