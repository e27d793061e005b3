"""What commands draw: progress on stderr, tables on stdout, plain where nobody is watching."""

from __future__ import annotations

import json
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import typer

from ragnostic.cli.phases import phase
from ragnostic.errors import RetrievalError
from ragnostic.ports import Progress
from ragnostic.report.visible import visible

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.progress import TaskID

Result = TypeVar("Result")

_SILENCE_S = 10.0


@contextmanager
def progress_on(stream: TextIO) -> Iterator[Progress]:
    """A Progress that draws bars on a terminal, and says lines elsewhere."""
    if not stream.isatty():
        yield phase_lines(stream)
        return
    from rich.console import Console  # noqa: PLC0415 - heavy, loaded on use
    from rich.progress import (  # noqa: PLC0415 - heavy, loaded on use
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars  # noqa: PLC0415 - heavy, loaded on use

    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(file=stream)) as bars:
        tasks: dict[str, TaskID] = {}

        def draw(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(visible(phase(label).title), total=total, rate="")
            task = tasks[label]
            bars.update(task, completed=done, total=total)
            speed = next(entry.speed for entry in bars.tasks if entry.id == task)
            bars.update(task, rate=f"{speed:.1f}/s" if speed else "")

        yield draw


def phase_lines(stream: TextIO, clock: Callable[[], float] = time.monotonic) -> Progress:
    """A Progress that says a line when a phase begins, and one every ten seconds that it lasts."""
    said: dict[str, float] = {}

    def say(label: str, done: int, total: int) -> None:
        now = clock()
        if label not in said:
            line = phase(label).line(total)
        elif done < total and now - said[label] >= _SILENCE_S:
            line = f"{phase(label).title}: {done} of {total}"
        else:
            return
        said[label] = now
        stream.write(f"{visible(line)}\n")
        stream.flush()

    return say


def in_background(work: Callable[[], Result]) -> Result:
    """The result of ``work``, run in a daemon thread while this one waits.

    A model that computes for minutes outside Python cannot delay Ctrl-C this way. Raises
    RetrievalError where the work calls ``sys.exit``.

    >>> in_background(lambda: 1 + 1)
    2
    """
    done: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread
            done.put((None, error))

    threading.Thread(target=run, name="work", daemon=True).start()
    result, error = done.get()
    if isinstance(error, SystemExit):  # of a plugin: only a person ends the program
        raise RetrievalError(f"an implementation ended itself: SystemExit: {error}") from error
    if error is not None:
        raise error
    return result  # type: ignore[return-value] # None only beside an error


def print_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int = 1
) -> None:
    """A table on stdout: drawn on a terminal, aligned with spaces elsewhere.

    The first ``text_columns`` columns are set left, the others right.
    """
    cells = [[visible(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        typer.echo("\n".join(plain_lines([list(head), *cells], text_columns)))
        return
    from rich.console import Console  # noqa: PLC0415 - heavy, loaded on use
    from rich.table import Table  # noqa: PLC0415 - heavy, loaded on use
    from rich.text import Text  # noqa: PLC0415 - heavy, loaded on use

    table = Table()
    for index, name in enumerate(head):
        justify: JustifyMethod = "left" if index < text_columns else "right"
        table.add_column(Text(name), justify=justify, no_wrap=index == 0)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def plain_lines(rows: Sequence[Sequence[str]], text_columns: int = 1) -> list[str]:
    """Rows as aligned lines; two spaces between columns, Chinese two columns wide.

    >>> plain_lines([["名", "n"], ["ab", "10"]])
    ['名   n', 'ab  10']
    """
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        cells: list[str] = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            gap = " " * (width - _width(cell))
            cells.append(cell + gap if index < text_columns else gap + cell)
        lines.append("  ".join(cells).rstrip())
    return lines


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in text)


def print_warnings(lines: Iterable[str], *, most: int = 20) -> None:
    """Warnings on stderr, each once, as many as a person reads."""
    unique = list(dict.fromkeys(lines))
    for line in unique[:most]:
        typer.echo(f"warning: {visible(line)}", err=True)
    if len(unique) > most:
        typer.echo(f"warning: … and {len(unique) - most} more, see the report", err=True)


def print_json(value: Mapping[str, Any]) -> None:
    """Strict JSON on stdout: Chinese as it is, no NaN. Written piece by piece: of a million
    queries the whole text would be held several times over.
    """
    pieces = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2).iterencode(value)
    for piece in pieces:
        sys.stdout.write(piece)
    typer.echo()
