"""Many calls, some of which fail."""

from __future__ import annotations

import threading

import pytest

from ragnostic.errors import DataError, RetrievalError
from ragnostic.offline.calls import CallPolicy, call_each


class _Flaky:
    """Fails as often as told, then answers."""

    def __init__(self, failures: int, *, retryable: bool = True) -> None:
        self.left = failures
        self.calls = 0
        self._retryable = retryable

    def __call__(self, item: int) -> int:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise RetrievalError("busy", retryable=self._retryable)
        return item * 10


def _policy(**changes) -> tuple[CallPolicy, list[float]]:
    waits: list[float] = []
    return CallPolicy(**{"retries": 2, "sleep": waits.append, **changes}), waits


@pytest.mark.parametrize("workers", [1, 4])
def test_outcomes_come_in_the_order_of_the_items(workers):
    """However the calls finish."""
    first_may_end = threading.Event()

    def call(item: int) -> int:
        if item == 0 and workers > 1:
            assert first_may_end.wait(5)
        elif item == 3:
            first_may_end.set()
        return item * 10

    outcomes = call_each(range(6), call, CallPolicy(workers=workers), label="x")
    assert [outcome.answer for outcome in outcomes] == [0, 10, 20, 30, 40, 50]
    assert all(outcome.took_ms >= 0 for outcome in outcomes)


def test_a_retryable_failure_is_tried_again_after_a_wait():
    """Waits are jittered and bounded."""
    policy, waits = _policy()
    call = _Flaky(2)
    assert call_each([7], call, policy, label="x")[0].answer == 70
    assert call.calls == 3
    assert len(waits) == 2
    assert all(0 <= wait <= 20 for wait in waits)


def test_what_keeps_failing_is_a_failed_outcome():
    """With its reason, never an empty answer."""
    policy, _ = _policy()
    outcome = call_each([7], _Flaky(99), policy, label="x")[0]
    assert (outcome.answer, outcome.error) == (None, "busy")


def test_a_failure_that_cannot_pass_is_not_tried_again():
    """A 404 stays a 404."""
    policy, waits = _policy()
    call = _Flaky(1, retryable=False)
    assert call_each([7], call, policy, label="x")[0].error == "busy"
    assert (call.calls, waits) == (1, [])


def test_an_unforeseen_exception_is_a_failed_outcome_with_its_type():
    """A bug in an implementation does not end the job of the other queries."""
    outcomes = call_each([0, 1], lambda item: 1 // item, CallPolicy(), label="x")
    assert outcomes[0].error == "ZeroDivisionError: integer division or modulo by zero"
    assert outcomes[1].answer == 1


@pytest.mark.parametrize("workers", [1, 3])
def test_more_failures_than_allowed_end_the_job_with_the_commonest_reasons(workers):
    """Exit 4; the message counts and names three reasons, most frequent first."""

    def call(item: int) -> int:
        raise RetrievalError(["one", "two", "two", "three", "three", "three", "four"][item])

    with pytest.raises(RetrievalError) as caught:
        call_each(range(7), call, CallPolicy(workers, allowed=6), label="retrieve")
    lines = caught.value.message.splitlines()
    assert lines[0] == "retrieve: 7 of the first 7 queries failed (7 in all)"
    assert lines[1:3] == ["    3 × three", "    2 × two"]
    assert len(lines) == 4
    assert caught.value.exit_code == 4


def test_as_many_failures_as_allowed_are_borne():
    """The share is exceeded, not reached."""
    outcomes = call_each([0, 1], lambda item: 1 // item, CallPolicy(allowed=1), label="x")
    assert [outcome.answer for outcome in outcomes] == [None, 1]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_fault_of_the_data_ends_the_job(workers):
    """It is not the fault of one call."""

    def call(item: int) -> int:
        raise DataError(f"bad {item}")

    with pytest.raises(DataError, match="bad"):
        call_each([1, 2, 3], call, CallPolicy(workers), label="x")


def test_progress_is_told_from_none_to_all():
    """Once before the first call, and after each."""
    told: list[tuple[str, int, int]] = []
    call_each([1, 2], abs, CallPolicy(), label="x", progress=lambda *step: told.append(step))
    assert told == [("x", 0, 2), ("x", 1, 2), ("x", 2, 2)]


def test_no_items_are_no_outcomes():
    """An empty job does nothing."""
    assert call_each([], abs, CallPolicy(workers=4), label="x") == []


def test_an_exit_of_user_code_is_a_failed_outcome():
    """Nothing but the person may end the program."""

    def call(item: int) -> int:
        raise SystemExit(3)

    assert call_each([0], call, CallPolicy(), label="x")[0].error == "SystemExit: 3"


@pytest.mark.parametrize(
    ("items", "message"),
    [(1, "x: the only query failed"), (3, "x: the first of 3 queries failed")],
)
def test_a_first_failure_is_told_in_plain_words(items, message):
    """Not "1 of the first 1 query"."""
    with pytest.raises(RetrievalError) as caught:
        call_each(range(items), lambda item: 1 // 0, CallPolicy(allowed=0), label="x")
    assert caught.value.message.splitlines()[0] == message


def test_a_service_that_names_a_time_is_not_asked_before_it():
    """The longer of that and the back-off; more than two minutes is not waited for."""
    policy, waits = _policy()
    errors = [RetrievalError("busy", retryable=True, wait_s=wait) for wait in (30.0, 121.0)]

    def call(item: int) -> int:
        raise errors.pop(0)

    (outcome,) = call_each([1], call, policy, label="x")
    assert outcome.error == "busy"
    assert waits == [30.0]
