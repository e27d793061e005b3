"""The whole of ``ragnostic serve``: started in order, watched, and drained in order."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ragnostic.monitor.serving.jobs import Runner
from ragnostic.monitor.serving.processes import Process

TICK_S = 0.1
_GATEWAY_SHARE = 0.7
"""Of the time to drain, what the gateway may take before the others are asked to end."""
_LAST_S = 0.3


@dataclass(frozen=True, slots=True)
class Service:
    """``processes`` in the order of their start, the one that takes traffic last; ``status`` is
    the application of ``listener``.
    """

    processes: Sequence[Process]
    runner: Runner
    schedule: Any
    status: Any
    listener: socket.socket
    drain_s: float

    def run(self, stop: threading.Event, ready: Callable[[], None]) -> bool:
        """Until ``stop`` is set; whether everything then ended by itself within ``drain_s``."""
        server, thread = _serving(self.status, self.listener)
        told = False
        try:
            self.schedule.start()
            for process in self.processes:
                process.start(time.monotonic())
                while process.state == "starting" and not stop.wait(TICK_S):
                    process.look(time.monotonic())
            while not stop.wait(TICK_S):
                for process in self.processes:
                    process.look(time.monotonic())
                if not told and all(one.state == "running" for one in self.processes):
                    told = True
                    ready()
        finally:
            clean = self._drain(time.monotonic() + self.drain_s)
            server.should_exit = True
            thread.join(_LAST_S + 1.0)
        return clean

    def _drain(self, deadline: float) -> bool:
        """Traffic first, so that what it leaves behind is still taken care of; then the rest."""
        self.schedule.shutdown(wait=False)
        self.runner.stop()
        first, *others = reversed(self.processes)
        first.stop()
        first.wait(_GATEWAY_SHARE * max(0.0, deadline - time.monotonic()))
        for process in others:
            process.stop()
        clean = True
        for process in (first, *others):
            if not process.wait(deadline - _LAST_S - time.monotonic()):
                clean = False
                process.kill()
        self.runner.stop(hard=True)
        return clean


def _serving(application: Any, listener: socket.socket) -> tuple[Any, threading.Thread]:
    import uvicorn  # noqa: PLC0415 - heavy, loaded on use

    config = uvicorn.Config(application, lifespan="off", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    return server, thread
