"""Intake: what every way in hands its rows to. Checked, given an id, redacted, and then stored.

Whatever cannot be a record is set aside with its place and the reason; nothing is lost without a
count (DESIGN 5, promises 1 and 4).
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.balance import Balance, Counters, Unreadable, Where
from ragnostic.gateway.cleaning import MAX_TEXT_BYTES, clean
from ragnostic.gateway.forgotten import Forgotten
from ragnostic.gateway.identity import record_id
from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.redaction import Redactor
from ragnostic.gateway.validation import check_row
from ragnostic.ports import Event, EventLog

__all__ = ["Balance", "Intake", "Unreadable", "Where"]

MAX_ROW_BYTES = 8 * 2**20
_BATCH = 1000
_NAMED_IDS = 20

Row = Mapping[str, Any] | Unreadable


class Intake:
    """Takes rows in from every side.

    ``zone`` is that of times without an offset; a text of more than ``max_text`` bytes is cut,
    with its true length and SHA-256 in the record's ``capture``. Without a redactor nothing is
    masked in what is stored. ``counters`` keep the sums over the life of the store. Rows of those
    whom the store has ``forgotten`` are dropped; :attr:`turned_away` counts them.

    ``faults`` counts what was odd in rows that were kept (``negative_duration``, ``no_end``,
    ``no_duration``, ``null_id``, ``text_cut``), ``fault_ids`` names the first records of each.
    """

    def __init__(
        self,
        log: EventLog,
        quarantine: Quarantine,
        redactor: Redactor | None = None,
        counters: Counters | None = None,
        forgotten: Forgotten | None = None,
        *,
        zone: str = "Asia/Shanghai",
        max_text: int = MAX_TEXT_BYTES,
    ) -> None:
        self._log = log
        self._quarantine = quarantine
        self._redactor = redactor
        self._counters = counters
        self._forgotten = forgotten
        self._zone = zone
        self._max_text = max_text
        self._lock = threading.Lock()
        self.faults: Counter[str] = Counter()
        self.fault_ids: dict[str, list[str]] = {}
        self.turned_away = 0

    def accept(self, rows: Iterable[tuple[Row, Where]], *, batch: str | None = None) -> Balance:
        """Store rows; when this returns, what counts as stored is durable.

        ``batch`` names the rows, so that the same ones read again are not set aside twice. Bad
        data raises nothing. What the log raises when it cannot store comes through: rows of
        which nothing was said may be given again, as those known count as duplicates.
        """
        total = Balance()
        waiting = iter(rows)
        while block := list(islice(waiting, _BATCH)):
            name = batch and (batch if not total.received else f"{batch}-{total.received}")
            total += self._accept(block, name)
        return total

    def _accept(self, block: list[tuple[Row, Where]], batch: str | None) -> Balance:
        events: list[Event] = []
        faults: list[tuple[str, str]] = []
        bad = gone = 0
        if self._forgotten is not None:
            self._forgotten.look()
        for row, where in block:
            try:
                event, kinds = self._event(row)
            except _ForgottenError:
                gone += 1
            except RowError as error:
                bad += 1
                self._quarantine.add(where, str(error), _raw(row))
            else:
                events.append(event)
                faults += [(kind, event.id) for kind in kinds]
        appended = self._log.append(events) if events else None
        quarantined = self._set_aside(batch) if bad else 0
        balance = Balance(
            len(block),
            stored=appended.stored if appended else 0,
            duplicate=appended.duplicate if appended else 0,
            quarantined=quarantined,
            dropped=bad - quarantined + gone,
        )
        self._count(balance, faults, gone)
        return balance

    def _event(self, row: Row) -> tuple[Event, tuple[str, ...]]:
        """The event of a row; raises RowError with the reason where it is none."""
        if isinstance(row, Unreadable):
            raise RowError(row.reason)
        checked = check_row(row, self._zone)
        try:
            identity = record_id(checked.row)
        except (TypeError, ValueError) as error:  # a name inside that is no text
            raise RowError(f"cannot be written as JSON: {error}") from error
        if self._forgotten is not None and self._forgotten.covers(checked.row, identity):
            raise _ForgottenError
        cleaned, is_cut = clean(checked.row, self._redactor, self._max_text)
        cleaned["record_id"] = identity
        cleaned.setdefault("query_id", identity)
        cleaned.setdefault("query", "")
        event = Event(identity, _payload(cleaned), cleaned.get("revision", 0))
        return event, (*checked.faults, "text_cut") if is_cut else checked.faults

    def _set_aside(self, batch: str | None) -> int:
        """How many rows of the quarantine are on disk now; none where the disk refuses."""
        try:
            return self._quarantine.flush(batch)
        except OSError:
            return 0

    def _count(self, balance: Balance, faults: list[tuple[str, str]], gone: int) -> None:
        with self._lock:
            self.turned_away += gone
            for kind, identity in faults:
                self.faults[kind] += 1
                named = self.fault_ids.setdefault(kind, [])
                if len(named) < _NAMED_IDS:
                    named.append(identity)
        if self._counters is not None:
            kinds = Counter(f"fault.{kind}" for kind, _ in faults)
            self._counters.add({**balance.as_json(), **kinds, "forgotten": gone})


class _ForgottenError(Exception):
    """A row of somebody whom the store has forgotten."""


def _payload(row: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(
            row, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str
        )
        payload = text.encode()
    except UnicodeEncodeError as error:
        raise RowError("holds half a character (a lone surrogate)") from error
    except ValueError as error:  # NaN inside
        raise RowError(f"cannot be written as JSON: {error}") from error
    if len(payload) > MAX_ROW_BYTES:
        raise RowError(f"{len(payload):,} bytes, more than {MAX_ROW_BYTES:,}, texts cut")
    return payload


def _raw(row: Row) -> bytes | str:
    """A refused row as it was written, or as JSON."""
    if isinstance(row, Unreadable):
        return row.raw
    try:
        return json.dumps(row, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return f"(a {type(row).__name__} that cannot be written as JSON)"
