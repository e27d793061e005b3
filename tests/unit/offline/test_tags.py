"""Tags: names for runs."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import DataError, UsageError
from ragnostic.offline.history import tag_run
from ragnostic.offline.run_folder import find_run, list_runs
from ragnostic.offline.tags import TAGS, check_tag, delete_tag, read_tags, write_tag

past_run = runpy.run_path(str(Path(__file__).parent / "past_runs.py"))["past_run"]


def test_a_tag_stands_for_a_run_and_can_be_moved(tmp_path):
    """And deleted; what it stood for is told."""
    first, second = past_run(tmp_path, 1, [1]), past_run(tmp_path, 2, [1])
    assert tag_run(tmp_path, first, "baseline") is None
    assert find_run(tmp_path, "baseline") == first
    assert tag_run(tmp_path, second, "baseline") == first.name
    assert find_run(tmp_path, "baseline") == second
    assert read_tags(tmp_path) == {"baseline": second.name}
    assert delete_tag(tmp_path, "baseline") == second.name
    with pytest.raises(UsageError, match=r"no tag 'baseline'(.|\n)*nothing is tagged"):
        delete_tag(tmp_path, "baseline")


def test_the_file_is_never_half_written_and_is_no_run(tmp_path):
    """Nothing stands beside it."""
    folder = past_run(tmp_path, 1, [1])
    tag_run(tmp_path, folder, "发布-1.4")
    assert json.loads((tmp_path / TAGS).read_text(encoding="utf-8")) == {"发布-1.4": folder.name}
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name, TAGS]
    assert list_runs(tmp_path) == [folder]


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "a b", "a/b", "a\\b", "..", ".hidden", "-flag", "_x", "a\n", "a\u202eb", "=1+1"),
        "latest",
        "20260301-090000",
        "20260301-090000-nogit-00000001",
        "x" * 81,
    ],
)
def test_a_name_that_could_be_a_path_or_a_run_is_refused(tmp_path, name):
    """Before anything is written."""
    with pytest.raises(UsageError, match="cannot be a tag"):
        write_tag(tmp_path, name, "run")
    assert list(tmp_path.iterdir()) == []


def test_the_beginning_of_a_run_id_is_no_tag(tmp_path):
    """It would hide that run; nor can a run elsewhere be tagged here."""
    folder = past_run(tmp_path / "a", 1, [1])
    with pytest.raises(UsageError, match="begins so"):
        tag_run(tmp_path / "a", folder, "2026")
    with pytest.raises(UsageError, match="is not below"):
        tag_run(tmp_path / "b", folder, "baseline")


def test_a_tag_of_a_run_that_is_gone_says_so(tmp_path):
    """With the way out; other names list the tags there are."""
    past_run(tmp_path, 1, [1])
    write_tag(tmp_path, "baseline", "gone")
    with pytest.raises(UsageError, match=r"stands for run gone, which is not(.|\n)*moves it"):
        find_run(tmp_path, "baseline")
    with pytest.raises(UsageError, match="tags: baseline"):
        find_run(tmp_path, "nosuch")
    with pytest.raises(UsageError, match="there are: baseline"):
        delete_tag(tmp_path, "nosuch")


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}', "\udcff"])
def test_a_damaged_file_is_named(tmp_path, content):
    """Never read as no tags."""
    (tmp_path / TAGS).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=r"tags\.json"):
        read_tags(tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    """Here a folder that is not there."""
    assert read_tags(tmp_path / "no") == {}
    with pytest.raises(UsageError, match="cannot write"):
        write_tag(tmp_path / "no", "baseline", "run")


@given(st.text(max_size=20))
def test_whatever_is_a_tag_is_one_plain_name(name):
    """No separators, nothing invisible, and no path but itself."""
    try:
        check_tag(name)
    except UsageError:
        return
    assert Path(name).name == name
    assert name.isprintable()
    assert not set(name) & set("/\\ ")
