"""The book: everything or nothing, no message twice, and safe from other processes."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ragnostic.errors import StoreError, UsageError
from ragnostic.monitor.alerts.book import (
    BOOK,
    HISTORY_KEPT,
    PARCELS_KEPT,
    Book,
    BookChangedError,
    Changes,
    Event,
)
from ragnostic.monitor.alerts.outbox import BookOutbox, Orders
from ragnostic.monitor.alerts.silences import Silence
from ragnostic.monitor.alerts.states import (
    Acknowledgement,
    AlertKey,
    AlertState,
    Reading,
    Told,
    Track,
)
from ragnostic.ports import Notice
from ragnostic.stats.ewma import Baseline

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
KEY = AlertKey("mrr-drop", "gold", "rerank", "category", "退款\x1b[2J")
TRACK = Track(
    AlertState(
        "firing",
        since=NOW,
        fired=NOW,
        window=NOW,
        episode=3,
        told=Told(is_open=True, episode=3, at=NOW),
        acknowledged=Acknowledgement("li", NOW, "seen"),
        reading=Reading("breach", 0.5, 0.8, 0.45, 0.55, 300, "", NOW, NOW),
        baselines={17: Baseline().updated(0.8)},
    ),
    recent=((NOW, "ab"),),
    definition="x",
)


def notice(key: str = "mrr-drop:1", kind: str = "firing") -> Notice:
    """A notice with a query in it."""
    window = (NOW - timedelta(hours=1), NOW)
    return Notice(
        key, kind, "P1", "mrr-drop", "RR@5", 0.5, 0.8, "baseline", 300, NOW, window, "UTC",
        worst_query="where is my money?", slice={"category": "退款"},
    )  # fmt: skip


@pytest.fixture
def book(tmp_path):
    """A new book."""
    with Book(tmp_path) as opened:
        yield opened


def test_what_is_written_is_read_again(book, tmp_path):
    """By another process too; hostile slice values are values."""
    changes = Changes({KEY: TRACK}, joined=[("ops", "a", "group"), ("ops", "b", "group")])
    book.commit(book.read().revision, changes, NOW)
    with Book(tmp_path) as again:
        assert again.read().tracks == {KEY: TRACK}
        assert again.read().members == {("ops", "a"): "group", ("ops", "b"): "group"}
    book.commit(book.read().revision, Changes(left=[("ops", "a")]), NOW)
    assert book.read().members == {("ops", "b"): "group"}


def test_of_two_checks_at_once_one_starts_over(book):
    """Nothing of it is written."""
    revision = book.read().revision
    book.commit(revision, Changes(), NOW)
    with pytest.raises(BookChangedError):
        book.commit(revision, Changes({KEY: TRACK}, parcels=[("ops", notice())]), NOW)
    assert book.read().tracks == {}
    assert BookOutbox(book).waiting() == []


def test_a_state_and_its_messages_are_one_transaction(tmp_path):
    """A process that dies in the middle has done nothing."""
    with Book(tmp_path) as book:
        revision = book.read().revision
    child = os.fork()
    if child == 0:
        broken = Changes({KEY: TRACK}, parcels=[("ops", notice()), _Deadly()])
        Book(tmp_path).commit(revision, broken, NOW)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 9 << 8
    with Book(tmp_path) as book:
        assert book.read().tracks == {}
        assert BookOutbox(book).waiting() == []


class _Deadly:
    """Ends the process when it is unpacked."""

    def __iter__(self):
        os._exit(9)


def test_the_beginning_and_the_end_of_an_episode_are_put_once(book):
    """To each channel; reminders as often as they come."""
    outbox = BookOutbox(book)
    for kind in ("firing", "firing", "repeat", "repeat", "resolved", "resolved"):
        for channel in ("ops", "night"):
            outbox.put(channel, notice(kind=kind), NOW.timestamp())
    kinds = [parcel.notice.kind for parcel in outbox.waiting() if parcel.channel == "ops"]
    assert kinds == ["firing", "repeat", "repeat", "resolved"]
    for parcel in outbox.waiting():
        outbox.done(parcel, NOW.timestamp())
    outbox.put("ops", notice(), NOW.timestamp())
    assert outbox.waiting() == []


def test_a_parcel_waits_is_tried_again_and_is_given_up(book):
    """What a user asked is kept only as long as it waits."""
    outbox = BookOutbox(book)
    outbox.put("ops", notice(), 100.0)
    (parcel,) = outbox.waiting()
    assert (parcel.notice, parcel.tries, parcel.created, parcel.due) == (notice(), 0, 100.0, 100.0)
    outbox.failed(parcel, 160.0, "HTTP 500")
    (parcel,) = outbox.waiting()
    assert (parcel.tries, parcel.due) == (1, 160.0)
    outbox.dead(parcel, 200.0, "given up")
    assert outbox.waiting() == []
    (letter,) = outbox.dead_letters()
    assert (letter.channel, letter.reason, letter.tries) == ("ops", "given up", 1)
    assert letter.notice == replace(notice(), worst_query="")
    outbox.put("ops", notice("other"), 300.0)
    outbox.done(outbox.waiting()[0], 301.0)
    with book.file.reading() as connection:
        texts = connection.execute("SELECT group_concat(notice) FROM parcels").fetchone()[0]
    assert "money" not in texts


def test_orders_wait_for_whoever_carries_them_out(book):
    """And are an audit afterwards, of one action or of all."""
    orders = [("roll-back", notice()), ("degrade", notice())]
    book.commit(book.read().revision, Changes(orders=orders), NOW)
    kept = Orders(book)
    first, second = kept.waiting()
    assert (first.action, first.notice, first.finished) == ("roll-back", notice(), None)
    kept.finish(first, "done", "exit 0", NOW.timestamp())
    kept.finish(second, "dry run", "", NOW.timestamp())
    assert kept.waiting() == []
    (done,) = kept.finished("roll-back")
    assert (done.status, done.detail, done.finished) == ("done", "exit 0", NOW)
    assert [one.action for one in kept.finished()] == ["roll-back", "degrade"]
    assert [one.action for one in kept.finished(limit=1)] == ["degrade"]


def test_only_one_process_sends(book, tmp_path):
    """The other one sees that it is not alone."""
    with (
        Book(tmp_path) as other,
        book.alone("sending") as first,
        other.alone("sending") as second,
        other.alone("acting") as different,
    ):
        assert (first, second, different) == (True, False, True)
    with book.alone("sending") as again:
        assert again


def test_silences_have_numbers_ends_and_a_history(book):
    """One that is over cannot be ended once more."""
    silence = Silence(NOW, NOW + timedelta(hours=1), "sale", "li", labels={"category": "退款"})
    number = book.silence(silence, NOW)
    assert book.read().silences == (replace(silence, id=number),)
    assert not book.expire(number + 1, "li", NOW)
    assert not book.expire(number, "li", NOW + timedelta(hours=1))
    assert book.expire(number, "wu", NOW)
    assert not book.expire(number, "wu", NOW)
    assert book.read().silences == ()
    assert [(event.event, event.body["by"]) for event in book.history()] == [
        ("silenced", "li"),
        ("expired", "wu"),
    ]
    assert book.silence(silence, NOW) == number + 1
    with pytest.raises(UsageError, match="--reason"):
        book.silence(replace(silence, reason=""), NOW)


def test_a_change_by_hand_is_noted(book):
    """It makes a check that runs meanwhile start over; what nobody knows cannot be changed."""
    book.commit(book.read().revision, Changes({KEY: TRACK}), NOW)
    revision = book.read().revision
    event = Event(NOW, "acknowledged", KEY.rule, KEY.id, {"by": "wu"})
    closed = replace(TRACK, definition="y")
    assert book.change(KEY, lambda _: closed, event) == closed
    assert book.read().tracks == {KEY: closed}
    assert book.history() == [event]
    assert book.read().revision > revision
    with pytest.raises(UsageError, match="no alert"):
        book.change(AlertKey("other"), lambda track: track, event)


def test_history_is_cut_by_time_and_number(book):
    """The newest remain, oldest first."""
    events = [Event(NOW + timedelta(hours=hour), "firing", "r", str(hour)) for hour in range(5)]
    book.commit(book.read().revision, Changes(events=events), NOW)
    found = book.history(NOW + timedelta(hours=1), NOW + timedelta(hours=4))
    assert [event.alert for event in found] == ["1", "2", "3"]
    assert [event.alert for event in book.history(limit=2)] == ["3", "4"]


def test_what_is_old_goes(book):
    """History after its time, parcels and orders after theirs; never what still waits."""
    outbox = BookOutbox(book)
    for key in ("delivered", "waiting"):
        outbox.put("ops", notice(key), NOW.timestamp())
    outbox.done(outbox.waiting()[0], NOW.timestamp())
    changes = Changes(events=[Event(NOW, "firing", "r")])
    book.commit(book.read().revision, changes, NOW)
    book.commit(book.read().revision, Changes(), NOW + PARCELS_KEPT + timedelta(days=1))
    with book.file.reading() as connection:
        keys = connection.execute("SELECT key FROM parcels").fetchall()
    assert keys == [("waiting",)]
    assert len(book.history()) == 1
    book.commit(book.read().revision, Changes(), NOW + HISTORY_KEPT + timedelta(days=1))
    assert book.history() == []


def test_a_beginning_is_kept_until_its_end(book):
    """However long that takes: the end is acted on only where the beginning was."""
    begun, over = notice("r:1:1"), notice("r:2:1")
    ends = [("do", replace(over, kind="resolved"))]
    book.commit(book.read().revision, Changes(orders=[("do", begun), ("do", over), *ends]), NOW)
    orders = Orders(book)
    for order in orders.waiting():
        orders.finish(order, "done", "", NOW.timestamp())
    later = NOW + PARCELS_KEPT + timedelta(days=1)
    book.commit(book.read().revision, Changes(), later)
    assert [order.notice.key for order in orders.finished()] == ["r:1:1"]
    assert [order.notice.key for order in orders.unended("do")] == ["r:1:1"]
    assert book.read().ordered == {("do", "r:1:1")}


def test_the_file_is_written_through(book):
    """WAL, and every commit on the disk before it counts."""
    with book.file.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def garble(path: Path) -> None:
    """Break what a parcel holds, as no program of ours would."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE parcels SET notice = '{broken' WHERE rowid = 1")
        connection.commit()


