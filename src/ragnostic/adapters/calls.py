"""Calls to a service that may fail: again after a pause, and several at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_LONGEST_WAIT_S = 20.0
_LONGEST_ASKED_WAIT_S = 120.0


def retried(
    call: Callable[[], Answer], retries: int, sleep: Callable[[float], None] = time.sleep
) -> Answer:
    """``call()``, again where it fails with a retryable RetrievalError: with exponential back-off
    and jitter, ``retries`` times; not before the service wants it, and not at all where that is
    more than two minutes off.

    >>> retried(lambda: 3, retries=0)
    3
    """
    from tenacity import (  # noqa: PLC0415 - heavy, loaded on use
        RetryCallState,
        Retrying,
        retry_if_exception,
        stop_after_attempt,
        wait_random_exponential,
    )

    back_off = wait_random_exponential(multiplier=0.5, max=_LONGEST_WAIT_S)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return max(back_off(state), getattr(error, "wait_s", None) or 0.0)

    retrying = Retrying(
        retry=retry_if_exception(_worth_another),
        stop=stop_after_attempt(retries + 1),
        wait=wait,
        sleep=sleep,
        reraise=True,
    )
    return retrying(call)


def _worth_another(error: BaseException) -> bool:
    asked_s = getattr(error, "wait_s", None) or 0.0
    return getattr(error, "retryable", False) is True and asked_s <= _LONGEST_ASKED_WAIT_S


def as_done(
    items: Iterable[Item], call: Callable[[Item], Answer], workers: int
) -> Iterator[tuple[int, Answer]]:
    """Index and answer of every item, as they come. In the calling thread for one worker.

    The threads are daemons: an interrupted job ends at once, not after the slowest call.

    >>> sorted(as_done([1, 2, 3], lambda n: n * n, workers=2))
    [(0, 1), (1, 4), (2, 9)]
    """
    if workers <= 1:
        for index, item in enumerate(items):
            yield index, call(item)
        return
    todo = list(enumerate(items))[::-1]
    done: SimpleQueue[tuple[int, Answer | None, BaseException | None]] = SimpleQueue()
    expected = len(todo)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            try:
                index, item = todo.pop()
            except IndexError:
                return
            try:
                done.put((index, call(item), None))
            except BaseException as error:  # noqa: BLE001 - handed to the waiting thread
                done.put((index, None, error))

    for number in range(min(workers, expected)):
        threading.Thread(target=work, name=f"call-{number}", daemon=True).start()
    try:
        for _ in range(expected):
            index, answer, error = done.get()
            if error is not None:
                raise error
            yield index, answer  # type: ignore[misc] # None only beside an error
    finally:
        stop.set()
