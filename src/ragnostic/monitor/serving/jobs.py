"""What is done from time to time: one run at once of each, and how the last one went."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ragnostic.gateway.serve_settings import ServeSettings
from ragnostic.monitor.serving.processes import Say

FINE = frozenset({0, 1})
"""1: an alert fires, which is what a check is for."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command and when it is due: every ``minutes``, or at ``minute`` of every hour (of ``hour``
    only, where that is given). Names stand in /readyz and in metrics.
    """

    name: str
    command: Sequence[str]
    minutes: float | None = None
    hour: int | None = None
    minute: int = 0


@dataclass
class Runs:
    """How a job went so far."""

    done: int = 0
    failed: int = 0
    code: int | None = None
    took_s: float | None = None
    ended: datetime | None = None


@dataclass
class Runner:
    """Runs jobs as processes; one that is still running is not started a second time."""

    environment: Mapping[str, str]
    say: Say
    runs: dict[str, Runs] = field(default_factory=dict)
    _children: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def run(self, job: Job) -> None:
        """Run a job to its end. What it says is passed on where it fails, else its last line."""
        begun = time.monotonic()
        with self._lock:
            if self._stopped or job.name in self._children:
                return
            child = subprocess.Popen(  # noqa: S603 - our own program
                job.command,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self._children[job.name] = child
        said, _ = child.communicate()
        with self._lock:
            del self._children[job.name]
            runs = self.runs.setdefault(job.name, Runs())
            runs.done += 1
            runs.failed += child.returncode not in FINE
            runs.code, runs.took_s = child.returncode, time.monotonic() - begun
            runs.ended = datetime.now(UTC)
            stopped = self._stopped
        lines = said.splitlines()
        if child.returncode not in FINE and not stopped:
            self.say(f"{job.name}: failed with {child.returncode}")
        for line in lines if child.returncode not in FINE else lines[-1:]:
            self.say(f"{job.name}: {line}")

    def stop(self, *, hard: bool = False) -> None:
        """End what runs; all of them can go on where they were."""
        with self._lock:
            self._stopped = True
            children = list(self._children.values())
        for child in children:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL if hard else signal.SIGTERM)

    @property
    def busy(self) -> list[str]:
        """The jobs that run now."""
        with self._lock:
            return sorted(self._children)


def jobs_of(settings: ServeSettings, program: Sequence[str], paths: Mapping[str, str]) -> list[Job]:
    """The schedule. ``paths``: ``store``, and ``sentinel`` and ``daily`` as absolute paths where
    the settings name them.

    >>> jobs_of(ServeSettings(), ["ragnostic"], {"store": "s"})[0].command
    ['ragnostic', 'alerts', 'check', '--store', 's']
    """
    store = ["--store", paths["store"]]
    check = Job("check", [*program, "alerts", "check", *store], minutes=settings.check_minutes)
    found = [check]
    if settings.sentinel:
        asks = [*program, "sentinel", *store, "--config", paths["sentinel"]]
        asks += ["--retrieval"] if settings.retrieval else []
        asks += ["--rate", f"{settings.rate:g}"] if settings.rate is not None else []
        hourly, nightly = settings.hourly_queries, settings.nightly_queries
        if hourly:
            found.append(Job("sentinel-hourly", [*asks, "--queries", str(hourly)], minute=5))
        if nightly:
            command = [*asks, "--queries", str(nightly), "--days", "30"]
            found.append(Job("sentinel-nightly", command, hour=settings.night_hour, minute=20))
    if settings.daily:
        command = [*program, "daily", *store, "--out", paths["daily"]]
        command += ["--mail"] if settings.daily_mail else []
        found.append(Job("daily", command, hour=settings.daily_hour, minute=0))
    return found


def scheduler(jobs: Sequence[Job], runner: Runner, zone: str) -> Any:
    """An APScheduler that has not been started; missed times are made up for once."""
    from apscheduler.schedulers.background import (  # noqa: PLC0415 - heavy, loaded on use
        BackgroundScheduler,
    )

    made = BackgroundScheduler(
        timezone=zone,
        job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
    )
    for job in jobs:
        if job.minutes is not None:
            made.add_job(
                runner.run,
                "interval",
                [job],
                id=job.name,
                seconds=job.minutes * 60,
                next_run_time=datetime.now(UTC),
            )
        else:
            at = {} if job.hour is None else {"hour": job.hour}
            made.add_job(runner.run, "cron", [job], id=job.name, minute=job.minute, **at)
    return made
