"""What a Python caller may hand over."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ragnostic.errors import DataError
from ragnostic.evalset.python_input import qrels_from, run_from
from ragnostic.evalset.qrels import load_qrels
from ragnostic.evalset.runs import load_run


def gold(given, **options):
    """Qrels as query → {id: grade}."""
    return {
        row["query_id"]: dict(zip(row["judged"]["ids"], row["judged"]["grades"], strict=True))
        for row in qrels_from(given, **options).table.to_pylist()
    }


def rankings(given, **options):
    """A run as query → ids."""
    return {
        row["query_id"]: row["retrieve"]["ids"]
        for batch in run_from(given, **options).batches()
        for row in batch.to_pylist()
    }


QRELS = {"query_id": ["q2", "q1", "q2"], "doc_id": ["b", "a", "c"], "grade": [1, 2, 0]}
RUN = {"query_id": ["q1", "q2", "q1"], "doc_id": ["x", "b", "a"], "score": [1.0, 0.5, 2.0]}
FRAMES = [pa.table, pa.RecordBatch.from_pydict, pd.DataFrame, pl.DataFrame]


@pytest.mark.parametrize("frame", FRAMES)
def test_tables_of_every_library_are_read(frame):
    """Arrow tables and batches, pandas, polars."""
    assert gold(frame(QRELS)) == {"q2": {"b": 1, "c": 0}, "q1": {"a": 2}}
    assert rankings(frame(RUN)) == {"q1": ["a", "x"], "q2": ["b"]}


def test_pandas_of_objects_categories_and_other_indexes():
    """As real notebooks hold them."""
    frame = pd.DataFrame(RUN, index=[5, 6, 7]).astype({"query_id": "category", "doc_id": "object"})
    assert rankings(frame) == {"q1": ["a", "x"], "q2": ["b"]}


def test_dicts_of_grades_of_ids_and_of_groups():
    """The order of queries is the caller's; a query without gold is judged all the same."""
    given = {"q1": {"a": 2, "b": -1}, "q2": [["b", "a"], "c"], "q3": ("x", "y"), "q4": [], "q5": {}}
    assert list(gold(given)) == list(given)
    assert gold(given)["q1"] == {"a": 2, "b": -1}
    assert gold(given)["q3"] == {"x": 1, "y": 1}
    assert gold(given)["q4"] == gold(given)["q5"] == {}
    row = qrels_from(given).table.to_pylist()[1]["judged"]
    assert row["ids"] == ["a", "b", "c"]
    assert row["items"] == [0, 0, 1]


def test_sets_generators_and_arrays_of_ids_are_gold():
    """Anything that has members."""
    given = {"q1": {"a"}, "q2": (i for i in "bc"), "q3": np.array(["d"])}
    assert gold(given) == {"q1": {"a": 1}, "q2": {"b": 1, "c": 1}, "q3": {"d": 1}}


def test_runs_of_ordered_ids_and_of_scores_may_be_mixed():
    """Empty rankings are kept; null ids keep their rank."""
    given = {
        "q1": ["b", None, "a"], "q2": {"a": 1, "b": 2.5}, "q3": [], "q4": {}, "q5": np.array(["z"]),
    }  # fmt: skip
    assert rankings(given) == {
        "q1": ["b", None, "a"], "q2": ["b", "a"], "q3": [], "q4": [], "q5": ["z"],
    }  # fmt: skip
    assert rankings({"q": {"a": 1.0, "b": 2.0}}, score_order="distance") == {"q": ["a", "b"]}
    assert run_from({"q": {"a": 1.0, "b": 1.0}}).ties == 1


def test_nothing_is_changed():
    """Deep copies stay equal."""
    qrels, run = {"q": {"a": 1}, "r": [["b"]]}, {"q": {"a": 0.5}, "r": ["b"]}
    before = copy.deepcopy((qrels, run))
    gold(qrels)
    rankings(run)
    assert (qrels, run) == before


def test_paths_and_loaded_files_are_taken_as_they_are(tmp_path):
    """Text or Path."""
    qrels, run = tmp_path / "q.txt", tmp_path / "r.txt"
    qrels.write_text("q1 0 a 1\n")
    run.write_text("q1 Q0 a 1 2.5 t\n")
    for given in (qrels, str(qrels), load_qrels(qrels)):
        assert gold(given) == {"q1": {"a": 1}}
    for given in (run, str(run), load_run(run), run_from({"q1": ["a"]})):
        assert rankings(given) == {"q1": ["a"]}


