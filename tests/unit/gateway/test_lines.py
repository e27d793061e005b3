"""Lines with their places, resumed, in every encoding."""

from __future__ import annotations

import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import DataError, PathError
from ragnostic.gateway.lines import LineReader, Place


def read(path, after=None, max_line=100):
    """Everything about a file."""
    faults: list = []
    reader = LineReader(path, faults, max_line)
    lines = list(reader.lines(after))
    return reader, lines, faults


@given(
    st.lists(st.binary(max_size=12).map(lambda text: text.replace(b"\n", b"")), max_size=8),
    st.booleans(),
    st.data(),
)
def test_lines_are_where_they_say(tmp_path_factory, lines, is_ended, data):
    """Number, offset, bytes; and a reader that goes on gives what is left."""
    content = b"\n".join(lines) + (b"\n" if is_ended and lines else b"")
    path = tmp_path_factory.mktemp("l") / "log.jsonl"
    path.write_bytes(b"x" + content)  # no byte-order mark, no gzip
    content = b"x" + content
    reader, found, _ = read(path)
    assert [line.raw for line in found] == content.split(b"\n")[: len(found)]
    assert all(content[line.offset :].startswith(line.raw) for line in found)
    assert [line.number for line in found] == list(range(1, len(found) + 1))
    stop = data.draw(st.integers(0, len(found)))
    first = LineReader(path, [])
    some = first.lines()
    before = [next(some) for _ in range(stop)]
    again, rest, _ = read(path, first.place)
    if all(line.is_ended for line in before):
        assert before + rest == found
        assert again.start == first.place
    assert again.place == reader.place


def test_a_log_that_grew_goes_on_behind_what_was_read(tmp_path):
    """A line that was being written is read again when it is whole."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"one\ntw")
    reader, lines, _ = read(path)
    assert [(line.raw, line.is_ended) for line in lines] == [(b"one", True), (b"tw", False)]
    path.write_bytes(b"one\ntwo\nthree\n")
    grown, lines, _ = read(path, reader.place)
    assert [(line.number, line.offset, line.raw) for line in lines] == [
        (2, 4, b"two"), (3, 8, b"three"),
    ]  # fmt: skip
    assert grown.start.line == 1
    assert reader.fingerprint() == grown.fingerprint()


@pytest.mark.parametrize("content", [b"two\nnew\nmore\n", b"on"])
def test_another_file_is_read_from_the_beginning(tmp_path, content):
    """Also one that was changed before the place, or that is shorter."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"one\n")
    place = read(path)[0].place
    path.write_bytes(content)
    reader, lines, _ = read(path, place)
    assert lines[0].offset == 0
    assert reader.start == Place()


def test_a_file_that_was_read_to_its_end_gives_nothing(tmp_path):
    """And its place stays."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"one\ntwo\n")
    place = read(path)[0].place
    reader, lines, _ = read(path, place)
    assert lines == []
    assert reader.place == reader.start == place
    assert Place.of(place._asdict()) == place
    assert Place.of(None) == Place()


def test_lines_that_are_too_long_keep_their_beginning(tmp_path):
    """In little memory, over many blocks; what follows is right."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"a" * 700_000 + b"\nb\n" + b"c" * 101)
    _, lines, _ = read(path)
    assert [(line.number, line.offset, line.size) for line in lines] == [
        (1, 0, 700_000), (2, 700_001, 1), (3, 700_003, 101),
    ]  # fmt: skip
    assert [len(line.raw) for line in lines] == [4096, 1, 101]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("年假几天\r\n".encode("utf-8-sig"), None),
        ("年假几天\r\n".encode("gb18030"), "gb18030"),
        ("年假几天\r\n".encode("utf-16"), "utf-16"),
        ("年假几天\r\n".encode("utf-32"), "utf-32"),
        (gzip.compress("年假几天\r\n".encode(), mtime=0), None),
    ],
)
def test_encodings_are_read_and_announced(tmp_path, content, encoding):
    """As for every other file."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    reader, (line,), faults = read(path)
    assert reader.text(line) == "年假几天"
    assert [fault.ids for fault in faults] == ([(encoding,)] if encoding else [])


def test_a_broken_line_does_not_turn_the_file_into_another_encoding(tmp_path):
    """Bytes that are valid in neither."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\xff\xff\n" + "年假".encode() + b"\n")
    reader, lines, faults = read(path)
    assert faults == []
    assert reader.text(lines[1]) == "年假"
    with pytest.raises(UnicodeDecodeError):
        reader.text(lines[0])


def test_what_is_no_text_is_refused(tmp_path):
    """A folder, nothing, a Parquet file, half a gzip."""
    with pytest.raises(PathError, match="no such file"):
        read(tmp_path / "nothing")
    with pytest.raises(PathError, match="is a folder"):
        read(tmp_path)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="is a Parquet file"):
        read(tmp_path / "a.parquet")
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as file:
        file.write(bytes(range(256)) * 4000)
    (tmp_path / "half.gz").write_bytes(packed.getvalue()[:-20])
    with pytest.raises(DataError, match="broken gzip"):
        read(tmp_path / "half.gz")


def test_an_empty_file_has_no_lines(tmp_path):
    """It is no fault."""
    (tmp_path / "empty").touch()
    assert read(tmp_path / "empty")[1] == []
