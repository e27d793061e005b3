"""``ragnostic doctor``: whether everything is there that a service needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.alerts_options import SystemClock
from ragnostic.cli.console import print_json, print_table
from ragnostic.errors import EXIT_GATE, ConfigError
from ragnostic.gateway.configuration import load_gateway
from ragnostic.monitor.serving import examination
from ragnostic.monitor.serving.examination import Found
from ragnostic.report.visible import visible

_MARKS = {"ok": "ok", "warning": "warning", "fault": "FAULT"}


def doctor(
    *,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="The file of gateway and serve."),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A store, where there is no gateway.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Look at the machine, the configuration, ports, disk, models, clocks, the service, the store,
    and who is told; say of each how it is and what to do.

    Exit code 1 where there is a fault.
    """
    found = list(_examined(config, store))
    faults = sum(one.state == "fault" for one in found)
    warnings = sum(one.state == "warning" for one in found)
    if as_json:
        rows = [
            {"what": one.what, "state": one.state, "said": one.said, "hint": one.hint}
            for one in found
        ]
        print_json({"faults": faults, "warnings": warnings, "checks": rows})
    else:
        _print(found)
        typer.echo(f"{len(found)} looked at: {faults} faults, {warnings} warnings")
    raise typer.Exit(EXIT_GATE if faults else 0)


def _examined(config: Path | None, store: Path | None) -> Iterator[Found]:
    yield from examination.machine()
    yield from examination.embedder()
    root = store
    if config is not None:
        try:
            loaded = load_gateway(config, os.environ)
        except ConfigError as error:
            for fault in error.faults:
                yield Found(fault.where, "fault", fault.message, fault.hint)
        else:
            yield Found(str(config), "ok", "no faults")
            yield from examination.gateway(loaded)
            root = root or loaded.path(loaded.settings.store.path)
    if root is not None:
        yield from examination.store(root, os.environ, SystemClock())


def _print(found: list[Found]) -> None:
    rows = [[_MARKS[one.state], visible(one.what), visible(one.said)] for one in found]
    print_table(("", "what", "how it is"), rows, text_columns=3)
    for one in found:
        if one.state != "ok" and one.hint:
            typer.echo(f"{_MARKS[one.state]}: {visible(one.what)}: {visible(one.hint)}")
