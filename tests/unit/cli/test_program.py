"""The program itself: help, errors, exit codes."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.errors import DataError, RetrievalError, UsageError


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from ragnostic.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_names_every_command_and_imports_none():
    """Start-up stays quick whatever the commands need."""
    code = (
        "import sys\n"
        "from ragnostic.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'rich', 'numpy', 'pyarrow', 'pydantic', 'jinja2', 'ragnostic.cli.eval'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True
    )
    assert "loaded: []" in done.stdout
    for name, (_, line) in cli.COMMANDS.items():
        assert f"  {name} " in done.stdout
        assert line in done.stdout


def test_every_command_of_the_table_exists_and_shows_its_help():
    """The table is the only place that knows them."""
    runner = CliRunner()
    for name, (target, _) in cli.COMMANDS.items():
        module, _, attribute = target.partition(":")
        assert getattr(import_module(module), attribute)
        found = runner.invoke(cli.app, [name, "--help"])
        assert found.exit_code == 0, found.output
        assert name in found.output


def test_commands_are_only_imported_when_they_are_used():
    """The help of the group is made from the table."""
    found = CliRunner().invoke(cli.app, ["--help"])
    assert [line.split()[0] for line in found.output.splitlines()[-len(cli.COMMANDS) :]] == list(
        cli.COMMANDS
    )
    assert CliRunner().invoke(cli.app, ["--version"]).output.startswith("ragnostic ")
    assert CliRunner().invoke(cli.app, ["evl"]).exit_code == 2


def test_the_version_is_one_line():
    """And nothing else."""
    done = _run("--version")
    assert done.stdout.startswith("ragnostic ")
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)


def test_an_unknown_command_names_the_nearest():
    """Exit 2, as all wrong usage."""
    done = _run("evl")
    assert done.returncode == 2
    assert "Did you mean 'eval'?" in done.stderr


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("wrong", hint="do this"), 2, "wrong\n    hint: do this\n"),
        (DataError("bad\x1b[2J"), 3, "bad␛[2J\n"),
        (RetrievalError("down"), 4, "down\n"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written\n"),
        (MemoryError(), 1, "out of memory\n"),
        (typer.Exit(7), 7, ""),
    ],
)
def test_errors_become_messages_and_exit_codes(error, code, message):
    """On stderr, with nothing on stdout and no traceback."""
    found = CliRunner().invoke(_raising(error), ["boom"])
    assert (found.exit_code, found.stderr, found.stdout) == (code, message, "")


@pytest.mark.parametrize("error", [KeyError("x"), OSError(5, "disk"), RuntimeError("odd")])
def test_an_unexpected_error_asks_to_be_reported(error, monkeypatch):
    """The traceback is only for those who ask for it."""
    monkeypatch.delenv(cli.DEBUG, raising=False)
    found = CliRunner().invoke(_raising(error), ["boom"])
    assert found.exit_code == 1
    assert found.stderr.startswith(f"unexpected {type(error).__name__}: ")
    assert "please report it" in found.stderr
    monkeypatch.setenv(cli.DEBUG, "1")
    assert CliRunner().invoke(_raising(error), ["boom"]).exception is error


@pytest.mark.parametrize("arguments", ["--help", "metrics"])
def test_a_reader_that_leaves_ends_nothing(arguments):
    """Exit 0 with stdout, or both streams, closed at the other end."""
    command = [sys.executable, "-m", "ragnostic", arguments]
    for stderr in (subprocess.PIPE, subprocess.STDOUT):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr) as process:
            process.stdout.close()
            said = process.stderr.read() if process.stderr else b""
            assert (process.wait(), said) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full disk at hand")
@pytest.mark.parametrize("arguments", ["--help", "metrics"])
def test_a_full_disk_is_told_and_is_no_fault_of_ours(arguments):
    """Exit 2; on stderr there is nobody to tell."""
    command = [sys.executable, "-m", "ragnostic", arguments]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 2
        assert done.stderr == b"cannot write to standard output: No space left on device\n"
        assert subprocess.run(command, stdout=full, stderr=full, check=False).returncode == 2


def _raising(error: BaseException) -> typer.Typer:
    """A program of our group whose one command raises."""

    class Group(cli.LazyGroup):
        def get_command(self, ctx, cmd_name):
            alone = typer.Typer(add_completion=False)

            @alone.command(cmd_name)
            def command() -> None:
                raise error

            return typer.main.get_command(alone)

    app = typer.Typer(cls=Group, add_completion=False, pretty_exceptions_enable=False)

    @app.callback()
    def root() -> None:
        """Nothing."""

    return app


def test_paths_below_the_current_folder_are_shown_as_written_there(tmp_path, monkeypatch):
    """Others stay whole, also one that only ends alike."""
    monkeypatch.chdir(tmp_path)
    message = f"{tmp_path}/data/a.jsonl: bad\n    hint: see {tmp_path}/b.toml, not /x{tmp_path}/c"
    shown = f"data/a.jsonl: bad\n    hint: see b.toml, not /x{tmp_path}/c"
    assert cli.from_here(message) == shown


def test_too_many_bad_rows_are_told_with_the_name_as_written(tmp_path):
    """The configuration is found by its full path, but nobody wants to read that."""
    (tmp_path / "eval.jsonl").write_text('{"query_id": "q", "query": "x", "gold": "a"}\n' * 2)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.md").write_text("text")
    (tmp_path / "eval.toml").write_text('[dataset]\npath = "eval.jsonl"\ncorpus = "texts"\n')
    command = [sys.executable, "-m", "ragnostic", "eval", "eval.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert str(tmp_path) not in done.stderr
    assert "eval.jsonl:1: gold must be an array" in done.stderr