def test_tables_with_a_row_a_query_are_taken_as_they_are():
    """The layout of records; large strings become plain ones."""
    judged = pa.table({"query_id": pa.array(["q"], pa.large_string()), "judged": [{"ids": ["a"]}]})
    assert qrels_from(judged).table["query_id"].type == pa.string()
    assert qrels_from(judged).rows == 1
    assert qrels_from(judged.slice(0, 0)).table.num_rows == 0
    run = pa.table({"query_id": ["q"], "retrieve": [{"ids": ["b", "a"]}]})
    assert rankings(run) == {"q": ["b", "a"]}


def test_fractions_are_read_where_they_are_allowed():
    """From dicts and tables."""
    table = pa.table({"query_id": ["q"], "doc_id": ["a"], "grade": [0.5]})
    for given in ({"q": {"a": 0.5}}, table):
        assert gold(given, grades="real") == {"q": {"a": 0.5}}
        with pytest.raises(DataError, match=r"query q, id a: grade 0\.5 is a fraction"):
            qrels_from(given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({1: ["a"]}, "query id 1 is no text"),
        ({"": ["a"]}, "a query id is empty"),
        ({"q": "abc"}, "query q: gold: cannot read a str"),
        ({"q": None}, "query q: gold: cannot read a NoneType"),
        ({"q": 5}, "query q: gold: cannot read a int"),
        ({"q": [7]}, "query q: gold id 7 is no text"),
        ({"q": {7: 1}}, "query q: gold id 7 is no text"),
        ({"q": [["a", 7]]}, "query q: gold id 7 is no text"),
        ({"q": [["a", None]]}, "query q: gold id None is no text"),
        ({"q": {"a": "high"}}, "query q, id a: grade 'high' is no number"),
        ([("q", "a", 1)], "qrels: cannot read a list"),
        (pa.table({"query_id": ["q"], "doc_id": ["a"], "grade": ["x"]}), "query q, id a: grade"),
        (pa.table({"query_id": [None], "doc_id": ["a"], "grade": [1]}), "query id of row 0"),
        (pa.table({"query_id": ["q"], "grade": [1]}), "no column chunk_id"),
        (pa.table({"query_id": ["q", "q"], "judged": [{"ids": ["a"]}] * 2}), "in two rows"),
        (pa.table({"judged": [{"ids": ["a"]}]}), "no column query_id"),
    ],
)
def test_qrels_that_cannot_be_scored_are_refused(given, said):
    """A DataError, which is a ValueError, with the query and the id."""
    with pytest.raises(ValueError, match=said) as caught:
        qrels_from(given)
    assert isinstance(caught.value, DataError)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({1: ["a"]}, "query id 1 is no text"),
        ({"": ["a"]}, "a query id is empty"),
        ({"q": "abc"}, "query q: results: cannot read a str"),
        ({"q": {"a", "b"}}, "query q: results: cannot read a set"),
        ({"q": None}, "query q: results: cannot read a NoneType"),
        ({"q": [7]}, "query q: id 7 is no text"),
        ({"q": {"a": float("nan")}}, "query q, id a: score nan is no number"),
        ({"q": {"a": None}}, "query q, id a: score None is no number"),
        (7, "run: cannot read a int"),
        (pa.table({"query_id": ["q"], "doc_id": ["a"], "score": ["x"]}), "column score holds"),
        (pa.table({"query_id": ["q"], "doc_id": ["a"], "score": [None]}), "query q, id a"),
        (pa.table({"query_id": [""], "doc_id": ["a"], "score": [1]}), "query id of row 0"),
        (pa.table({"retrieve": [{"ids": ["a"]}]}), "no column query_id"),
    ],
)
def test_runs_that_cannot_be_scored_are_refused(given, said):
    """The Python call raises where a file's line would be set aside."""
    with pytest.raises(DataError, match=said):
        run_from(given)


def test_many_rankings_come_in_blocks():
    """So that memory holds one at a time."""
    run = run_from({f"q{i}": ["a"] for i in range(9000)})
    assert [len(batch) for batch in run.batches()] == [8192, 808]
