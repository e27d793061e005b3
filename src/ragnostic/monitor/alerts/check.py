"""One check: what has been measured since the last one, held against the rules, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ragnostic.errors import StoreError
from ragnostic.monitor.alerts.book import Book, BookChangedError, Changes, Contents, Event
from ragnostic.monitor.alerts.lanes import Lane
from ragnostic.monitor.alerts.notices import withdrawn
from ragnostic.monitor.alerts.post import Post, Routes
from ragnostic.monitor.alerts.readings import Windows
from ragnostic.monitor.alerts.rounds import Round
from ragnostic.monitor.alerts.rule_files import RuleBook
from ragnostic.monitor.alerts.states import AlertKey, Track
from ragnostic.monitor.alerts.worst_query import worst_query
from ragnostic.ports import Notice, RecordStore

LATENESS = timedelta(minutes=10)
"""How long after its end a window is looked at: rows of its last minutes are still on their way."""
ACTION = "action:"
"""Before the name of an action, where channels and actions stand side by side."""
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found. ``tracks``: all alerts as they are now. ``messages``: what was put into
    the outbox, (channel, notice); ``unrouted``: notices that no channel takes. ``evaluated``
    counts the windows that were looked at for the first time, but for those that a new alert only
    learned from; ``reopened`` the alerts some of whose windows late rows changed.
    """

    now: datetime
    tracks: Mapping[AlertKey, Track]
    events: tuple[Event, ...]
    messages: tuple[tuple[str, Notice], ...]
    orders: tuple[tuple[str, Notice], ...]
    unrouted: tuple[Notice, ...]
    evaluated: int
    reopened: int

    @property
    def told(self) -> list[Notice]:
        """The beginnings of the alerts that fire and that people were told of."""
        tracks = (track for track in self.tracks.values() if track.state.status == "firing")
        return [track.notice for track in tracks if track.notice is not None]

    @property
    def firing(self) -> int:
        """How many alerts fire, silenced and acknowledged ones too."""
        return sum(track.state.status == "firing" for track in self.tracks.values())


def nobody(notice: Notice) -> Iterable[str]:  # noqa: ARG001 - the signature of Routes
    """The :data:`Routes` without channels."""
    return ()


def check_alerts(
    store: RecordStore,
    book: Book,
    rules: RuleBook,
    now: datetime,
    *,
    zone: str,
    routes: Routes = nobody,
    alone: Collection[str] = (),
    lateness: timedelta = LATENESS,
    posted: datetime | None = None,
) -> Checked:
    """Look at every window that has closed since the last check, and write down what is found.

    ``store``: its roll-ups, which are up to date; the worst queries come from its scores and
    records. ``alone``: channels that are told of each alert by itself. ``posted``: when the
    messages are put into the outbox, where that is not ``now`` (in a replay of the past). States,
    history and messages are one transaction of the book. Doing it again with nothing new changes
    nothing and tells nothing. Raises StoreError where other processes keep writing into the book.
    """
    windows = Windows(store, zone, now - lateness)
    for _ in range(_ATTEMPTS):
        contents = book.read()
        checked, changes = _checked(
            windows, contents, rules, now, Post(routes, contents.members, alone)
        )
        try:
            book.commit(contents.revision, changes, now, posted=posted)
        except BookChangedError:
            continue
        return checked
    raise StoreError(
        f"{book.file.path} is written to by others all the time", hint="try again", retryable=True
    )


def _checked(
    windows: Windows,
    contents: Contents,
    rules: RuleBook,
    now: datetime,
    mail: Post,
) -> tuple[Checked, Changes]:
    work = Post(_actions(rules, contents), contents.members)

    def speak(notices: Sequence[Notice], _: datetime) -> None:
        linked = [rules.links.linked(notice) for notice in notices]
        mail.tell(linked)
        work.tell(linked)

    gone, events = _withdraw(contents, rules, now, speak)
    whole = Round(_lanes(windows, contents, rules), contents.silences, speak)
    whole.finish_ends(now)
    whole.look_again(now)
    whole.go_on(lambda _: now)
    tracks = whole.finish(now)
    gone += [key for key, lane in whole.lanes.items() if _is_forgotten(lane)]
    for key in gone:
        tracks.pop(key, None)
    query = _queries(windows.store, whole.lanes, mail)
    changes = Changes(
        {key: track for key, track in tracks.items() if contents.tracks.get(key) != track},
        gone,
        (*events, *whole.events),
        [(name, query(notice)) for name, notice in mail.parcels],
        [(name.removeprefix(ACTION), notice) for name, notice in work.parcels],
        (*mail.joined, *work.joined),
        (*mail.left, *work.left),
    )
    return (
        Checked(
            now,
            tracks,
            tuple(changes.events),
            tuple(changes.parcels),
            tuple(changes.orders),
            tuple(mail.unrouted),
            whole.evaluated,
            whole.reopened,
        ),
        changes,
    )


