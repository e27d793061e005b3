"""Rows of text files: nothing is lost silently, every place is physical."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.errors import DataError
from ragnostic.evalset.rows import Columns, read_rows

QRELS, RUN = Columns(("grade", "relevance", "score"), 4), Columns(("score",), 6)


@pytest.fixture
def read(tmp_path):
    """Rows as tuples of line, query, chunk, value; and faults as (place, count)."""

    def read(data, columns=QRELS, name="f.txt"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        faults = []
        rows = [row[:4] for row in read_rows(path, columns, faults)]
        return rows, [(fault.where, fault.count) for fault in faults]

    return read


GOOD = [(1, "q1", "d1", "1"), (2, "q2", "文档", "0")]
TREC = "q1 0 d1 1\nq2 0 文档 0\n"


@pytest.mark.parametrize(
    "data",
    [
        TREC.encode(),
        TREC.replace(" ", "\t").encode(),
        TREC.replace(" ", " \t ").encode(),
        TREC.replace("\n", "\r\n").encode(),
        TREC.encode("utf-8-sig"),
        gzip.compress(TREC.encode(), mtime=0),
        TREC.rstrip().encode(),
    ],
)
def test_trec_lines_in_every_dress(read, data):
    """Blanks, tabs, CRLF, BOM, gzip, no last line end."""
    assert read(data) == (GOOD, [])


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16"])
def test_other_encodings_are_announced(read, encoding):
    """And read."""
    rows, faults = read(TREC.encode(encoding))
    assert rows == GOOD
    assert faults == [("f.txt", 1)]


TABLE = "query_id,doc_id,grade\nq1,d1,1\nq2,文档,0\n"
TABLE_ROWS = [(2, "q1", "d1", "1"), (3, "q2", "文档", "0")]


@pytest.mark.parametrize(
    "data",
    [
        TABLE,
        TABLE.replace(",", "\t"),
        TABLE.replace(",", ";"),
        TABLE.replace("query_id,doc_id,grade", "query-id,corpus-id,score"),
        TABLE.replace("d1", '"d1"').replace("query_id", '"query_id"'),
        TABLE.replace("\n", "\r\n"),
        "\ufeff" + TABLE,
    ],
)
def test_tables_with_a_header_in_every_dress(read, data):
    """CSV, TSV (BEIR), semicolons, quotes."""
    assert read(data) == (TABLE_ROWS, [])


def test_columns_may_stand_in_any_order_with_others_between(read):
    """They are found by name."""
    data = "note,grade,chunk_id,query_id\nx,1,d1,q1\n"
    assert read(data)[0] == [(2, "q1", "d1", "1")]


def test_a_quoted_cell_may_hold_delimiters_and_line_ends(read):
    """The row is where it starts; a line end inside is a plain one."""
    data = 'query_id,doc_id,grade\r\nq1,"a,""b""\r\nc",1\r\nq2,d2,2\r\n'
    assert read(data)[0] == [(2, "q1", 'a,"b"\nc', "1"), (4, "q2", "d2", "2")]


@pytest.mark.parametrize(
    ("bad", "places"),
    [
        ("q1,d1", [("f.csv:3", 1)]),
        ("q1,d1,1,1", [("f.csv:3", 1)]),
        (",d1,1", [("f.csv:3", 1)]),
        ("q1,a\rb,1", [("f.csv:3", 1)]),
        ('q1,"a"b,1', [("f.csv:3", 1)]),
        ('q1,"a\nb', [("f.csv:3", 3)]),
        ("q1," + "x" * 200_000 + ",1", [("f.csv:3", 1)]),
        ("", []),
    ],
)
def test_a_broken_row_of_a_table_is_set_aside(read, bad, places):
    """With the line it starts at and as many lines as are lost with it."""
    lost = places == [("f.csv:3", 3)]
    rows, faults = read(f"query_id,doc_id,grade\nq0,d,1\n{bad}\nq9,d,1\n", name="f.csv")
    assert rows == [(2, "q0", "d", "1")] + [(4, "q9", "d", "1")] * (not lost)
    assert faults == places


def test_an_unclosed_quote_loses_no_more_than_the_limit_of_a_cell(read):
    """The rest of a large file is read."""
    data = 'query_id,doc_id,grade\nq1,"d,1\n' + "q2,d,1\n" * 40_000
    rows, ((where, count),) = read(data)
    assert where == "f.txt:2"
    assert len(rows) + count == 40_001
    assert 10_000 < count < 20_000


def test_a_line_that_is_too_long_does_not_shift_the_others(read):
    """Ten megabytes in the middle of a table."""
    data = "query_id,doc_id,grade\nq1,d,1\nq2," + "x" * 10**7 + ",1\nq3,d,1\nq4,d\n"
    rows, faults = read(data)
    assert [row[:2] for row in rows] == [(2, "q1"), (4, "q3")]
    assert faults == [("f.txt:3", 1), ("f.txt:5", 1)]


@pytest.mark.parametrize("name", ["f.csv", "f.csv.gz"])
def test_a_csv_without_our_columns_says_which_there_are(read, name):
    """It is not taken for TREC lines."""
    with pytest.raises(DataError, match=r"no column query_id.*there are: query, doc, score"):
        read("query,doc,score\nq1,d1,1\n", name=name)


def test_a_broken_header_is_refused(read):
    """Nothing below it can be named."""
    with pytest.raises(DataError, match="header is broken"):
        read('query_id,"doc_id,grade\nq1,d1,1\n')


def test_blank_lines_are_nothing(read):
    """Before the first row, too."""
    assert read("\n \t\nq1 0 d1 1\n\nq2 0 d2 1\n")[0] == [
        (3, "q1", "d1", "1"), (5, "q2", "d2", "1"),
    ]  # fmt: skip
    assert read("\nquery_id,doc_id,grade\n\nq1,d1,1\n")[0] == [(4, "q1", "d1", "1")]
    assert read("\n\n") == ([], [])


def test_a_no_break_space_is_part_of_an_id(read):
    """Only ASCII blanks separate."""
    assert read("q1 0 a\u00a0b 1\n")[0] == [(1, "q1", "a\u00a0b", "1")]


def test_text_after_the_tag_of_a_run_is_ignored_and_said(read):
    """trec_eval's own test file has some; a line that is no hit is set aside."""
    rows, faults = read("q1 Q0 d1 1 2.5 tag and more\nq1 Q0 d2 x y tag junk\n", RUN)
    assert rows == [(1, "q1", "d1", "2.5")]
    assert faults == [("f.txt:2", 1), ("f.txt", 1)]


