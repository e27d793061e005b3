"""Many calls to a service that may fail: workers, retries, and when to give up."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ragnostic.adapters.calls import as_done
from ragnostic.adapters.calls import retried as again
from ragnostic.errors import RagnosticError, RetrievalError
from ragnostic.ports import Progress, no_progress

Item = TypeVar("Item")
Answer = TypeVar("Answer")

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
    return again(call, policy.retries, policy.sleep)


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
