"""``ragnostic serve``: gateway, worker, schedule and figures in one program, for one machine."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic.cli.console import print_warnings
from ragnostic.cli.export import families
from ragnostic.errors import UsageError
from ragnostic.exporters.prometheus import exposition
from ragnostic.exporters.samples import Family
from ragnostic.gateway.addresses import split_address
from ragnostic.gateway.configuration import GatewayConfiguration, load_gateway
from ragnostic.monitor.live_store import QUEUE, open_store
from ragnostic.monitor.serving.jobs import Runner, jobs_of, scheduler
from ragnostic.monitor.serving.processes import Process
from ragnostic.monitor.serving.service import Service
from ragnostic.monitor.serving.status import Status
from ragnostic.monitor.store_settings import load_store_settings
from ragnostic.store.queue import SqliteQueue

_PROGRAM = (sys.executable, "-m", "ragnostic")
_READY = "passes everything on to"
"""Said by the gateway when it takes traffic."""


def serve(
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="The file of the gateway.")
    ],
) -> None:
    """Run the gateway, the worker, the schedule and the figures of one store, until SIGTERM.

    Each is a process of its own; one that dies is started again. /metrics, /healthz and /readyz
    are at [serve] address. SIGTERM or Ctrl-C ends everything within [serve] drain_s.
    """
    loaded = load_gateway(config, os.environ)
    settings = loaded.settings.serve
    store = loaded.path(loaded.settings.store.path)
    store.mkdir(parents=True, exist_ok=True)
    stored = load_store_settings(store)
    SqliteQueue(store / QUEUE).close()  # so that it is a store before anybody looks into it
    paths = _paths(loaded, store)
    listener = _listener(settings.address)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    runner = Runner(environment, say)
    drain = f"{max(0.5, settings.drain_s * 0.6):g}"
    commands: Mapping[str, Sequence[str]] = {
        "worker": [*_PROGRAM, "work", "--store", str(store), "--workers", str(settings.workers)],
        "gateway": [*_PROGRAM, "gateway", "--config", str(config.resolve()), "--drain", drain],
    }
    processes = [
        Process(name, command, environment, say, _READY if name == "gateway" else "")
        for name, command in commands.items()
    ]
    schedule = scheduler(jobs_of(settings, _PROGRAM, paths), runner, stored.zone)
    status = Status(processes, runner, lambda own: _figures(store, own), lambda: _due(schedule))
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    host, port = listener.getsockname()[:2]
    service = Service(processes, runner, schedule, status, listener, settings.drain_s)
    say(f"http://{host}:{port} figures: /metrics /healthz /readyz")
    clean = service.run(stop, lambda: say("everything runs"))
    if not clean:
        print_warnings(["not everything ended in time; what was stored is kept, nothing is lost"])
    say("ended")


def say(line: str) -> None:
    """A line of the log, at once."""
    typer.echo(line)
    sys.stdout.flush()


def _paths(loaded: GatewayConfiguration, store: Path) -> dict[str, str]:
    settings = loaded.settings.serve
    found = {"store": str(store.resolve())}
    for name, written in (("sentinel", settings.sentinel), ("daily", settings.daily)):
        if written:
            found[name] = str(loaded.path(written).resolve())
    if settings.sentinel and not Path(found["sentinel"]).is_file():
        raise UsageError(f"serve.sentinel: there is no file {settings.sentinel}")
    return found


def _listener(address: str) -> socket.socket:
    """The port, taken before anything is started."""
    host, port = split_address(address)
    try:
        return socket.create_server((host, port), family=_family(host))
    except OSError as error:
        raise UsageError(
            f"serve.address {address}: {error.strerror or error}",
            hint="does another ragnostic serve run? set another [serve] address",
        ) from error


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _figures(store: Path, own: Sequence[Family]) -> str:
    with open_store(store, os.environ) as opened:
        return exposition([*families(opened, datetime.now().astimezone()), *own])


def _due(schedule: Any) -> dict[str, datetime | None]:
    return {job.id: job.next_run_time for job in schedule.get_jobs()}
