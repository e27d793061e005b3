"""From the outbox to the channels: retried, in order, and given up in the open.

A notice is put into the outbox together with the state of its alert, and taken out once its
channel has it. A crash in between sends it again: at least once, with the key of the notice for
those on the other side that can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Protocol
from zlib import crc32

from ragnostic.notify.channel import Channel
from ragnostic.ports import Clock, Delivery, Notice


@dataclass(frozen=True, slots=True)
class Parcel:
    """A notice on its way to one channel.

    ``id`` grows in the order in which parcels were put; ``tries`` counts sendings that failed;
    ``created`` and ``due`` are seconds since the epoch: nothing is sent before ``due``.
    """

    id: int
    channel: str
    notice: Notice
    tries: int
    created: float
    due: float


class Outbox(Protocol):
    """Where parcels wait; every call is durable when it returns."""

    def put(self, channel: str, notice: Notice, now: float) -> None:
        """Add a parcel that is due at once."""
        ...

    def waiting(self) -> Sequence[Parcel]:
        """All parcels that wait, due or not, by id."""
        ...

    def done(self, parcel: Parcel, now: float) -> None:
        """It was delivered."""
        ...

    def failed(self, parcel: Parcel, due: float, reason: str) -> None:
        """It was not: one try more, and nothing before ``due``."""
        ...

    def dead(self, parcel: Parcel, now: float, reason: str) -> None:
        """It is given up; it stays in the list of dead letters, with its reason."""
        ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a parcel is tried again, and when.

    The wait doubles from ``first_s`` to ``longest_s``, each up to a quarter shorter or longer, so
    that many do not come back at once. After ``tries`` failures or ``age_s`` it is given up.
    """

    first_s: float = 15.0
    longest_s: float = 1800.0
    tries: int = 20
    age_s: float = 86400.0

    def wait_s(self, parcel: Parcel, retry_after_s: float) -> float:
        """Seconds until the next try; never fewer than the other side asks for.

        The chance in it is drawn from the parcel, so that it is the same after a restart.
        """
        doubled = min(self.longest_s, self.first_s * 2.0 ** min(parcel.tries, 60))
        draw = crc32(f"{parcel.channel} {parcel.id} {parcel.tries}".encode()) / 2**32
        return max(doubled * (0.75 + 0.5 * draw), retry_after_s)


