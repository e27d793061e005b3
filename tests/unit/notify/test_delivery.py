"""The way out: retries, order, and what is given up, by a clock that nobody waits for."""

from __future__ import annotations

import runpy
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.notify.channel import Channel, ChannelSettings
from ragnostic.notify.delivery import (
    Failure,
    Parcel,
    Patience,
    acknowledge,
    deliver,
    refresh,
    route,
)
from ragnostic.ports import Delivery

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
notice, SteppedClock, MemoryOutbox = (
    LOOPBACK[name] for name in ("notice", "SteppedClock", "MemoryOutbox")
)
SENT = Delivery(delivered=True)


def failed(retry_after_s: float | None = 0.0) -> Delivery:
    """A failure."""
    return Delivery(delivered=False, reason="the other side is ill", retry_after_s=retry_after_s)


class Told:
    """A channel that answers as it is told, then with success; keeps what it was sent."""

    def __init__(self, *answers):
        self.name = ""
        self.answers = list(answers)
        self.batches = []

    def send(self, notices):
        """The next answer; one that can be called is."""
        self.batches.append([f"{one.severity} {one.key} {one.kind}" for one in notices])
        answer = self.answers.pop(0) if self.answers else SENT
        return answer(notices) if callable(answer) else answer


def channel(name, notifier, **settings):
    """A channel of this name."""
    chosen = ChannelSettings.model_validate({"name": name, "use": "told", **settings})
    return Channel(chosen, notifier)


@pytest.fixture
def box():
    """An empty outbox."""
    return MemoryOutbox()


@pytest.fixture
def clock():
    """A clock."""
    return SteppedClock()


def put(box, clock, *notices, to="ops"):
    """Into the outbox."""
    for one in notices:
        box.put(to, one, clock.now())


def test_a_notice_goes_to_every_channel_that_takes_it():
    """And one of nobody is told apart."""
    channels = [
        channel("all", Told()),
        channel("p0", Told(), severities=["P0"]),
        channel("mrr", Told(), rules="mrr-*"),
    ]
    urgent, other = notice(severity="P0"), notice(rule="qer")
    assert route(channels, [urgent, other]) == (
        [("all", urgent), ("p0", urgent), ("mrr", urgent), ("all", other)],
        [],
    )
    assert route(channels[1:2], [other]) == ([], [other])


def test_nothing_to_send_is_nothing(box, clock):
    """Nobody is bothered."""
    told = Told()
    assert deliver(box, [channel("ops", told)], clock) == (deliver(box, [], clock))
    assert told.batches == []


def test_what_is_due_goes_out_together_and_the_worst_first(box, clock):
    """One sending for several alerts."""
    told = Told()
    put(
        box,
        clock,
        notice(key="a", severity="P2"),
        notice(key="b", severity="P0"),
        notice(key="c", severity="P1"),
        notice(key="d", severity="P0"),
    )
    done = deliver(box, [channel("ops", told)], clock)
    assert told.batches == [["P0 b firing", "P0 d firing", "P1 c firing", "P2 a firing"]]
    assert (done.sent, done.waiting, done.failures) == (4, 0, ())


def test_an_end_never_goes_with_or_before_its_beginning(box, clock):
    """One sending after the other."""
    told = Told()
    put(
        box,
        clock,
        notice(key="a", severity="P2"),
        notice(key="a", severity="P0", kind="repeat"),
        notice(key="b", severity="P1"),
        notice(key="a", severity="P0", kind="resolved"),
    )
    assert deliver(box, [channel("ops", told)], clock).sent == 4
    assert told.batches == [["P1 b firing", "P2 a firing"], ["P0 a repeat"], ["P0 a resolved"]]


def test_an_end_waits_for_a_beginning_that_failed(box, clock):
    """Also over runs, though it is due itself."""
    told = Told(failed())
    put(box, clock, notice(key="a"))
    first = deliver(box, [channel("ops", told)], clock)
    assert first.failures == (Failure("ops", "a", "the other side is ill", given_up=False),)
    put(box, clock, notice(key="a", kind="resolved"), notice(key="b"))
    assert deliver(box, [channel("ops", told)], clock).waiting == 2
    clock.sleep(3600)
    assert deliver(box, [channel("ops", told)], clock).sent == 2
    assert [line for batch in told.batches for line in batch] == [
        "P1 a firing",
        "P1 b firing",
        "P1 a firing",
        "P1 a resolved",
    ]


