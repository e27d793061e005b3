"""Names for runs: ``baseline``, ``release-1.4``; kept in ``tags.json`` beside the run folders."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ragnostic.errors import DataError, UsageError

TAGS = "tags.json"
LATEST = "latest"
"""Stands for the newest run, always."""
LONGEST = 80
_ALLOWED = re.compile(r"[^\W_][\w.+-]*")
_RUN_ID = re.compile(r"\d{8}-\d{6}")


def read_tags(out: Path) -> dict[str, str]:
    """Tag → run id, ordered by tag; empty where nothing was tagged below ``out``.

    Raises DataError for a file that is not ours.
    """
    file = out / TAGS
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file}: not readable as JSON: {error}") from error
    texts = isinstance(found, dict) and all(isinstance(run, str) for run in found.values())
    if not texts:
        raise DataError(f"{file}: must be an object of tag and run id", hint="delete the file")
    return dict(sorted(found.items()))


def check_tag(name: str) -> str:
    """The name, where it can be a tag: letters, digits, ``.``, ``_``, ``+`` and ``-``, a letter or
    a digit first, and not like a run id, which would hide that run. Raises UsageError.

    >>> check_tag("release-1.4"), check_tag("基线")
    ('release-1.4', '基线')
    """
    if len(name) > LONGEST or not _ALLOWED.fullmatch(name):
        raise UsageError(
            f"{name[:LONGEST]!r} cannot be a tag",
            hint=f"up to {LONGEST} letters, digits, '.', '_', '+' and '-', such as release-1.4",
        )
    if _RUN_ID.match(name):
        raise UsageError(f"{name!r} cannot be a tag: it looks like a run id")
    if name == LATEST:
        raise UsageError(f"{name!r} cannot be a tag: it stands for the newest run")
    return name


def write_tag(out: Path, name: str, run: str) -> str | None:
    """Let ``name`` stand for the run with this id; the id that it stood for before, or None.

    Raises UsageError where the name cannot be a tag or the file cannot be written.
    """
    tags = read_tags(out)
    before = tags.get(check_tag(name))
    _write(out, {**tags, name: run})
    return before


def delete_tag(out: Path, name: str) -> str:
    """Forget a tag; the run id that it stood for. Raises UsageError where there is none."""
    tags = read_tags(out)
    if name not in tags:
        known = f"there are: {', '.join(tags)}" if tags else f"nothing is tagged in {out}"
        raise UsageError(f"no tag {name!r} in {out}", hint=known)
    before = tags.pop(name)
    _write(out, tags)
    return before


def tags_of(tags: Mapping[str, str], run: str) -> tuple[str, ...]:
    """The tags of one run.

    >>> tags_of({"baseline": "r1", "best": "r2", "v1": "r1"}, "r1")
    ('baseline', 'v1')
    """
    return tuple(tag for tag, of in tags.items() if of == run)


def _write(out: Path, tags: Mapping[str, str]) -> None:
    """Written aside and renamed, so that a reader never sees half a file."""
    text = json.dumps(dict(sorted(tags.items())), ensure_ascii=False, indent=2)
    try:
        handle, aside = tempfile.mkstemp(prefix=".partial-", dir=out)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
            Path(aside).chmod(0o644)
            Path(aside).replace(out / TAGS)
        finally:
            Path(aside).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {out / TAGS}: {error.strerror}") from error
