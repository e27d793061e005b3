"""The quick reader of tidy runs gives what the careful one gives, or steps aside."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.files import whole_lines
from ragnostic.evalset.runs import Run
from ragnostic.evalset.tidy_trec import tidy_hits

IDS = st.text("abAB019.#-年é ", min_size=1, max_size=6)
ODD_IDS = st.text('ab"{ \t\r\x00', max_size=4)
SCORES = st.sampled_from(["1", "2.5", "-3e2", "1e400", "nan", "inf", "+4", "1_0", "x", ""])
LINES = st.tuples(IDS | ODD_IDS, IDS | ODD_IDS, st.sampled_from(["1", "7", "x"]), SCORES)


def careful(path: Path) -> list[tuple]:
    """What the line reader makes of a file."""
    return _rows(list(Run(path)._line_by_line()))


def _rows(blocks) -> list[tuple]:
    columns = [[str(v) for block in blocks for v in block[i].tolist()] for i in range(4)]
    return list(zip(*columns, strict=True))


@given(st.lists(LINES, min_size=1, max_size=6), st.sampled_from(" \t"), st.booleans())
def test_both_readers_agree_wherever_the_quick_one_answers(lines, blank, ends):
    """Random ids, ranks and scores, tidy or not."""
    text = "\n".join(blank.join((q, "Q0", c, r, s, "tag")) for q, c, r, s in lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.txt"
        path.write_bytes((text + ("\n" if ends else "")).encode())
        found = tidy_hits(path)
        if found is not None:
            run = Run(path)
            assert _rows(found) == _rows(list(run._line_by_line()))
            assert run.faults == []


@pytest.mark.parametrize("blank", [" ", "\t"])
def test_a_tidy_run_is_read_at_once(tmp_path, blank):
    """Also gzip, and without a last line end."""
    lines = [("1", "Q0", f"d年{i}", str(i), str(9 - i), "t") for i in range(3)]
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress("\n".join(blank.join(line) for line in lines).encode()))
    found = tidy_hits(path)
    assert found is not None
    assert _rows(found) == careful(path)


@pytest.mark.parametrize(
    "text",
    [
        "1 Q0 d 1 2.0\n",
        "1 Q0 d 1 2.0 t junk\n",
        "1 Q0  d 1 2.0 t\n",
        "1 Q0 d 1 nan t\n",
        "1 Q0 d first 2.0 t\n",
        "1 Q0 d 1 2.0 t\r\n",
        "1 Q0 d 1 2.0 t\n\n1 Q0 e 2 1.0 t\n",
        "\ufeff1 Q0 d 1 2.0 t\n",
        "query_id\tchunk_id\tscore\n",
        '{"q": {"d": 1.0}}\n',
        "",
    ],
)
def test_whatever_is_odd_is_left_to_the_line_reader(tmp_path, text):
    """It says what is wrong, and where."""
    path = tmp_path / "run.txt"
    path.write_text(text, encoding="utf-8", newline="")
    if text:
        assert tidy_hits(path) is None
    else:
        assert list(whole_lines(path)) == []


@given(st.binary(max_size=60).map(lambda data: data.replace(b"\x1f\x8b", b"")), st.integers(1, 9))
def test_whole_lines_are_the_file_cut_at_line_ends(data, size):
    """Nothing lost, nothing twice, and every block but the last ends with a line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        blocks = list(whole_lines(path, size))
    assert b"".join(blocks) == data
    assert all(block.endswith(b"\n") for block in blocks[:-1])