def test_a_channel_out_of_order_is_asked_once_a_run(box, clock):
    """The rest of its parcels wait with the first ones."""
    told = Told(failed())
    put(box, clock, notice(key="a"), notice(key="a", kind="resolved"))
    assert deliver(box, [channel("ops", told)], clock).waiting == 2
    assert len(told.batches) == 1
    assert [parcel.tries for parcel in box.waiting()] == [1, 0]


def test_the_wait_doubles_and_is_never_the_same_for_all(box, clock):
    """Up to its longest."""
    told = Told(*[failed()] * 12)
    put(box, clock, notice())
    waits = []
    for _ in range(12):
        deliver(box, [channel("ops", told)], clock)
        waits.append(box.waiting()[0].due - clock.now())
        clock.time = box.waiting()[0].due
    for turn, wait in enumerate(waits):
        doubled = min(1800, 15 * 2**turn)
        assert 0.75 * doubled <= wait <= 1.25 * doubled
    assert len({wait / min(1800, 15 * 2**turn) for turn, wait in enumerate(waits)}) == 12


def test_the_other_side_may_ask_for_more_time(box, clock):
    """Retry-After."""
    told = Told(failed(600.0))
    put(box, clock, notice())
    deliver(box, [channel("ops", told)], clock)
    assert box.waiting()[0].due == clock.now() + 600
    clock.sleep(599)
    assert deliver(box, [channel("ops", told)], clock).sent == 0
    clock.sleep(1)
    assert deliver(box, [channel("ops", told)], clock).sent == 1


def test_a_parcel_is_given_up_after_its_last_try(box, clock):
    """With the reason."""
    told = Told(*[failed()] * 3)
    put(box, clock, notice())
    for _ in range(3):
        done = deliver(box, [channel("ops", told)], clock, Patience(tries=3))
        clock.sleep(3600)
    reason = "the other side is ill (try 3, the last)"
    assert done.failures == (Failure("ops", notice().key, reason, given_up=True),)
    assert [why for _, why in box.given_up] == [reason]
    assert done.waiting == 0


def test_a_parcel_is_given_up_when_it_is_too_old(box, clock):
    """Also where the other side asks for more than that."""
    put(box, clock, notice())
    deliver(box, [channel("ops", Told(failed(90_000.0)))], clock)
    assert [why for _, why in box.given_up] == ["the other side is ill (given up after 24 hours)"]


def test_what_can_never_be_delivered_is_given_up_at_once(box, clock):
    """Without another try."""
    put(box, clock, notice())
    deliver(box, [channel("ops", Told(failed(None)))], clock)
    assert [why for _, why in box.given_up] == ["the other side is ill"]


def test_one_that_cannot_be_borne_does_not_take_the_others_with_it(box, clock):
    """Each is tried alone, still in order."""

    def picky(notices):
        return failed(None) if any(one.key == "bad" for one in notices) else SENT

    told = Told(*[picky] * 9)
    put(
        box,
        clock,
        notice(key="a"),
        notice(key="bad", severity="P0"),
        notice(key="a", kind="resolved"),
        notice(key="c"),
    )
    done = deliver(box, [channel("ops", told)], clock)
    assert (done.sent, done.waiting) == (3, 0)
    assert [one.notice.key for one, _ in box.given_up] == ["bad"]
    assert told.batches[1:] == [
        ["P0 bad firing"],
        ["P1 a firing"],
        ["P1 a resolved"],
        ["P1 c firing"],
    ]


def test_a_channel_that_hangs_holds_up_no_other(box, clock):
    """It is let go only when the other one is done."""
    other_is_done = threading.Event()

    def hangs(_):
        assert other_is_done.wait(30)
        return failed()

    def quick(_):
        other_is_done.set()
        return SENT

    put(box, clock, notice(), to="dead")
    put(box, clock, notice(), to="alive")
    channels = [channel("dead", Told(hangs)), channel("alive", Told(quick))]
    assert deliver(box, channels, clock).sent == 1


