"""The small state of a store: leases of partitions, counters, positions in log files, spans that
wait for their trace. One SQLite file for all processes.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from ragnostic.errors import LeaseLostError
from ragnostic.store.damage import Damage
from ragnostic.store.sqlite_file import SqliteFile
from ragnostic.store.state_tables import LAYOUT, position_row


class Lease(NamedTuple):
    """A partition that is a worker's until ``expires`` (seconds since the epoch). ``token`` rises
    whenever a partition changes hands.
    """

    partition: int
    worker: str
    token: int
    expires: float


class State:
    """Small state in one file. ``now`` is the clock where a call is given no time.

    Raises StoreError as the queue does. What was found damaged is in :attr:`damages`.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> state = State(Path(folder.name) / "state.sqlite", partitions=4)
    >>> state.lease("a", 3, 30.0, now=0.0), state.lease("b", 3, 30.0, now=10.0)
    ([0, 1, 2], [3])
    >>> state.lease("b", 3, 30.0, now=31.0)
    [0, 1, 3]
    >>> state.close(), folder.cleanup()
    (None, None)
    """

    def __init__(
        self, path: Path, *, partitions: int = 16, now: Callable[[], float] = time.time
    ) -> None:
        self._file = SqliteFile(path, LAYOUT)
        self._partitions = partitions
        self._clock = now

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What was found damaged when this object opened the file."""
        return self._file.damages

    def lease(self, worker: str, want: int, ttl_s: float, now: float | None = None) -> list[int]:
        """Hold up to ``want`` partitions for ``ttl_s`` seconds from now; those that are held.

        Those that the worker has are renewed (and given back above ``want``), then free and
        expired ones are taken. ``worker`` is a name that no other process has or had.
        """
        now = self._now(now)
        with self._file.writing() as connection:
            live = _live(connection, now)
            mine = sorted(lease.partition for lease in live if lease.worker == worker)
            taken = {lease.partition for lease in live}
            tokens = dict(connection.execute("SELECT partition, token FROM tokens"))
            free = [number for number in range(self._partitions) if number not in taken]
            # Those first that waited longest, so that workers who hold few leave none out.
            free.sort(key=lambda number: tokens.get(number, 0))
            for number in mine[want:]:
                connection.execute("DELETE FROM leases WHERE partition = ?", (number,))
            held = mine[:want]
            fresh = free[: max(want - len(held), 0)]
            _extend(connection, held, now + ttl_s)
            for number in fresh:
                _take(connection, number, worker, now + ttl_s, first=int(now))
        return sorted(held + fresh)

    def renew(self, worker: str, ttl_s: float, now: float | None = None) -> list[int]:
        """Hold what is held for longer, and nothing else; those that are held."""
        now = self._now(now)
        with self._file.writing() as connection:
            live = _live(connection, now)
            held = sorted(lease.partition for lease in live if lease.worker == worker)
            _extend(connection, held, now + ttl_s)
        return held

    def release(self, worker: str, partitions: Iterable[int] | None = None) -> None:
        """Give partitions back, or all of them."""
        chosen = range(self._partitions) if partitions is None else partitions
        with self._file.writing() as connection:
            connection.executemany(
                "DELETE FROM leases WHERE partition = ? AND worker = ?",
                [(number, worker) for number in chosen],
            )

    def leases(self, now: float | None = None) -> list[Lease]:
        """All that are held, by partition."""
        with self._file.reading() as connection:
            return _live(connection, self._now(now))

    @contextmanager
    def holding(self, worker: str, partition: int, now: float | None = None) -> Iterator[Lease]:
        """While the block runs, nobody else can take the partition over: what is committed in it
        is committed by its owner. Raises LeaseLostError where the lease has run out.

        Short work only: it holds up every other write to the state, and must not write there.
        """
        with self._file.writing() as connection:
            for lease in _live(connection, self._now(now)):
                if (lease.partition, lease.worker) == (partition, worker):
                    yield lease
                    return
        raise LeaseLostError(
            f"worker {worker} no longer holds partition {partition}",
            hint="its work is done again by the worker that holds it now",
        )

    def add(self, deltas: Mapping[str, int]) -> None:
        """Add to counters, all or none; one that is new starts at 0."""
        with self._file.writing() as connection:
            connection.executemany(
                "INSERT INTO counters VALUES (?, ?)"
                " ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
                list(deltas.items()),
            )

    def counters(self, prefix: str = "") -> dict[str, int]:
        """Counters whose name begins so, by name."""
        with self._file.reading() as connection:
            rows = connection.execute("SELECT name, value FROM counters ORDER BY name")
            return {name: value for name, value in rows if name.startswith(prefix)}

    def position(self, source: str) -> dict[str, Any] | None:
        """How far a source was read: what :meth:`set_position` was given last."""
        with self._file.reading() as connection:
            row = connection.execute(
                "SELECT position FROM positions WHERE source = ?", (source,)
            ).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def set_position(self, source: str, position: Mapping[str, Any]) -> None:
        """Keep how far a source was read, as a JSON object."""
        text = json.dumps(dict(position), ensure_ascii=True)
        with self._file.writing() as connection:
            row = position_row(source, text)
            connection.execute("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)", row)

    def keep_spans(self, spans: Iterable[tuple[str, str, bytes]], now: float | None = None) -> int:
        """Keep (trace id, span id, payload) until the trace is complete; how many are new. The
        same span again replaces the payload.
        """
        arrived, new = self._now(now), 0
        with self._file.writing() as connection:
            for trace, span, payload in spans:
                row = (trace, span, arrived, payload)
                if connection.execute(
                    "INSERT OR IGNORE INTO spans VALUES (?, ?, ?, ?)", row
                ).rowcount:
                    new += 1
                else:
                    connection.execute(
                        "UPDATE spans SET payload = ? WHERE trace = ? AND span = ?",
                        (payload, trace, span),
                    )
        return new

    def spans_of(self, trace: str) -> list[bytes]:
        """The payloads of a trace, in the order of arrival."""
        with self._file.reading() as connection:
            rows = connection.execute(
                "SELECT payload FROM spans WHERE trace = ? ORDER BY arrived, rowid", (trace,)
            )
            return [row[0] for row in rows]

    def waiting_traces(self, before: float, limit: int = 1_000) -> list[str]:
        """Traces without a new span since ``before``, those that wait longest first."""
        with self._file.reading() as connection:
            rows = connection.execute(
                "SELECT trace, max(arrived) AS last FROM spans GROUP BY trace"
                " HAVING last < ? ORDER BY last, trace LIMIT ?",
                (before, limit),
            )
            return [row[0] for row in rows]

    def drop_traces(self, traces: Iterable[str]) -> int:
        """Remove the spans of traces; how many spans."""
        with self._file.writing() as connection:
            return connection.executemany(
                "DELETE FROM spans WHERE trace = ?", [(trace,) for trace in traces]
            ).rowcount

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _now(self, now: float | None) -> float:
        return self._clock() if now is None else now


def _live(connection: sqlite3.Connection, now: float) -> list[Lease]:
    rows = connection.execute(
        "SELECT partition, worker, token, expires FROM leases WHERE expires > ? ORDER BY partition",
        (now,),
    )
    return [Lease(*row) for row in rows]


def _extend(connection: sqlite3.Connection, partitions: Iterable[int], expires: float) -> None:
    """A shorter time does not shorten a lease that was promised for longer."""
    connection.executemany(
        "UPDATE leases SET expires = max(expires, ?) WHERE partition = ?",
        [(expires, number) for number in partitions],
    )


def _take(
    connection: sqlite3.Connection, number: int, worker: str, expires: float, *, first: int
) -> None:
    """``first`` is the least token: it rises with time, so that it does also after damage."""
    connection.execute(
        "INSERT INTO tokens VALUES (?, ?)"
        " ON CONFLICT(partition) DO UPDATE SET token = max(token + 1, excluded.token)",
        (number, first),
    )
    connection.execute(
        "INSERT OR REPLACE INTO leases SELECT partition, ?, token, ? FROM tokens"
        " WHERE partition = ?",
        (worker, expires, number),
    )
