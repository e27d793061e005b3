"""The port for machines: is it alive, is it ready, and its figures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ragnostic.exporters.samples import Family, Sample
from ragnostic.monitor.serving.jobs import Runner
from ragnostic.monitor.serving.processes import Process

Message = MutableMapping[str, Any]
_TEXT, _JSON = b"text/plain; version=0.0.4; charset=utf-8", b"application/json"


@dataclass(frozen=True, slots=True)
class Status:
    """An ASGI application: /metrics, /healthz, /readyz. ``figures`` gives the text of /metrics for
    the families of this program, ``next_run`` when a job is due.
    """

    processes: Sequence[Process]
    runner: Runner
    figures: Callable[[Sequence[Family]], str]
    next_run: Callable[[], Mapping[str, datetime | None]]

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """One request."""
        del receive
        status, kind, body = await self._answer(scope["method"], scope["path"])
        headers = [
            (b"content-type", kind),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        sent = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": sent})

    async def _answer(self, method: str, path: str) -> tuple[int, bytes, bytes]:
        if method not in {"GET", "HEAD"}:
            return 405, _JSON, b'{"error": "only GET"}\n'
        if path == "/healthz":
            return 200, _JSON, b'{"alive": true}\n'
        if path == "/readyz":
            found = self.readiness()
            return 200 if found["ready"] else 503, _JSON, json.dumps(found).encode() + b"\n"
        if path == "/metrics":
            text = await asyncio.to_thread(self.figures, self.families())
            return 200, _TEXT, text.encode()
        return 404, _JSON, b'{"error": "there are /metrics, /healthz and /readyz"}\n'

    def readiness(self) -> dict[str, Any]:
        """Whether all processes run, and what is known of each and of the jobs."""
        due, runs = self.next_run(), self.runner.runs
        return {
            "ready": all(process.state == "running" for process in self.processes),
            "processes": {
                process.name: {
                    "state": process.state,
                    "restarts": process.restarts,
                    "last_exit": process.last_exit,
                }
                for process in self.processes
            },
            "jobs": {
                name: {
                    "next": None if when is None else when.isoformat(),
                    "runs": runs[name].done if name in runs else 0,
                    "failed": runs[name].failed if name in runs else 0,
                    "last_exit": runs[name].code if name in runs else None,
                }
                for name, when in due.items()
            },
        }

    def families(self) -> list[Family]:
        """The state of this program as figures."""
        names = [(process, {"process": process.name}) for process in self.processes]
        up = [Sample(float(one.state == "running"), labels) for one, labels in names]
        again = [Sample(float(one.restarts), labels) for one, labels in names]
        runs = sorted(self.runner.runs.items())
        failed = [Sample(float(one.failed), {"job": name}) for name, one in runs]
        ended = [Sample(one.ended.timestamp(), {"job": name}) for name, one in runs if one.ended]
        return [
            Family("ragnostic_process_up", "Whether a process runs.", "gauge", up),
            Family("ragnostic_process_restarts", "Times it was started again.", "counter", again),
            Family("ragnostic_job_failures", "Runs of a job that failed.", "counter", failed),
            Family("ragnostic_job_end_timestamp_seconds", "End of its last run.", "gauge", ended),
        ]