def test_a_channel_that_breaks_is_a_failure_without_its_words(box, clock):
    """They may hold a secret."""

    def breaks(_):
        raise RuntimeError("s3cret")

    put(box, clock, notice())
    done = deliver(box, [channel("ops", Told(breaks))], clock)
    assert [one.reason for one in done.failures] == ["the channel broke: RuntimeError"]


def test_a_channel_that_is_gone_leaves_dead_letters(box, clock):
    """Nothing waits for ever."""
    put(box, clock, notice(), to="gone")
    done = deliver(box, [channel("ops", Told())], clock)
    assert [one.reason for one in done.failures] == ["there is no channel 'gone' any more"]
    assert (done.waiting, len(box.given_up)) == (0, 1)


def test_a_delivery_with_a_remark_is_told_and_not_repeated(box, clock):
    """Some of the people were refused."""
    remark = Delivery(delivered=True, reason="refused for a@example.com")
    put(box, clock, notice(key="a"))
    done = deliver(box, [channel("mail", Told(remark)), channel("ops", Told(remark))], clock)
    assert done.sent == 1
    assert done.failures == (Failure("ops", "a", "refused for a@example.com", given_up=True),)


def test_channels_that_forget_are_told_again():
    """The others are not, and nothing is sent where nothing fires."""

    class Forgetful(Told):
        def refresh(self, firing):
            return self.send(firing)

    forgetful, broken, plain = Forgetful(), Forgetful(failed()), Told()
    channels = [
        channel("am", forgetful, severities=["P0"]),
        channel("broken", broken),
        channel("ops", plain),
    ]
    failures = refresh(channels, [notice(key="a", severity="P0"), notice(key="b")])
    assert forgetful.batches == [["P0 a firing"]]
    assert [(one.channel, one.key) for one in failures] == [("broken", "a"), ("broken", "b")]
    assert plain.batches == []
    assert refresh(channels, []) == []


def test_channels_that_ask_for_it_hear_who_looks_after_an_alert():
    """Under the key of the message that told of it; what fails is said."""

    class Phone(Told):
        def acknowledge(self, notices):
            return self.send(notices)

    phone, deaf, broken = Phone(), Told(), Phone(failed())
    channels = [
        channel("phone", phone, severities=["P0"]),
        channel("ops", deaf),
        channel("broken", broken),
    ]
    urgent = notice(key="a", severity="P0")
    failures = acknowledge(channels, urgent, {"phone": "group"})
    assert phone.batches == [["P0 group firing"]]
    assert deaf.batches == []
    assert [(one.channel, one.key) for one in failures] == [("broken", "a")]
    assert acknowledge(channels[:2], notice(key="b", severity="P1"), {}) == []


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("P0", "P1", "P2"))), max_size=12),
    st.lists(st.sampled_from((None, 0.0, 120.0, -1.0)), max_size=30),
)
def test_whatever_fails_each_notice_ends_once_and_in_its_order(keys, answers):
    """Delivered or given up; of one episode never a later one before an earlier one."""
    box, clock = MemoryOutbox(), SteppedClock()
    told = Told(*[SENT if wait == -1.0 else failed(wait) for wait in answers])
    for number, (key, severity) in enumerate(keys):
        put(box, clock, notice(key=key, severity=severity, n=number))
    for _ in range(200):
        if not deliver(box, [channel("ops", told)], clock).waiting:
            break
        clock.sleep(1900)
    ended = [*box.sent, *(parcel for parcel, _ in box.given_up)]
    assert sorted(one.notice.n for one in ended) == list(range(len(keys)))
    for key in "abc":
        sent = [one.notice.n for one in box.sent if one.notice.key == key]
        assert sent == sorted(sent)


def test_the_chance_in_a_wait_is_the_parcel_s_own():
    """The same after a restart."""
    parcel = Parcel(7, "ops", notice(), 3, 0.0, 0.0)
    assert Patience().wait_s(parcel, 0.0) == Patience().wait_s(parcel, 0.0)
    assert Patience().wait_s(Parcel(7, "ops", notice(), 10**6, 0.0, 0.0), 0.0) <= 1800 * 1.25
