"""The command line. Commands are imported when they are used, so that ``--help`` is quick."""

from __future__ import annotations

import os
import re
import signal
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from ragnostic.cli.streams import tolerate
from ragnostic.errors import EXIT_INTERRUPTED, RagnosticError

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": (
        "ragnostic.cli.demo:demo",
        "The whole offline job on the bundled Chinese and English set.",
    ),
    "eval": (
        "ragnostic.cli.eval:evaluate_command",
        "Evaluate a retriever with and without its reranker.",
    ),
    "score": ("ragnostic.cli.score:score", "Score rankings that exist: qrels and run, or records."),
    "diagnose": (
        "ragnostic.cli.diagnose:diagnose",
        "Why each relevant item was missed, and what to mend first.",
    ),
    "index": (
        "ragnostic.cli.index:app",
        "Is the vector index up to date, and what does it miss?",
    ),
    "compare": (
        "ragnostic.cli.compare:compare_command",
        "Better, worse or cannot tell: two runs, query by query; a gate.",
    ),
    "sweep": (
        "ragnostic.cli.sweep:sweep",
        "All combinations of some settings, and the best of them.",
    ),
    "report": (
        "ragnostic.cli.report:report",
        "One HTML page from a run, records, or qrels and run.",
    ),
    "runs": ("ragnostic.cli.runs:app", "List, show and tag runs; the best one, and the trend."),
    "answers": (
        "ragnostic.cli.answers:app",
        "What retrieval is worth to the answers of a generator.",
    ),
    "ingest": (
        "ragnostic.cli.ingest:ingest",
        "Live traffic: log files into a store, each row once.",
    ),
    "snapshot": (
        "ragnostic.cli.snapshot:snapshot",
        "Live traffic: the corpus that answers are looked up in.",
    ),
    "work": (
        "ragnostic.cli.work:work",
        "Live traffic: from the queue to judged and scored rows.",
    ),
    "forget": (
        "ragnostic.cli.forget:forget",
        "Live traffic: a user, a session or a record out of a store.",
    ),
    "aggregate": (
        "ragnostic.cli.aggregate:aggregate_command",
        "Live traffic: any window, any slices, the seven signals.",
    ),
    "rollup": (
        "ragnostic.cli.rollup:rollup",
        "Live traffic: hourly sums, for questions about time.",
    ),
    "alerts": (
        "ragnostic.cli.alerts:app",
        "Live traffic: rules, alerts, and who is told.",
    ),
    "export": (
        "ragnostic.cli.export:app",
        "Live traffic: figures and rules for Prometheus, Grafana, OTLP.",
    ),
    "rcs": ("ragnostic.cli.rcs:rcs", "Is the reranker consistent? The same candidates again."),
    "sentinel": (
        "ragnostic.cli.sentinel:sentinel",
        "Live traffic: frequent queries asked again, and compared.",
    ),
    "gateway": (
        "ragnostic.cli.gateway:gateway",
        "Stand in front of a service: pass everything on, keep a copy.",
    ),
    "serve": (
        "ragnostic.cli.serve:serve",
        "Gateway, worker, schedule and figures in one, for one machine.",
    ),
    "daily": (
        "ragnostic.cli.daily:daily",
        "Live traffic: the report of a day, as a page and by mail.",
    ),
    "doctor": (
        "ragnostic.cli.doctor:doctor",
        "Is everything there? Machine, ports, disk, models, store.",
    ),
    "metrics": ("ragnostic.cli.metrics:metrics", "The catalogue: formula, range, what it is for."),
}
"""Command → where it lives, and its line in the help."""

DEBUG = "RAGNOSTIC_DEBUG"


class LazyGroup(TyperGroup):
    """A group whose commands are imported on use; errors for people end here."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Names without commands: enough for lists and "did you mean", and nothing is imported.
        self.commands: dict[str, Any] = dict.fromkeys(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's signature
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        target, _ = COMMANDS[cmd_name]
        module, _, attribute = target.partition(":")
        found = getattr(import_module(module), attribute)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name)(found)
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the same
        """The help lines of the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def invoke(self, ctx: Any) -> Any:
        """Run the command; its errors become a message and an exit code, never a traceback."""
        try:
            return super().invoke(ctx)
        except RagnosticError as error:
            fail(str(error), error.exit_code)
        except KeyboardInterrupt:
            fail("interrupted; nothing was written", EXIT_INTERRUPTED)
        except MemoryError:
            fail("out of memory", 1)
        except (RuntimeError, OSError) as error:
            if isinstance(error, typer.Exit | typer.Abort):
                raise
            unexpected(error)
        except Exception as error:
            if hasattr(error, "format_message"):  # typer's own usage errors show themselves
                raise
            unexpected(error)


def fail(message: str, code: int) -> NoReturn:
    """Print a message for a person on stderr and exit."""
    from ragnostic.report.visible import visible  # noqa: PLC0415 - only for errors

    typer.echo(visible(from_here(message), newlines=True), err=True)
    raise typer.Exit(code)


def from_here(message: str) -> str:
    """Paths below the current folder as they are written there: ``eval.jsonl``, not from the root.

    >>> from_here(f"{Path.cwd() / 'data' / 'eval.jsonl'}: 1 of 3 rows cannot be used")
    'data/eval.jsonl: 1 of 3 rows cannot be used'
    """
    here = re.escape(f"{Path.cwd()}{os.sep}")
    return re.sub(rf"(?<![\w.~/\\-]){here}", "", message)


def unexpected(error: Exception) -> NoReturn:
    """A fault of ours: a short message, the traceback only where it is asked for."""
    if os.environ.get(DEBUG):
        raise error
    fail(
        f"unexpected {type(error).__name__}: {error}\n"
        f"    hint: this is a fault of ragnostic; please report it with the output of {DEBUG}=1",
        1,
    )


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragnostic {version('ragnostic')}")
        raise typer.Exit


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _root(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """The check-up for the retrieval half of a RAG system."""


def _stop(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - signal's signature
    raise KeyboardInterrupt


def main() -> None:
    """Entry point of the ``ragnostic`` program. SIGTERM is treated as Ctrl-C."""
    signal.signal(signal.SIGTERM, _stop)
    # Arrow's own allocator gives pages back so eagerly that faulting them in again costs more
    # than 10 % of scoring a large file; it reads this when it is first imported.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    tolerate()
    try:
        app(prog_name="ragnostic")
    except RagnosticError as error:  # while the help was written: the disk is full
        sys.stderr.write(f"{error}\n")
        raise SystemExit(error.exit_code) from None
