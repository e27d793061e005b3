"""How many bad rows are too many."""

from __future__ import annotations

import pytest

from ragnostic.errors import DataError, Fault
from ragnostic.offline.bad_rows import check_share


def _bad(*lines: int, file: str = "a.jsonl") -> list[Fault]:
    return [Fault("quarantined", "broken", where=f"{file}:{n}") for n in lines]


def test_the_limit_may_be_reached_but_not_exceeded(tmp_path):
    """1 % of 100 rows is one row."""
    path = tmp_path / "a.jsonl"
    check_share(path, _bad(1), good=99, limit=0.01)
    check_share(path, [Fault("near_match", "odd")], good=0, limit=0.0)
    with pytest.raises(DataError, match="2 of 100 rows cannot be used"):
        check_share(path, _bad(1, 2), good=98, limit=0.01)


def test_the_first_ten_are_listed(tmp_path):
    """With file and line, and the number of the others."""
    with pytest.raises(DataError) as caught:
        check_share(tmp_path / "a.jsonl", _bad(*range(1, 13)), good=0, limit=0.5)
    lines = str(caught.value).splitlines()
    assert lines[1] == "    a.jsonl:1: broken"
    assert lines[11] == "    … and 2 more"
    assert "a larger share than 0.5: --bad-rows" in lines[12]


def test_rows_of_a_folder_are_those_of_its_files(tmp_path):
    """One bad line among a thousand qrels is not one among three queries."""
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("q\td\t1\n" * 1000)
    check_share(tmp_path, _bad(5, file="test.tsv"), good=3, limit=0.01)
    with pytest.raises(DataError, match="1 of 4 rows"):
        check_share(tmp_path, _bad(5, file="gone.tsv"), good=3, limit=0.01)


def test_a_document_is_one_however_many_lines_it_has(tmp_path):
    """One file of three that cannot be decoded is a third of the corpus."""
    (tmp_path / "a.md").write_text("line\n" * 1000)
    with pytest.raises(DataError, match="1 of 3 documents"):
        check_share(tmp_path, _bad(1, file="a.md"), good=2, limit=0.01, documents=True)
