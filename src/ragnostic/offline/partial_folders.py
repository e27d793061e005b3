"""Folders that are being written: named by their writer, so that what a dead one left is found."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import tempfile
from pathlib import Path

PARTIAL = ".partial-"

_NAME = re.compile(r"\.partial-([0-9a-f]{8})-(\d+)-.+")


def make_partial(out: Path) -> Path:
    """A new folder below ``out`` that says which process of which machine writes it; raises
    OSError.
    """
    return Path(tempfile.mkdtemp(prefix=f"{PARTIAL}{_machine()}-{os.getpid()}-", dir=out))


def remove_partials(out: Path) -> None:
    """Remove what processes of this machine that are gone left below ``out``.

    A folder of a process that lives, or of another machine, stays.
    """
    if not out.is_dir():
        return
    for folder in list(out.iterdir()):
        found = _NAME.fullmatch(folder.name)
        if found is not None and found[1] == _machine() and not _lives(int(found[2])):
            shutil.rmtree(folder, ignore_errors=True)


def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _lives(process: int) -> bool:
    if os.name != "posix":  # elsewhere signal 0 is not a question
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
