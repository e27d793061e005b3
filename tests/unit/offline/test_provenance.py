"""Where a result comes from."""

from __future__ import annotations

import subprocess

import pytest

from ragnostic.offline.provenance import GitState, git_state


def _git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True
    )


def test_a_folder_outside_git_has_no_commit(tmp_path):
    """Nor has a repository without commits."""
    assert git_state(tmp_path) == GitState()
    _git(tmp_path, "init")
    assert git_state(tmp_path) == GitState()


def test_the_commit_and_whether_files_differ_from_it(tmp_path):
    """Untracked files, such as the runs themselves, do not count."""
    _git(tmp_path, "init")
    (tmp_path / "a").write_text("1")
    _git(tmp_path, "add", "a")
    _git(tmp_path, "commit", "-m", "x")
    (tmp_path / "untracked").touch()
    clean = git_state(tmp_path)
    assert len(clean.commit) == 40
    assert clean.dirty is False
    (tmp_path / "a").write_text("2")
    assert git_state(tmp_path) == GitState(clean.commit, dirty=True)


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    """A machine without the program still evaluates."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(tmp_path) == GitState()


@pytest.fixture(autouse=True)
def _no_outer_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
