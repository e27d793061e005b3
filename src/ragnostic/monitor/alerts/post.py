"""From what is to be told to the messages of each channel, while a check goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ragnostic.monitor.alerts.grouping import Bundle, bundles
from ragnostic.ports import Notice

Routes = Callable[[Notice], Iterable[str]]
"""The names of the channels that take a notice."""

_ENDS = frozenset({"resolved", "rebaselined"})


class Post:
    """Collects the messages of one check, in the order in which they are to go out.

    ``members`` is what the book holds: (channel, key of an episode) → key of the message that
    told of it together with others. Channels of ``alone`` get a message for each episode.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 3, 1, tzinfo=UTC)
    >>> def one(key, kind):
    ...     return Notice(
    ...         key, kind, "P1", "r", "RR@5", 0.5, 0.7, "limit", 300, day, (day, day), "UTC"
    ...     )
    >>> post = Post(lambda notice: ["ops"], {})
    >>> post.tell([one("a", "firing"), one("b", "firing")])
    >>> post.tell([one("a", "resolved")])
    >>> post.tell([one("b", "resolved")])
    >>> [notice.kind for _, notice in post.parcels], len(post.joined), len(post.left)
    (['firing', 'resolved'], 2, 2)
    """

    def __init__(
        self,
        routes: Routes,
        members: Mapping[tuple[str, str], str],
        alone: Collection[str] = (),
    ) -> None:
        self._routes = routes
        self._alone = frozenset(alone)
        self._members = dict(members)
        self._open = Counter((channel, key) for (channel, _), key in members.items())
        self.parcels: list[tuple[str, Notice]] = []
        self.joined: list[tuple[str, str, str]] = []
        self.left: list[tuple[str, str]] = []
        self.unrouted: list[Notice] = []
        self.worst: dict[str, str] = {}
        """Key of a message → key of the episode that stands in front in it."""

    def tell(self, notices: Sequence[Notice]) -> None:
        """Notices of one moment."""
        by_channel: dict[str, list[Notice]] = {}
        for notice in notices:
            names = list(self._routes(notice))
            for name in names:
                by_channel.setdefault(name, []).append(notice)
            if not names:
                self.unrouted.append(notice)
        for channel, chosen in by_channel.items():
            self._ended(channel, [one for one in chosen if one.kind in _ENDS])
            self._begun(channel, [one for one in chosen if one.kind == "firing"])
            self._reminded(channel, [one for one in chosen if one.kind == "repeat"])

    def _begun(self, channel: str, notices: Sequence[Notice]) -> None:
        for bundle in self._bundles(channel, notices):
            self._put(channel, bundle.notice, bundle.worst)
            if len(bundle.members) > 1:
                for member in bundle.members:
                    self._members[channel, member] = bundle.notice.key
                    self._open[channel, bundle.notice.key] += 1
                    self.joined.append((channel, member, bundle.notice.key))

    def _reminded(self, channel: str, notices: Sequence[Notice]) -> None:
        """A reminder goes out under the key under which people know the episode."""
        together: dict[str, list[Notice]] = {}
        for notice in notices:
            known = self._members.get((channel, notice.key), notice.key)
            together.setdefault(known, []).append(notice)
        for key, group in together.items():
            for bundle in self._bundles(channel, group):
                self._put(channel, replace(bundle.notice, key=key), bundle.worst)

    def _ended(self, channel: str, notices: Sequence[Notice]) -> None:
        """The end of one that was told alone; of a group, once its last member is over."""
        for notice in notices:
            message = self._members.pop((channel, notice.key), None)
            if message is None:
                self._put(channel, notice, notice.key)
                continue
            self.left.append((channel, notice.key))
            self._open[channel, message] -= 1
            if not self._open[channel, message]:
                self._put(channel, replace(notice, key=message), notice.key)

    def _bundles(self, channel: str, notices: Sequence[Notice]) -> list[Bundle]:
        if channel in self._alone:
            return [Bundle(notice, (notice.key,), notice.key) for notice in notices]
        return bundles(notices)

    def _put(self, channel: str, notice: Notice, worst: str) -> None:
        self.parcels.append((channel, notice))
        self.worst[notice.key] = worst
