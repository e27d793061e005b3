"""Evaluation sets as CSV."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import DataError
from ragnostic.evalset.loading import load_evaluation_set


def load(folder, text, name="eval.csv", encoding="utf-8", **settings):
    """Queries and faults of a file with this text."""
    path = folder / name
    path.write_bytes(text.encode(encoding))
    faults = []
    return load_evaluation_set(path, faults=faults, **settings), faults


def golds(query):
    """The gold ids of a query."""
    return [span.id for item in query.gold for span in item]


CELLS = st.text(st.sampled_from(list('ab年,;"|\n \t')), min_size=1, max_size=8)


@given(st.lists(CELLS.filter(str.strip), min_size=1, max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_whatever_a_spreadsheet_quotes_comes_back(tmp_path_factory, queries, end):
    """Commas, quotes and line breaks inside cells survive; ids keep their places."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator=end)
    writer.writerow(["query_id", "query", "gold_ids"])
    writer.writerows([f"q{n}", query, "a|b"] for n, query in enumerate(queries))
    loaded, faults = load(tmp_path_factory.mktemp("csv"), stream.getvalue())
    assert [query.query for query in loaded] == queries
    assert all(golds(query) == ["a", "b"] for query in loaded)
    assert faults == []


def test_all_columns_are_read_and_empty_cells_are_nothing(tmp_path):
    """Booleans in both languages, whole numbers, unknown columns remarked on."""
    (first, second, third), faults = load(
        tmp_path,
        "query_id,query,gold,answerable,frequency,category,note\n"
        "007,A?,c1|c2,,12,hr,x\n"
        "1E5,B?,,否,,,\n"
        "3,C?,c1,TRUE,0,,\n",
    )
    assert (first.query_id, golds(first), first.frequency, first.category) == (
        "007",
        ["c1", "c2"],
        12,
        "hr",
    )
    assert (second.query_id, second.gold, second.answerable) == ("1E5", (), False)
    assert (third.answerable, third.frequency) == (True, 0)
    assert [fault.kind for fault in faults] == ["unknown_key"]


def test_a_bad_row_is_named_by_the_physical_line_it_starts_at(tmp_path):
    """Line breaks in cells before it count."""
    queries, faults = load(
        tmp_path,
        'query_id,query,gold_ids\n1,"A\n\n?",a\n2,B?\n\n3,C?,a,b\n4,"D\n?",\n5,,a\n6,F?,a||b\n'
        "7,G?,a\n",
    )
    assert [query.query_id for query in queries] == ["1", "4", "6", "7"]
    assert [(fault.kind, fault.where) for fault in faults] == [
        ("quarantined", "eval.csv:5"),
        ("quarantined", "eval.csv:7"),
        ("quarantined", "eval.csv:10"),
        ("null_gold_id", "eval.csv:11"),
    ]


@pytest.mark.parametrize("bad", ["answerable", "frequency"])
def test_cells_that_are_no_boolean_or_number_are_refused_by_line(tmp_path, bad):
    """The row is quarantined, the next one loads."""
    text = f"query_id,query,gold_ids,{bad}\n1,A?,a,maybe\n2,B?,a,1\n"
    queries, faults = load(tmp_path, text)
    assert [query.query_id for query in queries] == ["2"]
    assert bad in str(faults[0])


@pytest.mark.parametrize(
    ("row", "words"), [('2,"B? ,a\n3,C?,b\n', "lines 3 to 4 are lost"), ('2,"B"x,a\n', "CSV")]
)
def test_broken_quotes_are_quarantined(tmp_path, row, words):
    """A quote that never closes says how many lines it swallowed."""
    queries, faults = load(tmp_path, "query_id,query,gold_ids\n1,A?,a\n" + row)
    assert [query.query_id for query in queries] == ["1"]
    assert faults[0].where == "eval.csv:3"
    assert words in faults[0].message
    assert faults[0].count == (2 if "lost" in words else 1)


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_tabs_and_semicolons_also_divide(tmp_path, delimiter):
    """The header tells which it is."""
    text = "query_id,query,gold_ids\n1,A?,a\n".replace(",", delimiter)
    (query,), _ = load(tmp_path, text, name="eval.tsv")
    assert (query.query, golds(query)) == ("A?", ["a"])


def test_missing_columns_are_named_with_those_that_are_there(tmp_path):
    """The hint shows how to map them."""
    with pytest.raises(DataError, match="the columns are 编号, 问题") as caught:
        load(tmp_path, "编号,问题\n1,A\n")
    assert "mapping" in caught.value.hint
    with pytest.raises(DataError, match="the columns are none"):
        load(tmp_path, '"query_id\n')


def test_labels_have_a_column_each(tmp_path):
    """An empty cell is no label; one column for all of them is refused."""
    (first, second), faults = load(
        tmp_path,
        "query_id,query,gold_ids,labels.team,labels.topic\n1,A?,c1,sales,\n2,B?,c1,,pay\n",
    )
    assert (first.labels, second.labels) == ({"team": "sales"}, {"topic": "pay"})
    assert faults == []
    _, faults = load(tmp_path, "query_id,query,gold_ids,labels\n1,A?,c1,\n2,B?,c1,x\n")
    assert "labels stand in a column each" in str(faults[0])


def test_a_cell_larger_than_the_csv_default_is_read(tmp_path):
    """And the csv module's own limit stays as it was."""
    limit = csv.field_size_limit()
    (query,), _ = load(tmp_path, "query_id,query,gold_ids\n1," + "x" * 200_000 + ",a\n")
    assert len(query.query) == 200_000
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gbk"])
def test_a_mapping_in_any_encoding(tmp_path, encoding):
    """Chinese column names of a Chinese spreadsheet; graded by order."""
    mapping = {"query_id": "编号", "query": "问题", "gold_ids": "片段"}
    text = "编号,问题,片段,query\r\n一,几天？,甲|乙,别的\r\n"
    (query,), _ = load(tmp_path, text, encoding=encoding, mapping=mapping, graded="first-is-exact")
    assert (query.query_id, query.query, golds(query)) == ("一", "几天？", ["甲", "乙"])
    assert [item[0].grade for item in query.gold] == [2, 1]
