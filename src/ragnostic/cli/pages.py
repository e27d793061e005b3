"""Where a command's page goes."""

from __future__ import annotations

from pathlib import Path

from ragnostic.errors import UsageError


def refuse_stdout(**targets: Path | None) -> None:
    """Raise UsageError where an option (``per_query`` is ``--per-query``) asks for ``-``: the
    table is printed there already. Called before any work is done.
    """
    for name, target in targets.items():
        if target is not None and str(target) == "-":
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} - names no file, and stdout is not possible",
                hint=f"write {option} FILE",
            )


def write_page(target: Path, page: str) -> None:
    """Write the page; raises UsageError where that is not possible."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
