"""Reading bytes: gzip, marks, encodings, long lines."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.encoding import decode, guess
from ragnostic.corpus.files import iter_lines, read_bytes, read_text
from ragnostic.errors import DataError

CHINESE = "员工年假几天？\r\n五天。\n"


def write(folder, data, name="a.txt"):
    """A file with these bytes."""
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("encoding", "announced"),
    [
        ("utf-8", []),
        ("utf-8-sig", []),
        ("utf-16", ["utf-16"]),
        ("utf-32", ["utf-32"]),
        ("gbk", ["gb18030"]),
        ("gb18030", ["gb18030"]),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_every_encoding_gives_the_same_text(tmp_path, encoding, announced, pack):
    """Text and lines are equal for each encoding, packed or not; conversions are announced."""
    path = write(tmp_path, pack(CHINESE.encode(encoding)))
    faults = []
    assert read_text(path, faults=faults) == CHINESE
    assert [fault.ids[0] for fault in faults] == announced
    assert all(fault.kind == "encoding" for fault in faults)
    assert all(name.upper() in str(faults[0]) for name in announced)
    of_lines = []
    lines = list(iter_lines(path, faults=of_lines))
    assert lines == [(1, "员工年假几天？"), (2, "五天。")]
    assert of_lines == faults


def test_utf_16_big_endian_is_told_by_its_mark():
    """Both byte orders are read."""
    data = b"\xfe\xff" + "年".encode("utf-16-be")
    assert decode(data, "a", []) == "年"


def test_a_long_utf_16_file_is_read_in_pieces(tmp_path):
    """Characters that lie across two blocks stay whole."""
    line = "😀年" * 50_000
    path = write(tmp_path, b"\xff\xfe" + f"x\n{line}\n".encode("utf-16-le"))
    assert list(iter_lines(path, faults=[])) == [(1, "x"), (2, line)]


@given(st.text(alphabet=st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"])))
def test_any_utf_8_text_comes_back_unchanged(sample):
    """UTF-8 is never taken for something else."""
    faults = []
    assert decode(sample.encode(), "a", faults) == sample
    assert faults == []


@given(st.lists(st.text(alphabet="年假a\r ", max_size=5), max_size=6), st.integers(1, 9))
def test_lines_are_those_of_a_plain_split(tmp_path_factory, lines, limit):
    """Physical numbers and contents agree with split, long lines are left out and named."""
    data = "\n".join(lines).encode()
    if not data:
        return
    path = write(tmp_path_factory.mktemp("lines"), data)
    faults = []
    got = dict(iter_lines(path, faults=faults, max_line=limit))
    raw = data.split(b"\n")
    if not raw[-1]:
        raw.pop()
    expected = {
        number: line.decode().removesuffix("\r")
        for number, line in enumerate(raw, start=1)
        if len(line) <= limit
    }
    assert got == expected
    assert [fault.where for fault in faults] == [
        f"a.txt:{number}" for number, line in enumerate(raw, start=1) if len(line) > limit
    ]
    assert {fault.kind for fault in faults} <= {"line_too_long"}


def test_one_broken_byte_does_not_turn_utf_8_into_nonsense(tmp_path):
    """The majority decides; the broken line is quarantined, the whole text refused by line."""
    data = "第一行\n第二".encode() + b"\xff\n" + "第三行".encode()
    assert guess(data) == "utf-8"
    path = write(tmp_path, data)
    faults = []
    assert list(iter_lines(path, faults=faults)) == [(1, "第一行"), (3, "第三行")]
    assert [(fault.kind, fault.where) for fault in faults] == [("quarantined", "a.txt:2")]
    with pytest.raises(DataError, match=r"a\.txt:2: not valid UTF-8"):
        read_text(path, faults=faults)


def test_an_ascii_head_does_not_decide_the_encoding(tmp_path):
    """The first line that is not ASCII decides."""
    path = write(tmp_path, b"query_id,query\n" + "1,年假".encode("gbk"))
    faults = []
    assert list(iter_lines(path, faults=faults))[1] == (2, "1,年假")
    assert [fault.kind for fault in faults] == ["encoding"]


@pytest.mark.parametrize("data", [b"\x89PNG\0\0\n", b"a\nb\0"])
def test_binary_is_refused_by_line(tmp_path, data):
    """NUL bytes without a mark are no text."""
    path = write(tmp_path, data)
    with pytest.raises(DataError, match=r"a\.txt:\d: holds a NUL byte"):
        read_text(path, faults=[])
    with pytest.raises(DataError, match="NUL"):
        list(iter_lines(path, faults=[]))


def test_a_cut_utf_16_file_is_refused(tmp_path):
    """An odd number of bytes is no UTF-16."""
    path = write(tmp_path, "年假".encode("utf-16")[:-1])
    for read in (read_text, lambda path, faults: list(iter_lines(path, faults=faults))):
        with pytest.raises(DataError, match="not valid UTF-16"):
            read(path, faults=[])


def test_bytes_that_are_no_encoding_of_ours_are_refused():
    """Neither UTF-8 nor GB18030: the line is named."""
    with pytest.raises(DataError, match="a:2: not valid GB18030"):
        decode(b"x\n\xff\xff\xff", "a", [])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: folder, "is a folder"),
        (lambda folder: folder / "missing", "no such file"),
        (lambda folder: write(folder, b""), "is empty"),
        (lambda folder: write(folder, b"\xef\xbb\xbf"), "is empty"),
        (lambda folder: write(folder, gzip.compress(b"")), "is empty"),
        (lambda folder: write(folder, gzip.compress(b"abc" * 99)[:-9]), "broken gzip"),
        (lambda folder: write(folder, b"\x1f\x8bnot gzip"), "broken gzip"),
        (lambda folder: write(folder, b"x") / "below", "cannot be read"),
    ],
)
def test_what_is_no_readable_file_is_refused_with_words(tmp_path, make, words):
    """Folder, missing, empty, broken: each says what it is."""
    path = make(tmp_path)
    with pytest.raises(DataError, match=words):
        read_text(path, faults=[])
    with pytest.raises(DataError, match=words):
        list(iter_lines(path, faults=[]))


def test_bytes_are_unpacked_whatever_the_name(tmp_path):
    """Gzip is told by its first bytes."""
    assert read_bytes(write(tmp_path, gzip.compress(b"abc"), "a.csv")) == b"abc"
