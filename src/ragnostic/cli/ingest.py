"""``ragnostic ingest``: log files into a store, with a balance of what became of every row."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NoReturn

import typer

from ragnostic.cli.console import print_json, print_table, print_warnings
from ragnostic.errors import EXIT_DATA, EXIT_INTERRUPTED, UsageError, counted
from ragnostic.gateway.balance import Balance
from ragnostic.gateway.file_result import FileResult, Format
from ragnostic.gateway.log_files import detect, ingest_json_lines
from ragnostic.gateway.mapping import Misses, RecordMap, read_map
from ragnostic.gateway.span_files import ingest_spans
from ragnostic.gateway.ubi_files import ingest_ubi
from ragnostic.monitor.store_intake import QUARANTINE, StoreIntake, open_intake
from ragnostic.store.state import State


class LogFormat(StrEnum):
    """What the files hold."""

    auto = "auto"
    jsonl = "jsonl"
    openinference = "openinference"
    ubi = "ubi"


def ingest(
    files: Annotated[list[Path], typer.Argument(help="Log files; gzip is unpacked.")],
    *,
    store: Annotated[Path, typer.Option(help="The store folder; made if it is not there.")],
    map_file: Annotated[
        Path | None,
        typer.Option("--map", help="TOML with JMESPath expressions from your JSON to a record."),
    ] = None,
    log_format: Annotated[
        LogFormat, typer.Option("--format", help="What the files hold; told by their first lines.")
    ] = LogFormat.auto,
    bad_rows: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of bad rows above which the exit code is 3."),
    ] = 0.01,
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Take log files into a store: checked, redacted, each row once. Goes on where it left off."""
    try:
        record_map = None if map_file is None else read_map(map_file)
        formats = _formats(files, log_format, record_map)
        with open_intake(store, os.environ) as parts:
            found = _Ingest(parts, record_map)
            found.run(formats)
    except KeyboardInterrupt:
        typer.echo(
            "interrupted; what was stored stays, and the same command goes on from there", err=True
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
    found.show(as_json=json)
    found.end(bad_rows)


def _formats(
    files: Sequence[Path], chosen: LogFormat, record_map: RecordMap | None
) -> dict[Path, Format]:
    """Each file with its format; all are looked at before the first one is stored."""
    told = {file: detect(file) for file in files}
    if chosen in (LogFormat.openinference, LogFormat.ubi):
        if record_map is not None:
            raise UsageError(
                f"--map goes with JSON Lines, not with --format {chosen.value}",
                hint="the names in spans and events are fixed",
            )
        name: Format = "ubi" if chosen is LogFormat.ubi else "openinference"
        return dict.fromkeys(told, name)
    if chosen is LogFormat.jsonl or record_map is not None:
        return dict.fromkeys(told, "jsonl")
    return told


class _Ingest:
    """One call of the command."""

    def __init__(self, parts: StoreIntake, record_map: RecordMap | None) -> None:
        self._parts = parts
        self._map = record_map
        self._misses = Misses()
        self._results: list[FileResult] = []

    def run(self, formats: Mapping[Path, Format]) -> None:
        intake, state = self._parts.intake, self._parts.state
        for file, name in formats.items():
            if name == "jsonl":
                result = ingest_json_lines(file, intake, state, self._map, self._misses)
                self._results.append(result)
        self._results += ingest_ubi(_of(formats, "ubi"), intake)
        spans = _of(formats, "openinference")
        if spans:
            with TemporaryDirectory() as folder, State(Path(folder) / "spans.sqlite") as waiting:
                mask = self._parts.redactor.text
                self._results += ingest_spans(spans, intake, waiting, mask)

    @property
    def _balance(self) -> Balance:
        return sum((result.balance for result in self._results), Balance())

    def show(self, *, as_json: bool) -> None:
        warnings = self._warnings()
        if as_json:
            print_json({**self._balance.as_json(), **self._details(), "warnings": warnings})
            return
        print_warnings(warnings)
        rows = [_row(str(result.path), result.balance) for result in self._results]
        if len(rows) > 1:
            rows.append(_row("all", self._balance))
        head = ["file", *Balance().as_json()]
        print_table(head, rows)

    def _details(self) -> dict[str, Any]:
        return {
            "files": [
                {
                    "file": str(result.path),
                    "format": result.format,
                    **result.balance.as_json(),
                    "skipped_lines": result.skipped,
                    "joined_lines": result.joined,
                }
                for result in self._results
            ],
            "reasons": dict(self._parts.quarantine.reasons.most_common()),
            "faults": dict(sorted(self._parts.intake.faults.items())),
        }

    def _warnings(self) -> list[str]:
        lines = [str(damage) for damage in (*self._parts.queue.damages, *self._parts.state.damages)]
        lines += [str(fault) for result in self._results for fault in result.faults]
        lines += [
            f"{result.path}: goes on behind line {result.skipped}, which was ingested before"
            for result in self._results
            if result.skipped
        ]
        lines += [
            f"{result.path}: holds no row"
            for result in self._results
            if not (result.balance.received or result.skipped or result.joined)
        ]
        lines += self._misses.lines(self._map.where) if self._map else []
        for kind, count in sorted(self._parts.intake.faults.items()):
            ids = ", ".join(self._parts.intake.fault_ids[kind][:5])
            lines.append(f"{counted(count, 'record')}: {_FAULTS.get(kind, kind)} ({ids})")
        if gone := self._parts.intake.turned_away:
            lines.append(f"{counted(gone, 'row')} dropped: of those whom this store has forgotten")
        for kind, count in self._parts.quarantine.reasons.most_common(10):
            first = self._parts.quarantine.firsts[kind]
            lines.append(f"{counted(count, 'row')} set aside, the first is {first}")
        if self._parts.quarantine.reasons:
            lines.append(f"rows set aside are in {self._parts.root / QUARANTINE}")
        return lines

    def end(self, bad_rows: float) -> None:
        """The exit code: 3 where too many rows are bad, or all of them."""
        balance = self._balance
        bad = balance.quarantined + balance.dropped - self._parts.intake.turned_away
        if bad and bad > bad_rows * balance.received:
            self._fail(balance, bad, bad_rows)

    def _fail(self, balance: Balance, bad: int, bad_rows: float) -> NoReturn:
        share = bad / balance.received
        rest = "the others are stored" if bad < balance.received else "nothing is stored"
        typer.echo(
            f"{bad} of {counted(balance.received, 'row')} cannot be used ({share:.1%}); {rest}\n"
            f"    hint: mend the map or the file, or allow more than {bad_rows:g}: --bad-rows",
            err=True,
        )
        raise typer.Exit(EXIT_DATA)


def _of(formats: Mapping[Path, Format], wanted: Format) -> list[Path]:
    return [file for file, name in formats.items() if name == wanted]


def _row(name: str, balance: Balance) -> list[str]:
    return [name, *(str(count) for count in balance.as_json().values())]


_FAULTS = {
    "negative_duration": "ends before it starts; it has no duration",
    "no_end": "has a start and no end; it has no duration",
    "no_duration": "says nothing of how long it took",
    "null_id": "null id among the results (keeps its rank as unjudged)",
    "text_cut": "a text was too long and was cut; its true length is kept",
}
