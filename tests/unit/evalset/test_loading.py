"""Evaluation sets: what all formats share, and JSON Lines."""

from __future__ import annotations

import gzip
import json

import pytest

from ragnostic.errors import DataError, UsageError
from ragnostic.evalset.loading import beir_corpus_path, load_evaluation_set
from ragnostic.records import EvalQuery, GoldSpan


@pytest.fixture
def load(tmp_path):
    """Loads rows (objects or raw lines) and returns queries and faults."""

    def load(*rows, name="eval.jsonl", end="\n", **settings):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path = tmp_path / name
        path.write_bytes(end.join(lines).encode())
        faults = []
        return load_evaluation_set(path, faults=faults, **settings), faults

    return load


def row(query_id="q1", **values):
    """A good row with these values."""
    return {"query_id": query_id, "query": "Why?", **values}


def test_every_field_is_read(load):
    """A row with all fields becomes a query with all fields."""
    extra = {
        "group": "g",
        "answerable": True,
        "category": "hr",
        "language": "en",
        "frequency": 5,
        "answer": "so",
        "source": "log",
    }
    (query,), faults = load(row(gold=["c1"], **extra))
    assert query == EvalQuery("q1", "Why?", ((GoldSpan(id="c1"),),), **extra)
    assert faults == []


def test_gold_is_ids_groups_spans_or_grades(load):
    """Each form of gold, mixed freely."""
    span = {"doc_id": "d", "start": 2, "end": 5, "grade": 3, "facets": {"basis": 2}}
    quote = {"doc_id": "d", "quote": "five days", "facets": ["basis"], "grade": 2}
    queries, faults = load(
        row("q1", gold=["a", ["b", {"id": "c", "grade": 2}], span, quote, {"doc_id": "d"}]),
        row("q2", gold={"a": 2, "b": 0.0}),
        row("q3", gold=None),
        row("q4"),
    )
    assert queries[0].gold == (
        (GoldSpan(id="a"),),
        (GoldSpan(id="b"), GoldSpan(id="c", grade=2)),
        (GoldSpan(None, "d", 2, 5, None, 3, {"basis": 2.0}),),
        (GoldSpan(None, "d", None, None, "five days", 2, {"basis": 2.0}),),
        (GoldSpan(doc_id="d"),),
    )
    assert queries[1].gold == ((GoldSpan(id="a", grade=2),), (GoldSpan(id="b", grade=0),))
    assert queries[2].gold == queries[3].gold == ()
    assert faults == []


def test_the_first_of_gold_ids_can_be_the_exact_one(load):
    """``graded="first-is-exact"`` gives 2, 1, 1; without it all are 1."""
    (query,), _ = load(row(gold_ids=["a", "b", "c"]), graded="first-is-exact")
    assert [item[0].grade for item in query.gold] == [2, 1, 1]
    (query,), _ = load(row(gold_ids=["a", "b"]))
    assert [item[0].grade for item in query.gold] == [1, 1]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"query": "x"}, "has no 'query_id'"),
        ({"query_id": "q", "qury": "x"}, "did you mean qury"),
        (row(query_id=None), "query_id must be a quoted text, not null"),
        (row(query_id=1.5), "not a number"),
        (row(query_id=""), "query_id is empty"),
        (row(query=" "), "the query of 'q1' is blank"),
        (row(query=5), "is a number, not a text"),
        (row(gold="c1"), "gold must be an array, not a string"),
        (row(gold=[[]]), "a group of gold is empty"),
        (row(gold=[[["a"]]]), "groups of gold cannot hold groups"),
        (row(gold=[True]), "a gold id must be a quoted text"),
        (row(gold=[{"grade": 1}]), "neither id nor doc_id"),
        (row(gold=[{"id": "a", "doc_id": "b"}]), "both id and doc_id"),
        (row(gold=[{"id": "a", "quote": "b"}]), "a span needs doc_id"),
        (row(gold={"id": "a", "grade": 1}), "put it into an array"),
        (row(gold=[{"id": "a", "grade": 1.5}]), "grade of 'a' must be a whole number, not 1.5"),
        (row(gold=[{"id": "a", "grade": "2"}]), "must be a number, not a string"),
        (row(gold=[{"id": "a", "grade": 10**30}]), "too large"),
        (row(gold=[{"id": "a", "facets": {"x": None}}]), "facet 'x' must be a number"),
        (row(gold=[{"id": "a", "facets": "x"}]), "facets must be"),
        (row(gold=[{"doc_id": "a", "start": 3, "end": 3}]), "0 <= start < end"),
        (row(gold=[{"doc_id": "a", "start": 3}]), "whole numbers"),
        (row(gold=[{"doc_id": "a", "start": -1, "end": 3}]), "0 <= start < end"),
        (row(gold=[{"doc_id": "a", "start": True, "end": 3}]), "whole numbers"),
        (row(gold=[{"doc_id": "a", "quote": ""}]), "quote must be"),
        (row(gold=["a"], gold_ids=["a"]), "both gold and gold_ids"),
        (row(gold_ids=[["a"]]), "gold_ids must be an array of ids"),
        (row(answerable="no"), "answerable must be true or false"),
        (row(frequency=-1), "frequency must be"),
        (row(frequency=True), "frequency must be"),
        (row(category=[]), "category must be a text, not an array"),
        ('{"query_id": "q", "query_id": "r", "query": "x"}', "given twice"),
        ('{"query_id": "q", "query": "x", "frequency": Infinity}', "Infinity"),
        ('{"query_id": "q", "query": "\\udc00"}', "half a character"),
        ('{"query_id": "q", "query": "x",}', "not valid JSON"),
        ('["q", "x"]', "an array"),
        ("[" * 10_000, "nested too deeply"),
    ],
)
def test_a_bad_row_is_quarantined_by_its_physical_line(load, bad, words):
    """The good rows around it load; file, line and reason are named."""
    queries, faults = load(row("good"), "", bad, row("also"), end="\r\n")
    assert [query.query_id for query in queries] == ["good", "also"]
    (fault,) = faults
    assert (fault.kind, fault.where) == ("quarantined", "eval.jsonl:3")
    assert words in fault.message
    assert "line 3" not in fault.message


