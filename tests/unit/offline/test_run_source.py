"""Runs read in part."""

from __future__ import annotations

import runpy
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragnostic.errors import DataError
from ragnostic.offline.run_source import folder_source, memory_source
from ragnostic.report.run import RunData

MADE = runpy.run_path(str(Path(__file__).parent / "compared_run.py"))


@pytest.fixture
def run() -> RunData:
    """Three queries, two stages."""
    rankings, gold = MADE["planted"](3)
    return MADE["compared_run"]("r1", rankings, gold, stages=("retrieve", "rerank"))


@pytest.fixture
def folder(run, tmp_path) -> Path:
    """The same as a folder."""
    return MADE["saved"](run, tmp_path)


def test_a_folder_and_its_run_in_memory_are_read_alike(run, folder):
    """Name, stages, metrics, questions, scores, judgments, and single queries in full."""
    one, two = memory_source(run, "other"), folder_source(folder)
    assert one.name == two.name == "r1"
    assert one.stages == two.stages == ("retrieve", "rerank")
    assert one.metrics == two.metrics == ("RR@10", "R@10")
    assert one.asked().equals(two.asked())
    ids = pa.array(["q0001"])
    assert one.judged(ids).equals(two.judged(ids))
    scores = [source.scores(["rerank"], ["R@10"]) for source in (one, two)]
    assert scores[0].to_pylist() == scores[1].to_pylist()
    assert len(scores[0]) == 3
    shown = [source.shown(["q0001"]) for source in (one, two)]
    assert shown[0].records.to_pylist() == shown[1].records.to_pylist()
    assert shown[0].stages == shown[1].stages == one.stages
    assert set(shown[1].chunks["id"].to_pylist()) == {"g1", *(f"x1-{n}" for n in range(9))}
    assert set(shown[1].scores["query_id"].to_pylist()) == {"q0001"}


def test_all_metrics_are_read_where_none_is_named(folder):
    """Those beside the metrics too."""
    names = set(folder_source(folder).scores(["rerank"], None)["metric"].to_pylist())
    assert {"RR@10", "R@10", "Judged@10"} <= names


def test_a_run_without_a_name_gets_the_one_of_its_side(run):
    """In memory; a folder has its own."""
    nameless = RunData({}, run.records, run.chunks, run.scores)
    assert memory_source(nameless, "base").name == "base"
    assert memory_source(nameless, "base").metrics == ()


def test_a_stage_without_a_list_has_no_chunks(tmp_path):
    """Nothing was returned, nothing is read."""
    run = MADE["compared_run"]("r", {"q": None}, {"q": ["a"]})
    assert memory_source(run, "base").shown(["q"]).chunks.num_rows == 0


@pytest.mark.parametrize("file", ["records.parquet", "scores.parquet"])
def test_a_file_that_cannot_be_read_is_named(folder, file):
    """Missing or damaged: a message, no traceback."""
    (folder / file).write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match=rf"{file}: not a readable Parquet file"):
        folder_source(folder).scores(["retrieve"], None)
    (folder / file).unlink()
    with pytest.raises(DataError, match=rf"{file} is missing"):
        folder_source(folder).scores(["retrieve"], None)


def test_words_that_repeat_are_read_as_dictionaries(folder):
    """A million rows name the same few stages and metrics."""
    table = folder_source(folder).scores(["retrieve"], ["RR@10"])
    assert pa.types.is_dictionary(table.schema.field("metric").type)
    assert not pa.types.is_dictionary(pq.read_schema(folder / "scores.parquet").field(3).type)