def test_a_damaged_book_is_rescued(tmp_path):
    """What is readable goes over; the damaged file is kept, and it is said."""
    with Book(tmp_path) as book:
        book.commit(book.read().revision, Changes({KEY: TRACK}), NOW)
        for key in ("a", "b"):
            BookOutbox(book).put("ops", notice(key), 100.0)
    garble(tmp_path / BOOK)
    with Book(tmp_path) as book:
        (damage,) = book.damages
        assert "its parcels are garbled" in str(damage)
        assert "may be told again" in str(damage)
        assert damage.lost == 1
        assert [parcel.notice.key for parcel in BookOutbox(book).waiting()] == ["b"]
        assert book.read().tracks == {KEY: TRACK}
        book.commit(book.read().revision, Changes(), NOW)
    assert damage.kept_as.exists()


def test_a_book_that_is_cut_short_begins_anew(tmp_path):
    """Never with an error that a person can do nothing about."""
    with Book(tmp_path) as book:
        book.commit(book.read().revision, Changes({KEY: TRACK}), NOW)
    path = tmp_path / BOOK
    path.write_bytes(path.read_bytes()[:5000])
    with Book(tmp_path) as book:
        assert book.damages
        book.commit(book.read().revision, Changes({KEY: TRACK}), NOW)
        assert book.read().tracks == {KEY: TRACK}


def test_a_newer_version_is_left_alone(tmp_path):
    """It says so."""
    Book(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / BOOK)) as connection:
        connection.execute(f"PRAGMA user_version = {9 * 0x10001}")
        connection.commit()
    with pytest.raises(StoreError, match="newer than this ragnostic"):
        Book(tmp_path)
