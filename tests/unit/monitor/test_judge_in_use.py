"""The judge that the settings name, over the snapshot that is in use."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ragnostic.errors import UsageError
from ragnostic.monitor.judge_in_use import JudgeInUse
from ragnostic.monitor.store_settings import load_store_settings
from ragnostic.store.snapshots import write_snapshot


def in_use(root, text):
    """The judge in use of a store with these settings."""
    (root / "store.toml").write_text(text, encoding="utf-8")
    return JudgeInUse(load_store_settings(root), {})


def chunks(*texts):
    """A corpus."""
    return pa.table({"id": [f"c{n}" for n in range(len(texts))], "text": list(texts)})


def test_it_is_made_once_a_snapshot(tmp_path):
    """And anew when another is put in use."""
    write_snapshot(tmp_path, chunks("one and only text"))
    given = in_use(tmp_path, "")
    first = given.processor()
    assert first is given.processor()
    assert first.judge is not None
    assert first.judge.name == "answer_span"
    write_snapshot(tmp_path, chunks("another text"))
    assert given.processor() is not first


def test_a_judge_that_looks_into_the_corpus_needs_one(tmp_path):
    """The message names the command that brings it."""
    with pytest.raises(UsageError, match="ragnostic snapshot"):
        in_use(tmp_path, "").processor()


def test_gold_needs_no_corpus_and_finds_its_file_beside_the_settings(tmp_path):
    """Paths are relative to the store."""
    line = '{"query_id": "q1", "query": "leave", "gold": ["a"]}\n'
    (tmp_path / "set.jsonl").write_text(line, encoding="utf-8")
    text = '[judge]\nuse = "gold"\n[judge.gold]\npath = "set.jsonl"\n'
    judge = in_use(tmp_path, text).processor().judge
    assert judge is not None
    records = pa.table({"record_id": ["r"], "query_id": ["q1"], "query": ["leave"]})
    assert judge.judge_records(records)["ids"].to_pylist() == [["a"]]


def test_none_judges_nothing(tmp_path):
    """There is a scorer all the same."""
    assert in_use(tmp_path, '[judge]\nuse = "none"\n').processor().judge is None
