"""What a writer that is gone left behind."""

from __future__ import annotations

import os
import subprocess
import sys

from ragnostic.offline.partial_folders import make_partial, remove_partials


def _left_by_another(out) -> None:
    """A process makes a folder and ends without removing it."""
    code = (
        "import sys, pathlib; from ragnostic.offline.partial_folders import make_partial;"
        " (make_partial(pathlib.Path(sys.argv[1])) / 'run.json').touch()"
    )
    subprocess.run([sys.executable, "-c", code, str(out)], check=True)


def test_folders_of_the_dead_go_and_those_of_the_living_stay(tmp_path):
    """Other machines cannot be asked, and other names are nobody's."""
    _left_by_another(tmp_path)
    (dead,) = tmp_path.iterdir()
    mine = make_partial(tmp_path)
    parent = mine.with_name(mine.name.replace(f"-{os.getpid()}-", f"-{os.getppid()}-"))
    kept = [parent, *(tmp_path / name for name in (".partial-00000000-1-x", ".partial-x", "run"))]
    for folder in kept:
        folder.mkdir()
    huge = tmp_path / mine.name.replace(f"-{os.getpid()}-", f"-{10**30}-")
    huge.mkdir()
    remove_partials(tmp_path)
    assert set(tmp_path.iterdir()) == {mine, *kept}
    assert not dead.exists()


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    """Before the first run."""
    remove_partials(tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
