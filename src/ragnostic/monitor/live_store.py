"""A store folder in use: its settings, and everything that is kept in it, opened together."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.redaction import Redactor
from ragnostic.monitor.store_intake import QUARANTINE, QUEUE, STATE
from ragnostic.monitor.store_settings import StoreConfiguration, check_store, load_store_settings
from ragnostic.store.lake import ParquetLake
from ragnostic.store.queue import SqliteQueue
from ragnostic.store.state import State

__all__ = ["QUARANTINE", "QUEUE", "STATE", "LiveStore", "is_dead", "open_store", "worker_name"]


@dataclass(frozen=True)
class LiveStore:
    """The parts of an open store folder. ``worker`` is the name of this process in it."""

    configuration: StoreConfiguration
    queue: SqliteQueue
    lake: ParquetLake
    state: State
    redactor: Redactor
    worker: str

    @property
    def root(self) -> Path:
        """The folder."""
        return self.configuration.root

    @property
    def zone(self) -> str:
        """The time zone of its days."""
        return self.configuration.zone

    def day(self, day: str) -> tuple[datetime, datetime]:
        """Begin and end of one of its days, in UTC."""
        zone = ZoneInfo(self.zone)
        first = date.fromisoformat(day)
        begin, end = (
            datetime.combine(first + timedelta(days=step), time(), zone).astimezone(UTC)
            for step in (0, 1)
        )
        return begin, end

    def quarantine(self) -> Quarantine:
        """A writer of its quarantine."""
        return Quarantine(self.root / QUARANTINE, self.redactor, zone=self.zone)


@contextmanager
def open_store(root: Path, environment: Mapping[str, str]) -> Iterator[LiveStore]:
    """Open a store folder that exists; raises PathError where there is none, ConfigError for
    faults in its ``store.toml``.
    """
    check_store(root)
    configuration = load_store_settings(root)
    redactor = Redactor(configuration.settings.redact, environment)
    with SqliteQueue(root / QUEUE) as queue:
        lake = ParquetLake(root, configuration.zone)
        with State(root / STATE, partitions=queue.partitions) as state:
            yield LiveStore(configuration, queue, lake, state, redactor, worker_name())


def worker_name() -> str:
    """``host:pid:random``, so that another process can tell whether this one still lives."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def is_dead(worker: str) -> bool:
    """Whether a worker of this machine has ended; of another machine nobody knows.

    >>> is_dead(worker_name()), is_dead("elsewhere:1:ab")
    (False, False)
    """
    host, _, rest = worker.rpartition(":")[0].rpartition(":")
    if host != socket.gethostname() or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