def test_a_query_id_given_twice_keeps_the_first(load):
    """The second row is quarantined and names the first."""
    queries, faults = load(row("q1"), row("q1", query="Other?"))
    assert [query.query for query in queries] == ["Why?"]
    assert "'q1' was given before, in line 1" in str(faults[0])


def test_ids_are_text_and_whole_numbers_become_text_with_one_word(load):
    """007 and 7 differ; numbers are announced once a file."""
    queries, faults = load(row("007", gold=[7, {"id": 8}]), row(7, gold=["007"], group=3))
    assert [query.query_id for query in queries] == ["007", "7"]
    assert [item[0].id for item in queries[0].gold] == ["7", "8"]
    assert queries[1].group == "3"
    assert [(fault.kind, fault.count, fault.where) for fault in faults] == [
        ("number_ids", 3, "eval.jsonl")
    ]


def test_null_gold_ids_are_dropped_and_named_with_their_query(load):
    """A missing id is no chunk; a group of them is no item."""
    gold = ["c", None, "", [None, "d"], [None], {"id": None}]
    (query,), faults = load(row("q9", gold=gold))
    assert query.gold == ((GoldSpan(id="c"),), (GoldSpan(id="d"),))
    assert [(fault.kind, fault.ids, fault.where, fault.count) for fault in faults] == [
        ("null_gold_id", ("q9",), "eval.jsonl:1", 5)
    ]


def test_odd_grades_and_unknown_keys_are_remarked_on(load):
    """Negative grades count as 0, grades above 3 stay, unknown keys are named with their count."""
    (query, _), faults = load(
        row("q1", gold=[{"id": "a", "grade": -2}, {"id": "b", "grade": 7, "grad": 1}], note="x"),
        row("q2", note="y"),
    )
    assert [item[0].grade for item in query.gold] == [0, 7]
    assert [(fault.kind, fault.count) for fault in faults] == [
        ("negative_grade", 1),
        ("large_grade", 1),
        ("unknown_key", 1),
        ("unknown_key", 2),
    ]


def test_labels_are_texts_and_numbers(load):
    """Numbers become text, null is no label; anything else sets the row aside."""
    (query, bare), faults = load(
        row("q1", labels={"team": "sales", "year": 2024, "share": 0.5, "none": None}),
        row("q2", labels=None),
        row("q3", labels=["sales"]),
        row("q4", labels={"team": ["sales"]}),
        row("q5", labels={"new": True}),
    )
    assert query.labels == {"team": "sales", "year": "2024", "share": "0.5"}
    assert bare.labels == {}
    assert [str(fault.message).split(";")[0] for fault in faults] == [
        "labels must be an object, not an array",
        "the label 'team' must be a text or a number, not an array",
        "the label 'new' must be a text or a number, not a boolean",
    ]


def test_a_mapping_names_the_keys_of_the_file(load):
    """Our name → theirs; a key of our own name that is mapped elsewhere is not read."""
    mapping = {"query_id": "编号", "query": "问题"}
    (query,), faults = load({"编号": "1", "问题": "几天？", "query": "no"}, mapping=mapping)
    assert (query.query_id, query.query) == ("1", "几天？")
    assert faults == []
    with pytest.raises(UsageError, match="did you mean query_id"):
        load(row(), mapping={"queryid": "x"})
    with pytest.raises(UsageError, match="first-is-exact"):
        load(row(), graded="last")


def test_a_ten_megabyte_line_is_left_out_by_number(load):
    """It is named with its length and not parsed."""
    queries, faults = load(row("q1"), '{"query": "' + "x" * 10_000_000, row("q2"))
    assert [query.query_id for query in queries] == ["q1", "q2"]
    assert [(fault.kind, fault.where) for fault in faults] == [("line_too_long", "eval.jsonl:2")]


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030", "utf-8-sig"])
def test_encodings_and_gzip_are_converted(tmp_path, encoding):
    """The same queries from each."""
    path = tmp_path / "eval.jsonl.gz"
    text = json.dumps({"query_id": "一", "query": "年假几天？"}, ensure_ascii=False)
    path.write_bytes(gzip.compress(text.encode(encoding)))
    (query,) = load_evaluation_set(path, faults=[])
    assert (query.query_id, query.query) == ("一", "年假几天？")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("eval.jsonl", b"", "is empty"),
        ("eval.jsonl", b"\n\n", "holds no usable query"),
        ("eval.json", b'[{"query_id": "q"}]', "a JSON object was expected"),
        ("eval.jsonl", b"\0\1\2", "NUL"),
        ("eval.xlsx", b"PK", "no evaluation set by its name"),
        ("missing.xlsx", None, "no such file"),
        (".", None, "has no queries.jsonl"),
    ],
)
def test_a_file_without_queries_is_refused_with_words(tmp_path, name, data, words):
    """Empty, binary, wrong kind, missing, a folder."""
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(DataError, match=words):
        load_evaluation_set(path, faults=[])


def test_a_file_has_no_beir_corpus(tmp_path):
    """Only a folder with corpus.jsonl has one."""
    assert beir_corpus_path(tmp_path / "eval.jsonl") is None
    (tmp_path / "corpus.jsonl.gz").write_bytes(b"")
    assert beir_corpus_path(tmp_path) == tmp_path / "corpus.jsonl.gz"
