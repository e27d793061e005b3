"""Many calls to a service that may fail: workers, retries, and when to give up."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

from ragnostic.errors import RagnosticError, RetrievalError
from ragnostic.ports import Progress, no_progress

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_LONGEST_WAIT_S = 20.0
_LONGEST_ASKED_WAIT_S = 120.0
_SHOWN_REASONS = 3


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Answer]):
    """What one call gave: an answer and the milliseconds it took, or the error."""

    answer: Answer | None = None
    error: str | None = None
    took_ms: float | None = None


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How calls are made.

    ``allowed`` failures are borne; one more ends the job with a RetrievalError. ``sleep`` waits
    between attempts.
    """

    workers: int = 1
    retries: int = 3
    allowed: float = math.inf
    sleep: Callable[[float], None] = time.sleep


def call_each(
    items: Sequence[Item],
    call: Callable[[Item], Answer],
    policy: CallPolicy,
    *,
    label: str,
    progress: Progress = no_progress,
) -> list[Outcome[Answer]]:
    """The outcome of ``call`` for every item, in the order of the items.

    A RetrievalError, or an exception that the implementation did not foresee, becomes a failed
    outcome; any other RagnosticError ends the job. Raises RetrievalError with the commonest
    reasons when more than ``policy.allowed`` calls fail.

    >>> [o.answer for o in call_each([1, 2], lambda n: n * n, CallPolicy(workers=2), label="x")]
    [1, 4]
    """

    def attempt(item: Item) -> Outcome[Answer]:
        return _attempt(lambda: call(item), policy)

    outcomes: dict[int, Outcome[Answer]] = {}
    reasons: list[str] = []
    progress(label, 0, len(items))
    for index, outcome in as_done(items, attempt, policy.workers):
        outcomes[index] = outcome
        if outcome.error is not None:
            reasons.append(outcome.error)
            if len(reasons) > policy.allowed:
                raise _too_many(reasons, label, len(outcomes), len(items))
        progress(label, len(outcomes), len(items))
    return [outcomes[index] for index in range(len(items))]


def retried(call: Callable[[], Answer], policy: CallPolicy) -> Answer:
    """``call()``, again where it fails with a retryable RetrievalError: with exponential back-off
    and jitter, ``policy.retries`` times; not before the service wants it, and not at all where
    that is more than two minutes off.
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
        stop=stop_after_attempt(policy.retries + 1),
        wait=wait,
        sleep=policy.sleep,
        reraise=True,
    )
    return retrying(call)


def _worth_another(error: BaseException) -> bool:
    asked_s = getattr(error, "wait_s", None) or 0.0
    return getattr(error, "retryable", False) is True and asked_s <= _LONGEST_ASKED_WAIT_S


def _attempt(call: Callable[[], Answer], policy: CallPolicy) -> Outcome[Answer]:
    took_ms = 0.0

    def timed() -> Answer:
        nonlocal took_ms
        start = time.perf_counter()
        answer = call()
        took_ms = (time.perf_counter() - start) * 1000
        return answer

    try:
        return Outcome(answer=retried(timed, policy), took_ms=took_ms)
    except RetrievalError as error:
        return Outcome(error=error.message)
    except RagnosticError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an implementation's bug fails a query
        return Outcome(error=f"{type(error).__name__}: {error}")


def as_done(
    items: Iterable[Item], call: Callable[[Item], Answer], workers: int
) -> Iterator[tuple[int, Answer]]:
    """Index and answer of every item, as they come. In the calling thread for one worker.

    The threads are daemons: an interrupted job ends at once, not after the slowest call.
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
            yield index, answer  # type: ignore[misc]
    finally:
        stop.set()


def _too_many(reasons: list[str], label: str, tried: int, total: int) -> RetrievalError:
    if tried == 1:
        failed = "the only query failed" if total == 1 else f"the first of {total} queries failed"
    else:
        failed = f"{len(reasons)} of the first {tried} queries failed ({total} in all)"
    lines = [f"{label}: {failed}"]
    lines += [
        f"    {count} × {reason}" for reason, count in Counter(reasons).most_common(_SHOWN_REASONS)
    ]
    return RetrievalError(
        "\n".join(lines), hint="mend the cause, or raise run.max_failed; nothing was written"
    )
