"""Between traffic and store: a bounded queue, and the thread that empties it.

Traffic only ever appends to a deque. Whatever the store does, it is not noticed there; the
counters say what was lost and why.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ragnostic.gateway.balance import Balance
from ragnostic.gateway.capture import Exchange
from ragnostic.gateway.counters import GatewayCounters
from ragnostic.gateway.sink import SinkError

BATCH = 500
_DEATHS = 3
_PATIENCE_S = 10.0


class Sink(Protocol):
    """Where exchanges are stored."""

    def start(self) -> None:
        """Get ready."""
        ...

    def store(self, batch: Sequence[Exchange]) -> Balance:
        """Store a batch; raises SinkError."""
        ...

    def kill(self) -> None:
        """End what does not answer."""
        ...

    def close(self) -> None:
        """End."""
        ...


class Timing(NamedTuple):
    """Seconds: how often waiting exchanges go to the store, how long the end may take, and the
    pause after a failure.
    """

    flush_s: float
    drain_s: float
    retry_s: float = 1.0


class Pump:
    """Takes exchanges and hands them to the sink in its own thread.

    ``flushed`` is called about every ``flush_s``, with the number of captures that wait.
    """

    def __init__(
        self,
        sink: Sink,
        counters: GatewayCounters,
        *,
        most: int,
        timing: Timing,
        flushed: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._sink = sink
        self._counters = counters
        self._most = most
        self._timing = timing
        self._flushed = flushed
        self._exchanges: deque[Exchange] = deque()
        self._size = BATCH
        self._deaths = 0
        self._ready = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="capture", daemon=True)

    def start(self) -> None:
        """Begin; back when the sink is ready, or takes long to be: traffic need not wait for it."""
        self._thread.start()
        self._ready.wait(_PATIENCE_S)

    def offer(self, exchange: Exchange) -> None:
        """Take an exchange that has ended; at once, without ever raising."""
        self._counters.count("captured")
        if exchange.starved:
            self._drop(exchange, "memory_full")
        elif len(self._exchanges) >= self._most:
            self._drop(exchange, "queue_full")
        else:
            self._exchanges.append(exchange)

    def stop(self) -> None:
        """Store what waits, within the time for it; what is left is dropped and counted."""
        self._ending.set()
        self._thread.join(self._timing.drain_s + 5)
        if self._thread.is_alive():
            self._sink.kill()
            self._thread.join()

    def _drop(self, exchange: Exchange, reason: str) -> None:
        exchange.release()
        self._counters.drop(reason)

    def _run(self) -> None:
        self._sink.start()
        self._ready.set()
        while not self._ending.wait(self._timing.flush_s):
            if not self._flush():
                self._ending.wait(self._timing.retry_s)
        for left in range(max(1, int(self._timing.drain_s / self._timing.retry_s)), 0, -1):
            if self._flush() or left == 1:
                break
            threading.Event().wait(self._timing.retry_s)
        while self._exchanges:
            self._drop(self._exchanges.popleft(), "store_failed")
        self._sink.close()

    def _flush(self) -> bool:
        """Store all that waits; False where the store does not take it now."""
        while self._exchanges:
            batch = [self._exchanges[at] for at in range(min(self._size, len(self._exchanges)))]
            if not self._store(batch):
                return False
            self._flushed(self._counters.waiting())
        self._flushed(0)
        return True

    def _store(self, batch: Sequence[Exchange]) -> bool:
        """Store a batch from the head of the queue, and take it off there."""
        try:
            balance = self._sink.store(batch)
        except SinkError as error:
            self._counters.count("store_failures")
            return error.died and self._has_killed(batch)
        self._counters.settle(balance.as_json())
        self._take_off(batch)
        self._deaths, self._size = 0, min(BATCH, self._size * 2)
        return True

    def _has_killed(self, batch: Sequence[Exchange]) -> bool:
        """After a death go on one by one: one that the process dies of again and again is
        dropped, so that it costs nobody else's record.
        """
        self._deaths = self._deaths + 1 if len(batch) == 1 else 0
        self._size = 1
        if self._deaths < _DEATHS:
            return False
        self._deaths = 0
        self._take_off(batch)
        self._counters.drop("store_died")
        return True

    def _take_off(self, batch: Sequence[Exchange]) -> None:
        for exchange in batch:
            self._exchanges.popleft()
            exchange.release()
