"""The running gateway: its ports, its clock, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import signal
import socket
import sys
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import uvicorn
import uvloop

from ragnostic.errors import UsageError
from ragnostic.gateway.addresses import split_address
from ragnostic.gateway.capture import Budget, Offer
from ragnostic.gateway.control import Control, own_names
from ragnostic.gateway.counters import GatewayCounters
from ragnostic.gateway.degrade import MAIN, SECOND, Switch
from ragnostic.gateway.forward import Gateway, Selection
from ragnostic.gateway.link import ClientConnection
from ragnostic.gateway.screening import Screen
from ragnostic.gateway.settings import MIB, GatewaySettings
from ragnostic.gateway.upstream import Upstream

_TICK_S = 0.25
_SWITCH_INTERVAL_S = 0.0005
"""The capture thread gives way to traffic after this long; Python's own 5 ms would be seen."""

Application = Any


@dataclass(frozen=True, slots=True)
class Parts:
    """What the command line has put together around the proxy itself.

    ``more`` are other applications by name, with their addresses: a receiver of traces.
    """

    settings: GatewaySettings
    offer: Offer
    counters: GatewayCounters
    switch: Switch
    screen: Screen | None
    token: str | None
    more: Mapping[str, tuple[str, Application]] = field(default_factory=dict)


class _Server(uvicorn.Server):
    """A server among several in one process: signals are not its business."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def run(parts: Parts, ready: Callable[[Mapping[str, str]], object]) -> None:
    """Serve until SIGTERM or SIGINT; ``ready`` is told the address of every port."""
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # a bad request is counted, not told
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(parts, ready))


async def _serve(parts: Parts, ready: Callable[[Mapping[str, str]], object]) -> None:
    settings = parts.settings
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    upstreams: dict[str, Upstream] = {}
    with contextlib.ExitStack() as sockets:
        bound = {"listen": sockets.enter_context(bind(settings.listen.address))}
        if settings.control.address is not None:
            bound["control"] = sockets.enter_context(bind(settings.control.address))
        for name, (address, _) in parts.more.items():
            bound[name] = sockets.enter_context(bind(address))
        addresses = {name: _shown(one) for name, one in bound.items()}
        upstreams[MAIN] = Upstream(MAIN, settings.upstream.url, settings.upstream)
        if settings.degrade.url is not None:
            upstreams[SECOND] = Upstream(SECOND, settings.degrade.url, settings.upstream)
        servers = {"listen": _proxy(parts, upstreams, addresses["listen"])}
        if "control" in bound:
            has_second = SECOND in upstreams
            control = Control(
                addresses["control"], parts.token, parts.counters, parts.switch, has_second
            )
            servers["control"] = _Server(_config(control, settings.listen.drain_s))
        for name, (_, application) in parts.more.items():
            servers[name] = _Server(_config(application, settings.listen.drain_s))
        parts.switch.look()
        running = [
            asyncio.create_task(server.serve(sockets=[bound[name]]))
            for name, server in servers.items()
        ]
        ticking = asyncio.create_task(_tick(parts.switch, servers["listen"]))
        ready(addresses)
        await stopping.wait()
        for server in servers.values():
            server.should_exit = True
        await asyncio.gather(*running)
        ticking.cancel()
    for upstream in upstreams.values():
        await upstream.close()


def _proxy(parts: Parts, upstreams: Mapping[str, Upstream], address: str) -> _Server:
    settings = parts.settings
    names = {*own_names(address), *(name.lower() for name in settings.listen.names)}
    gateway = Gateway(
        upstreams=upstreams,
        switch=parts.switch,
        selection=Selection.of(settings.capture),
        screen=parts.screen,
        budget=Budget(settings.capture.memory_mib * MIB),
        offer=parts.offer,
        counters=parts.counters,
        own=frozenset(name.encode("latin-1") for name in names),
    )
    protocol = functools.partial(
        ClientConnection,
        max_head_bytes=settings.listen.max_head_kib * 1024,
        refused=functools.partial(parts.counters.count, "malformed"),
    )
    return _Server(_config(gateway, settings.listen.drain_s, protocol))


def _config(
    application: Application, drain_s: float, protocol: Any = "httptools"
) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=protocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=max(1, round(drain_s)),
    )


async def _tick(switch: Switch, server: _Server) -> None:
    """What nobody would be told of: the flag file, and clients that went while nothing was read."""
    while True:
        await asyncio.sleep(_TICK_S)
        switch.look()
        for connection in list(server.server_state.connections):
            if isinstance(connection, ClientConnection) and connection.has_silently_gone():
                connection.drop()


def bind(address: str) -> socket.socket:
    """A listening socket at an address; raises UsageError where that cannot be had."""
    host, port = split_address(address)
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
        found.listen(2048)
    except OSError as error:
        raise UsageError(f"cannot listen at {address}: {error.strerror or error}") from error
    return found


def _shown(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