@dataclass(frozen=True, slots=True)
class Failure:
    """A sending that failed, or failed for some of its people; ``given_up`` says that nothing more
    of it is tried.
    """

    channel: str
    key: str
    reason: str
    given_up: bool


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of the parcels: their counts, and each failure with its reason."""

    sent: int = 0
    waiting: int = 0
    failures: tuple[Failure, ...] = field(default=())


def route(
    channels: Iterable[Channel], notices: Iterable[Notice]
) -> tuple[list[tuple[str, Notice]], list[Notice]]:
    """(channel name, notice) for every channel that takes a notice, and the notices of none."""
    routed: list[tuple[str, Notice]] = []
    unrouted: list[Notice] = []
    known = tuple(channels)
    for notice in notices:
        names = [channel.name for channel in known if channel.takes(notice)]
        routed += [(name, notice) for name in names]
        if not names:
            unrouted.append(notice)
    return routed, unrouted


def deliver(
    outbox: Outbox,
    channels: Iterable[Channel],
    clock: Clock,
    patience: Patience | None = None,
) -> Delivered:
    """Send what is due, once; what fails waits for a later call, or is given up.

    Channels are served side by side, so one that hangs holds up no other. Within a channel the
    most severe goes first; of one episode (the key of a notice) nothing overtakes what was put
    before it, so the end of an alert is never told before its beginning. The outbox is only
    touched from the calling thread.
    """
    courier = _Courier(outbox, {channel.name: channel for channel in channels}, clock, patience)
    return courier.run()


def refresh(channels: Iterable[Channel], firing: Iterable[Notice]) -> list[Failure]:
    """Tell the channels that forget what they are not told again, such as Alertmanager.

    To be called at each check with a notice of every alert that fires, told or not; the next
    check makes good what fails, so nothing of it is kept.
    """
    failures: list[Failure] = []
    known = tuple(firing)
    for channel in channels:
        again = getattr(channel.notifier, "refresh", None)
        taken = [notice for notice in known if channel.takes(notice)]
        if again is None or not taken:
            continue
        delivery: Delivery = again(taken)
        if not delivery.delivered:
            failures += [
                Failure(channel.name, notice.key, delivery.reason, given_up=False)
                for notice in taken
            ]
    return failures


def acknowledge(
    channels: Iterable[Channel], notice: Notice, keys: Mapping[str, str]
) -> list[Failure]:
    """Tell the channels that ask for it, such as PagerDuty, that somebody looks after an alert.

    ``keys``: by channel, the key of the message that told of the alert, where it told of several.
    """
    failures: list[Failure] = []
    for channel in channels:
        said = getattr(channel.notifier, "acknowledge", None)
        if said is None or not channel.takes(notice):
            continue
        key = keys.get(channel.name, notice.key)
        delivery: Delivery = said([replace(notice, key=key)])
        if not delivery.delivered:
            failures.append(Failure(channel.name, key, delivery.reason, given_up=True))
    return failures


class _Courier:
    """One run. ``queues`` hold, by channel, what is still to be sent; of channels ``alone`` one
    parcel is sent at a time.
    """

    def __init__(
        self,
        outbox: Outbox,
        channels: Mapping[str, Channel],
        clock: Clock,
        patience: Patience | None,
    ) -> None:
        self._outbox = outbox
        self._channels = channels
        self._clock = clock
        self._patience = patience or Patience()
        self._queues: dict[str, list[Parcel]] = {}
        self._alone: set[str] = set()
        self._running: dict[Future[Delivery], list[Parcel]] = {}
        self._sent = 0
        self._failures: list[Failure] = []

    def run(self) -> Delivered:
        self._fill()
        if self._queues:
            with ThreadPoolExecutor(len(self._queues), thread_name_prefix="channel") as pool:
                for name in self._queues:
                    self._start(name, pool)
                while self._running:
                    for future in wait(self._running, return_when=FIRST_COMPLETED).done:
                        batch = self._running.pop(future)
                        self._settle(batch, _outcome(future))
                        self._start(batch[0].channel, pool)
        return Delivered(self._sent, len(self._outbox.waiting()), tuple(self._failures))

    def _fill(self) -> None:
        """The queues: what is due and not behind an earlier parcel of its episode that is not."""
        now = self._clock.now()
        held: set[tuple[str, str]] = set()
        for parcel in self._outbox.waiting():
            episode = (parcel.channel, parcel.notice.key)
            if parcel.channel not in self._channels:
                self._give_up(parcel, f"there is no channel {parcel.channel!r} any more", now)
            elif parcel.due > now or episode in held:
                held.add(episode)
            else:
                self._queues.setdefault(parcel.channel, []).append(parcel)

    def _start(self, name: str, pool: ThreadPoolExecutor) -> None:
        """Hand the channel its next batch: of each episode the next parcel, P0 first."""
        queue = self._queues[name]
        heads = {parcel.notice.key: parcel for parcel in reversed(queue)}.values()
        batch = sorted(heads, key=lambda parcel: (parcel.notice.severity, parcel.id))
        if name in self._alone:
            batch = batch[:1]
        if batch:
            taken = {parcel.id for parcel in batch}
            self._queues[name] = [parcel for parcel in queue if parcel.id not in taken]
            notices = [parcel.notice for parcel in batch]
            self._running[pool.submit(self._channels[name].notifier.send, notices)] = batch

    def _settle(self, batch: list[Parcel], delivery: Delivery) -> None:
        """Write down how a batch went, before anything else is sent to its channel."""
        now, name = self._clock.now(), batch[0].channel
        if delivery.delivered:
            for parcel in batch:
                self._outbox.done(parcel, now)
                if delivery.reason:  # some of the people were refused by their server, say
                    self._failures.append(_failure(parcel, delivery.reason, given_up=True))
            self._sent += len(batch)
        elif delivery.retry_after_s is None and len(batch) > 1:
            # One of them may be what the other side cannot bear: from here each goes alone.
            self._alone.add(name)
            self._queues[name] = sorted([*batch, *self._queues[name]], key=lambda one: one.id)
        else:
            for parcel in batch:
                self._fail(parcel, delivery, now)
            if delivery.retry_after_s is not None:
                self._queues[name] = []  # the channel is out of order; the rest waits with it

    def _fail(self, parcel: Parcel, delivery: Delivery, now: float) -> None:
        patience = self._patience
        if delivery.retry_after_s is None:
            self._give_up(parcel, delivery.reason, now)
            return
        due = now + patience.wait_s(parcel, delivery.retry_after_s)
        if parcel.tries + 1 >= patience.tries:
            self._give_up(parcel, f"{delivery.reason} (try {parcel.tries + 1}, the last)", now)
        elif due - parcel.created > patience.age_s:
            hours = patience.age_s / 3600
            self._give_up(parcel, f"{delivery.reason} (given up after {hours:g} hours)", now)
        else:
            self._outbox.failed(parcel, due, delivery.reason)
            self._failures.append(_failure(parcel, delivery.reason, given_up=False))

    def _give_up(self, parcel: Parcel, reason: str, now: float) -> None:
        self._outbox.dead(parcel, now, reason)
        self._failures.append(_failure(parcel, reason, given_up=True))


def _failure(parcel: Parcel, reason: str, *, given_up: bool) -> Failure:
    return Failure(parcel.channel, parcel.notice.key, reason, given_up)


def _outcome(future: Future[Delivery]) -> Delivery:
    """What a channel returned; a channel that broke has failed, and its text may hold a secret."""
    error = future.exception()
    if error is None:
        return future.result()
    reason = f"the channel broke: {type(error).__name__}"
    return Delivery(delivered=False, reason=reason, retry_after_s=0.0)