def test_json_lines_are_objects_whose_ids_are_text(read):
    """Whole numbers are read as text and announced; the rest is set aside; null keeps its row."""
    lines = [
        '{"query_id": "q1", "doc_id": "007", "grade": 1}',
        '{"query_id": "q1", "doc_id": 7, "grade": 1}',
        '{"query_id": 1, "doc_id": "d", "grade": 1}',
        '{"query_id": "", "doc_id": "d", "grade": 1}',
        '{"query_id": "q1", "doc_id": null, "grade": 1}',
        '{"query_id": "q1", "grade": 1}',
        '{"query_id": "q1", "doc_id": "d", "grade": NaN}',
        '{"query_id": "q1", "doc_id": "d", "grade": Infinity}',
        '{"query_id": "q1", "doc_id": "d", "doc_id": "e", "grade": 1}',
        "[1]",
        "",
        "junk",
    ]
    rows, faults = read("\n".join(lines))
    assert rows == [(1, "q1", "007", 1), (2, "q1", "7", 1), (3, "1", "d", 1), (5, "q1", None, 1)]
    bad = [f"f.txt:{n}" for n in (4, 6, 7, 8, 9, 10, 12)]
    assert [where for where, _ in faults] == [*bad, "f.txt"]  # the last one announces 7 and 1


def test_a_jsonl_file_may_begin_with_junk(read):
    """The suffix says what it is."""
    rows, faults = read('junk\n{"qid": "q1", "doc_id": "d", "score": 1}\n', name="f.jsonl")
    assert rows == [(2, "q1", "d", 1)]
    assert faults == [("f.jsonl:1", 1)]


@pytest.mark.parametrize("data", [b"", b"\0\1\2binary", b"\x1f\x8bbroken"])
def test_what_is_no_text_is_refused(read, data):
    """Empty, binary, broken gzip."""
    with pytest.raises(DataError):
        read(data)


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    """With a message for a person."""
    for path in (tmp_path, tmp_path / "none.txt"):
        with pytest.raises(DataError):
            list(read_rows(path, QRELS, []))


LINES = st.lists(
    st.sampled_from(["q1 0 d1 1", "q1 Q0 d 1 2 t", '{"query_id": "q", "doc_id": "d", "grade": 1}',
                     "query_id,doc_id,grade", "q,d,1", '"', '"a', "a\rb", "{", "q\td\t1", ";"])
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0"), max_size=20),
    max_size=8,
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["f.txt", "f.csv", "f.jsonl"]),
       st.sampled_from([QRELS, RUN]))  # fmt: skip
def test_junk_is_quarantined_or_refused_and_no_line_is_lost(lines, end, name, columns):
    """Rows, quarantined lines, blank ones and at most a header make up the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(end.join(lines).encode())
        faults = []
        try:
            rows = list(read_rows(path, columns, faults))
        except DataError:
            return
    places = [int(f.where.rpartition(":")[2]) for f in faults if f.kind == "quarantined"]
    numbers = [row.line for row in rows] + places
    assert len(set(numbers)) == len(numbers)
    assert all(1 <= number <= len(lines) for number in numbers)


def test_a_header_that_names_a_column_twice_is_refused(read):
    """Nobody can say which of the two is meant."""
    with pytest.raises(DataError, match="the header has score twice"):
        read("query_id,doc_id,score,score\nq,d,1,2\n")
