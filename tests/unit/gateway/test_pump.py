"""Between traffic and store: everything is counted, whatever the store does."""

from __future__ import annotations

import threading
import time

from ragnostic.gateway.balance import Balance
from ragnostic.gateway.capture import Budget, Copy, Exchange
from ragnostic.gateway.counters import GatewayCounters
from ragnostic.gateway.pump import Pump, Timing
from ragnostic.gateway.sink import SinkError

QUICK = Timing(0.005, 0.5, 0.01)


class Store:
    """A sink in memory that can be told to fail, to die of an exchange, or to say nothing."""

    def __init__(self, *, failures: int = 0, poison: bytes = b"?", silent: bool = False) -> None:
        self.bodies: list[bytes] = []
        self.closed = False
        self._failures = failures
        self._poison = poison
        self._silent = silent
        self._killed = threading.Event()

    def start(self) -> None:
        """Nothing to do."""

    def store(self, batch) -> Balance:
        """Take a batch."""
        if self._silent:
            self._killed.wait(20)
            raise SinkError("killed", died=True)
        if self._failures:
            self._failures -= 1
            raise SinkError("disk full", died=False)
        if any(one.request.body == self._poison for one in batch):
            raise SinkError("died", died=True)
        self.bodies += [one.request.body for one in batch]
        return Balance(len(batch), stored=len(batch))

    def kill(self) -> None:
        """No more silence."""
        self._killed.set()

    def close(self) -> None:
        """The end."""
        self.closed = True


def exchange(budget: Budget | None = None, body: bytes = b"abc") -> Exchange:
    """One that has passed."""
    budget = budget or Budget(1 << 20)
    made = Exchange(
        method="GET",
        target=b"/",
        request_headers=(),
        request=Copy(100, budget),
        response=Copy(100, budget),
    )
    made.request.add(body)
    return made


def run(store: Store, given, *, most: int = 100, timing: Timing = QUICK) -> dict:
    """The counters after some exchanges and the end."""
    counters = GatewayCounters()
    pump = Pump(store, counters, most=most, timing=timing)
    for one in given:
        pump.offer(one)
    pump.start()
    pump.stop()
    assert store.closed
    assert counters.waiting() == 0
    return counters.as_json()


def test_exchanges_reach_the_store_in_order_and_give_their_memory_back():
    """And the books balance."""
    store, budget = Store(), Budget(30)
    bodies = [b"%03d" % number for number in range(10)]
    counts = run(store, [exchange(budget, body) for body in bodies])
    assert store.bodies == bodies
    assert budget.take(30)
    assert counts["stored"] == counts["captured"] == 10


def test_a_store_that_fails_is_tried_again_and_loses_nothing():
    """Exchanges wait for it."""
    store, counters = Store(failures=1), GatewayCounters()
    pump = Pump(store, counters, most=100, timing=QUICK)
    pump.start()
    pump.offer(exchange())
    begun = time.monotonic()
    while not store.bodies:
        assert time.monotonic() - begun < 10
        time.sleep(0.01)
    pump.stop()
    counts = counters.as_json()
    assert (counts["stored"], counts["store_failures"]) == (1, 1)


def test_what_a_store_never_takes_is_dropped_with_the_reason():
    """At the end, when the time for it is over."""
    given = [exchange() for _ in range(5)]
    counts = run(Store(failures=1000), given, most=3, timing=Timing(0.005, 0.0))
    assert counts["dropped_by"] == {"queue_full": 2, "store_failed": 3}


def test_an_exchange_that_kills_the_store_costs_no_other():
    """After three deaths of it alone it is dropped with that reason."""
    bodies = [b"a", b"b", b"poison", b"c", b"d"]
    store = Store(poison=b"poison")
    counts = run(store, [exchange(body=body) for body in bodies], timing=Timing(0.005, 20.0, 0.01))
    assert store.bodies == [b"a", b"b", b"c", b"d"]
    assert counts["dropped_by"] == {"store_died": 1}


def test_a_store_that_says_nothing_does_not_hold_up_the_end():
    """It is killed."""
    counts = run(Store(silent=True), [exchange()], timing=Timing(0.005, -4.9))
    assert counts["dropped_by"] == {"store_failed": 1}


def test_what_had_no_memory_is_dropped_with_that_reason():
    """The copy is not whole."""
    assert run(Store(), [exchange(Budget(2))])["dropped_by"] == {"memory_full": 1}


def test_it_says_that_it_lives():
    """With what waits, also when there is nothing to do."""
    beats: list[int] = []
    beaten = threading.Event()

    def beat(waiting: int) -> None:
        beats.append(waiting)
        if len(beats) > 2:
            beaten.set()

    pump = Pump(Store(), GatewayCounters(), most=9, timing=QUICK, flushed=beat)
    pump.start()
    assert beaten.wait(5)
    pump.stop()
    assert set(beats) == {0}
