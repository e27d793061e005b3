"""The outbox in the book: messages that wait, those that were given up, and orders to actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ragnostic.monitor.alerts.book import NOTICES, Book, notice_json, put_parcel
from ragnostic.monitor.alerts.book_tables import END_UNFINISHED
from ragnostic.notify.delivery import Parcel
from ragnostic.ports import Notice


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was given up. ``notice`` has lost the query it told of."""

    id: int
    channel: str
    notice: Notice
    tries: int
    created: datetime
    finished: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Order:
    """An action that a rule asks for. ``status``: ``waiting``, ``begun``, or how it went.
    ``notice`` says of what alert, and by its kind whether it fires or is over.
    """

    id: int
    action: str
    notice: Notice
    status: str
    created: datetime
    finished: datetime | None
    detail: str


class BookOutbox:
    """The :class:`~ragnostic.notify.delivery.Outbox` in a book.

    What a user asked stands in a parcel only as long as it waits.
    """

    def __init__(self, book: Book) -> None:
        self._file = book.file

    def put(self, channel: str, notice: Notice, now: float) -> None:
        """Add a parcel that is due at once."""
        with self._file.writing() as connection:
            put_parcel(connection, channel, notice, now)

    def waiting(self) -> Sequence[Parcel]:
        """All parcels that wait, due or not, by id."""
        with self._file.reading() as connection:
            rows = connection.execute(
                "SELECT id, channel, notice, tries, created, due FROM parcels"
                " WHERE status = 'waiting' ORDER BY id"
            ).fetchall()
        return [
            Parcel(number, channel, NOTICES.validate_json(notice), *rest)
            for number, channel, notice, *rest in rows
        ]

    def done(self, parcel: Parcel, now: float) -> None:
        """It was delivered."""
        self._finish(parcel, "delivered", now, "")

    def failed(self, parcel: Parcel, due: float, reason: str) -> None:
        """It was not: one try more, and nothing before ``due``."""
        with self._file.writing() as connection:
            connection.execute(
                "UPDATE parcels SET tries = tries + 1, due = ?, reason = ? WHERE id = ?",
                (due, reason, parcel.id),
            )

    def dead(self, parcel: Parcel, now: float, reason: str) -> None:
        """It is given up; it stays in the list of dead letters, with its reason."""
        self._finish(parcel, "dead", now, reason)

    def dead_letters(self) -> list[DeadLetter]:
        """What was given up, oldest first."""
        with self._file.reading() as connection:
            rows = connection.execute(
                "SELECT id, channel, notice, tries, created, finished, reason FROM parcels"
                " WHERE status = 'dead' ORDER BY id"
            ).fetchall()
        return [
            DeadLetter(
                number,
                channel,
                NOTICES.validate_json(notice),
                tries,
                _time(created),
                _time(finished),
                reason,
            )
            for number, channel, notice, tries, created, finished, reason in rows
        ]

    def _finish(self, parcel: Parcel, status: str, now: float, reason: str) -> None:
        notice = notice_json(replace(parcel.notice, worst_query=""))
        with self._file.writing() as connection:
            connection.execute(
                "UPDATE parcels SET status = ?, finished = ?, reason = ?, notice = ? WHERE id = ?",
                (status, now, reason, notice, parcel.id),
            )


class Orders:
    """Orders to actions, put into the book together with the state that asks for them."""

    def __init__(self, book: Book) -> None:
        self._file = book.file

    def waiting(self) -> list[Order]:
        """Those that nobody has carried out, in their order."""
        return self._found("WHERE status = 'waiting' ORDER BY id", ())

    def begun(self) -> list[Order]:
        """Those that somebody began to carry out, and did not finish."""
        return self._found("WHERE status = 'begun' ORDER BY id", ())

    def begin(self, order: Order) -> None:
        """It is going to be carried out now: whatever happens, it is not done again."""
        with self._file.writing() as connection:
            connection.execute("UPDATE orders SET status = 'begun' WHERE id = ?", (order.id,))

    def finished(self, action: str = "", *, limit: int = 1000) -> list[Order]:
        """The newest that are done with, of one action or all, oldest first: the audit."""
        chosen = "AND action = ? " if action else ""
        where = f"WHERE finished IS NOT NULL {chosen}ORDER BY id DESC LIMIT ?"
        return self._found(where, (*filter(None, [action]), limit))[::-1]

    def unended(self, action: str) -> list[Order]:
        """Beginnings that are done with, and whose end is not."""
        where = f"WHERE action = ? AND finished IS NOT NULL AND {END_UNFINISHED} ORDER BY id"
        return self._found(where, (action,))

    def finish(self, order: Order, status: str, detail: str, now: float) -> None:
        """How it went, in one word (``done``, ``failed``, ``dry run``, ``cooling down``, …)."""
        notice = notice_json(replace(order.notice, worst_query=""))
        with self._file.writing() as connection:
            connection.execute(
                "UPDATE orders SET status = ?, finished = ?, detail = ?, notice = ? WHERE id = ?",
                (status, now, detail, notice, order.id),
            )

    def _found(self, where: str, values: tuple[object, ...]) -> list[Order]:
        query = f"SELECT id, action, notice, status, created, finished, detail FROM orders {where}"  # noqa: S608 - our own words
        with self._file.reading() as connection:
            rows = connection.execute(query, values).fetchall()
        return [_order(row) for row in rows]


def _order(row: tuple[Any, ...]) -> Order:
    number, action, notice, status, created, finished, detail = row
    ended = None if finished is None else _time(finished)
    return Order(
        number, action, NOTICES.validate_json(notice), status, _time(created), ended, detail
    )


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
