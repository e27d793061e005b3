"""The files of the answer link."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ragnostic.errors import DataError, UsageError
from ragnostic.offline.answer_files import (
    ANSWERS,
    PARTIAL_ANSWERS,
    SALT,
    AnswerRow,
    answer_rows,
    append_answer,
    facts_of,
    read_answer_tables,
    read_answers,
    read_partial,
    salt_of,
    write_answers,
)

ROWS = [
    AnswerRow("q1", "with", "k1", "ok", "二十天\u2028and\nmore", "m", ("a", "b"), 1.5),
    AnswerRow("q1", "without", "k2", "failed", error="down"),
]


def test_answers_come_back_as_they_were(tmp_path):
    """In both files; an empty folder has none."""
    assert read_answer_tables(tmp_path) is None
    assert (read_partial(tmp_path), answer_rows(None)) == ([], [])
    for row in ROWS:
        append_answer(tmp_path, row)
    assert [row.key for row in read_partial(tmp_path)] == [row.key for row in ROWS]
    assert read_partial(tmp_path)[0].answer == ROWS[0].answer
    write_answers(tmp_path, ROWS, {"stage": "rerank", "top_n": 4})
    assert answer_rows(read_answers(tmp_path)) == ROWS
    assert sorted(path.name for path in tmp_path.iterdir()) == [ANSWERS]
    tables = read_answer_tables(tmp_path)
    assert (tables.stage, tables.top_n, tables.max_grade) == ("rerank", 4, 3)


def test_a_line_that_a_kill_cut_is_none(tmp_path):
    """Wherever it was cut, inside a character too; the next answer has a line of its own."""
    for row in ROWS:
        append_answer(tmp_path, row)
    whole = (tmp_path / PARTIAL_ANSWERS).read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first):
        (tmp_path / PARTIAL_ANSWERS).write_bytes(whole[:cut])
        assert len(read_partial(tmp_path)) == (cut == first - 1)
        append_answer(tmp_path, ROWS[1])
        assert read_partial(tmp_path)[-1].key == ("q1", "without")


def test_the_salt_is_made_once(tmp_path):
    """Random, and kept; a broken one is told."""
    first = salt_of(tmp_path)
    assert (len(first), salt_of(tmp_path)) == (32, first)
    (tmp_path / "other").mkdir()
    assert salt_of(tmp_path / "other") != first
    (tmp_path / SALT).write_text("not hex")
    with pytest.raises(DataError, match="not 64 hex digits"):
        salt_of(tmp_path)


def test_a_broken_file_is_named(tmp_path):
    """Not taken for no answers."""
    (tmp_path / ANSWERS).write_bytes(b"PAR1 broken")
    with pytest.raises(DataError, match=r"answers\.parquet: not a readable Parquet"):
        read_answers(tmp_path)
    assert facts_of(pa.table({"a": [1]})) == {}


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path):
    """A folder that is gone, for instance."""
    gone = tmp_path / "gone"
    for write in (
        lambda: append_answer(gone, ROWS[0]),
        lambda: write_answers(gone, ROWS, {}),
        lambda: salt_of(gone),
    ):
        with pytest.raises(UsageError, match="cannot write to"):
            write()