def _actions(rules: RuleBook, contents: Contents) -> Routes:
    """The actions that are set up, of the rule of a notice; none for reminders.

    An end goes to those of the beginning too, whatever became of the rule since: what was switched
    on is switched off.
    """
    known = {action.name for action in rules.actions}
    wanted = {rule.id: [name for name in rule.actions if name in known] for rule in rules.enabled}
    begun: dict[str, list[str]] = {}
    for action, key in contents.ordered:
        begun.setdefault(key, []).append(f"{ACTION}{action}")
    for (name, episode), key in contents.members.items():
        if name in begun.get(key, ()):
            begun.setdefault(episode, []).append(name)

    def routes(notice: Notice) -> Iterable[str]:
        if notice.kind == "repeat":
            return ()
        names = [f"{ACTION}{name}" for name in wanted.get(notice.rule, ())]
        if notice.kind != "firing":
            names += begun.get(notice.key, ())
        return dict.fromkeys(names)

    return routes


def _withdraw(
    contents: Contents,
    rules: RuleBook,
    now: datetime,
    speak: Callable[[Sequence[Notice], datetime], None],
) -> tuple[list[AlertKey], list[Event]]:
    """Alerts whose rule is gone or switched off: forgotten, once people have heard of the end."""
    enabled = {rule.id for rule in rules.enabled}
    gone = [key for key in contents.tracks if key.rule not in enabled]
    events, notices = [], []
    for key in gone:
        track = contents.tracks[key]
        if track.state.status == "firing":
            events.append(Event(now, "withdrawn", key.rule, key.id, {"slice": key.labels}))
        if track.state.told.is_open and track.notice is not None:
            notices.append(withdrawn(track.notice, now))
    if notices:
        speak(notices, now)
    return gone, events


def _lanes(windows: Windows, contents: Contents, rules: RuleBook) -> dict[AlertKey, Lane]:
    by_rule: dict[str, dict[AlertKey, Track]] = {}
    for key, track in contents.tracks.items():
        by_rule.setdefault(key.rule, {})[key] = track

    def numbered(lane: Lane) -> Lane:
        """One that was forgotten and comes back goes on counting."""
        episode = contents.episodes.get(f"{lane.key.rule}:{lane.key.id}", 0)
        if lane.key in contents.tracks or not episode:
            return lane
        return lane.with_state(replace(lane.state, episode=episode))

    return {
        lane.key: lane
        for rule in rules.enabled
        for lane in map(numbered, windows.lanes(rule, by_rule.get(rule.id, {})))
    }


def _is_forgotten(lane: Lane) -> bool:
    """An alert on a slice value that has not come for days, and about which nothing is open."""
    state = lane.state
    if state.status in {"pending", "firing"} or state.told.is_open:
        return False
    return not any(window.n for window in lane.windows)


def _queries(
    store: RecordStore, lanes: Mapping[AlertKey, Lane], post: Post
) -> Callable[[Notice], Notice]:
    """Gives a notice of trouble its worst query: that of the slice in front."""
    by_key = {f"{key.rule}:{key.id}": lane for key, lane in lanes.items()}
    known: dict[str, str] = {}

    def with_query(notice: Notice) -> Notice:
        if notice.kind not in {"firing", "repeat"}:
            return notice
        lane = by_key[post.worst[notice.key].rpartition(":")[0]]
        if notice.key not in known:
            known[notice.key] = worst_query(
                store,
                notice.metric,
                *notice.window,
                stage=lane.key.stage,
                judge=lane.key.judge,
                labels=lane.key.labels,
            )
        return replace(notice, worst_query=known[notice.key])

    return with_query
