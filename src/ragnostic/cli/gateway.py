"""``ragnostic gateway``: a transparent proxy that copies queries and answers into a store."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragnostic.cli.console import print_warnings
from ragnostic.cli.gateway_traces import open_traces
from ragnostic.errors import UsageError

if TYPE_CHECKING:
    from ragnostic.gateway.configuration import GatewayConfiguration
    from ragnostic.gateway.counters import GatewayCounters
    from ragnostic.gateway.heartbeat import AuditLog, Heartbeat
    from ragnostic.gateway.pump import Pump
    from ragnostic.gateway.screening import Screen


def gateway(
    config: Annotated[Path, typer.Option("--config", metavar="FILE", help="The settings.")],
    *,
    drain: Annotated[
        float | None,
        typer.Option(metavar="S", min=0, help="At most so long, in place of listen.drain_s."),
    ] = None,
) -> None:
    """Stand in front of a service: pass everything on unchanged, and keep a copy in the store.

    Runs until SIGTERM or Ctrl-C, then finishes the requests that are under way. Traffic does not
    notice when nothing can be stored; the counters of the control port say so.
    """
    try:
        from ragnostic.gateway.server import Parts, run  # noqa: PLC0415 - heavy, loaded on use
    except ImportError as error:
        raise UsageError(
            f"the gateway needs a package that is not installed: {error.name or error}",
            hint="pip install 'ragnostic[live]'",
        ) from error
    from ragnostic.gateway.configuration import load_gateway  # noqa: PLC0415 - the same
    from ragnostic.gateway.counters import GatewayCounters  # noqa: PLC0415 - the same
    from ragnostic.gateway.degrade import Switch  # noqa: PLC0415 - the same
    from ragnostic.gateway.heartbeat import AuditLog, Heartbeat  # noqa: PLC0415 - the same
    from ragnostic.monitor.store_settings import load_store_settings  # noqa: PLC0415 - the same

    loaded = load_gateway(config, os.environ)
    settings = loaded.settings
    if drain is not None and drain < settings.listen.drain_s:
        listen = settings.listen.model_copy(update={"drain_s": drain})
        settings = settings.model_copy(update={"listen": listen})
        loaded = loaded._replace(settings=settings)
    store = loaded.path(settings.store.path)
    store.mkdir(parents=True, exist_ok=True)
    stored = load_store_settings(store)
    counters, audit, heartbeat = GatewayCounters(), AuditLog(store), Heartbeat(store)
    _tell_gap(heartbeat, audit)
    flag = settings.degrade.flag_file
    switch = Switch(audit, loaded.path(flag) if flag else None, counters.count)
    pump = _pump(loaded, config, counters, heartbeat)
    pump.start()
    token = settings.control.token_env
    address = settings.otlp.address
    traces = open_traces(settings.otlp, stored, counters) if address else None
    if traces is not None:
        traces.start()
    is_ready = False

    def tell_ready(addresses: Mapping[str, str]) -> None:
        nonlocal is_ready
        is_ready = True
        _tell_ready(addresses, loaded)

    try:
        run(
            Parts(
                settings=settings,
                offer=pump.offer,
                counters=counters,
                switch=switch,
                screen=_screen(loaded, counters),
                token=os.environ[token].strip() if token else None,
                more={"otlp": (address, traces.application)} if address and traces else {},
            ),
            tell_ready,
        )
    finally:
        if traces is not None:
            traces.stop()
        pump.stop()
        heartbeat.end()
        if is_ready:
            _tell_end(counters)


def _pump(
    loaded: GatewayConfiguration, config: Path, counters: GatewayCounters, heartbeat: Heartbeat
) -> Pump:
    from ragnostic.gateway.pump import Pump, Timing  # noqa: PLC0415 - heavy, loaded on use
    from ragnostic.gateway.sink import ProcessSink  # noqa: PLC0415 - the same

    settings = loaded.settings
    return Pump(
        ProcessSink([sys.executable, "-m", "ragnostic.cli.gateway_storing", str(config)]),
        counters,
        most=settings.capture.queue,
        timing=Timing(settings.capture.flush_ms / 1000, settings.listen.drain_s),
        flushed=heartbeat.beat,
    )


def _screen(loaded: GatewayConfiguration, counters: GatewayCounters) -> Screen | None:
    from ragnostic.adapters.user_code import load_target  # noqa: PLC0415 - heavy, loaded on use
    from ragnostic.gateway.screening import Screen  # noqa: PLC0415 - the same

    settings = loaded.settings.filter
    if not settings.on:
        return None
    target = settings.classifier
    fields = loaded.record_map.fields if loaded.record_map else {}
    return Screen(
        settings,
        fields.get("query", lambda _: None),
        load_target(target, loaded.base_dir) if target else None,
        counters.count,
    )


def _tell_gap(heartbeat: Heartbeat, audit: AuditLog) -> None:
    """What the last run may have lost is said, and written down."""
    gap = heartbeat.begin()
    if gap is None:
        return
    print_warnings([str(gap)])
    audit.write("gap", **gap._asdict())


def _tell_ready(addresses: Mapping[str, str], loaded: GatewayConfiguration) -> None:
    settings = loaded.settings
    typer.echo(f"http://{addresses['listen']} passes everything on to {settings.upstream.url}")
    if "control" in addresses:
        typer.echo(f"http://{addresses['control']} control: /health /counters /degrade")
    if "otlp" in addresses:
        typer.echo(f"http://{addresses['otlp']}/v1/traces takes traces")
    copies = f"copies go to {settings.store.path}" if settings.capture.on else "nothing is copied"
    typer.echo(copies)


def _tell_end(counters: GatewayCounters) -> None:
    counts = counters.as_json()
    names = ("requests", "captured", "stored", "duplicate", "quarantined", "dropped")
    typer.echo(", ".join(f"{counts[name]} {name}" for name in names))
