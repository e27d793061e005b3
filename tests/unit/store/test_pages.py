"""Rows read from pages without SQLite."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.store.pages import PageImages, _columns, _varint
from ragnostic.store.wal import PAGE, Frame

ROWS = [
    (number, value, payload)
    for number, (value, payload) in enumerate(
        [
            (0, b""),
            (1, b"a"),
            (-1, b"bb"),
            (127, b"c" * 489),
            (-129, b"d" * 4_000),
            (1 << 20, b"e" * 4_061),
            (1 << 40, b"f" * 4_100),
            (-(1 << 50), b"g" * 30_000),
            (None, b"h"),
        ],
        1,
    )
]


def written(path: Path) -> None:
    """A file with those rows, and an index table."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size={PAGE}")
        connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c BLOB)")
        connection.execute("CREATE TABLE k(a BLOB PRIMARY KEY, b INTEGER) WITHOUT ROWID")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
        connection.execute("INSERT INTO t VALUES (-5, 1, x'00')")
        connection.executemany("INSERT INTO k VALUES (?, ?)", [(b"k%d" % n, n) for n in range(9)])
        connection.commit()


def test_all_rows_are_read_with_overflow_pages(tmp_path):
    """Numbers of all widths, blobs of all lengths, a negative rowid."""
    path = tmp_path / "a.sqlite"
    written(path)
    with PageImages(path, ()) as pages:
        found = list(pages.rows())
        keys = set(pages.index_rows())
    assert {(rowid, *columns) for rowid, columns in found} >= {*ROWS, (-5, 1, b"\0")}
    assert keys >= {(b"k%d" % n, n) for n in range(9)}


def test_rows_are_read_from_frames_too(tmp_path):
    """The newest image of an overflow page counts; the file may be gone."""
    path = tmp_path / "a.sqlite"
    written(path)
    data = path.read_bytes()
    path.unlink()
    frames = [
        Frame(number // PAGE + 1, data[number : number + PAGE])
        for number in range(0, len(data), PAGE)
    ]
    stale = [Frame(frame.page, bytes(PAGE)) for frame in frames[3:]]
    with PageImages(path, stale + frames) as pages:
        assert {(rowid, *columns) for rowid, columns in pages.rows()} >= set(ROWS)


@pytest.mark.parametrize("seed", range(6))
def test_garbage_gives_no_error(tmp_path, seed):
    """Whatever a page holds; and it ends."""
    draw = random.Random(seed)
    path = tmp_path / "a.sqlite"
    pages = [bytearray(draw.randbytes(PAGE)) for _ in range(6)]
    for page in pages:
        page[3:5] = (9).to_bytes(2, "big")
    written(path)
    good = path.read_bytes()
    path.write_bytes(good[: 2 * PAGE] + b"".join(pages) + good[2 * PAGE : -100])
    with PageImages(path, ()) as images:
        assert all(isinstance(rowid, int) for rowid, _ in images.rows())
        assert all(isinstance(row, tuple) for row in images.index_rows())


def test_a_chain_of_pages_that_bites_its_tail_ends(tmp_path):
    """It is no longer than what is missing."""
    path = tmp_path / "a.sqlite"
    written(path)
    data = bytearray(path.read_bytes())
    at = data.index(b"g" * 4_000) - 4
    page = at // PAGE + 1
    data[at : at + 4] = page.to_bytes(4, "big")
    path.write_bytes(data)
    with PageImages(path, ()) as pages:
        assert sum(1 for _ in pages.rows()) >= len(ROWS) - 1


@given(st.binary(max_size=60))
def test_no_bytes_break_the_decoding_of_a_record(body):
    """They are a record or they are none."""
    columns = _columns(body)
    assert columns is None or isinstance(columns, tuple)


@pytest.mark.parametrize(
    ("data", "value"),
    [(b"\x05", 5), (b"\x81\x00", 128), (b"\xff" * 9, (1 << 64) - 1), (b"\x80", 0)],
)
def test_varints(data, value):
    """As the file format has them; one that ends early has some value."""
    assert _varint(data, 0)[0] == value
