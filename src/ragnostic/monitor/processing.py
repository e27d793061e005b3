"""A batch of events into the three tables of the lake: records, judgments, scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from ragnostic.monitor.event_records import Refused, event_records
from ragnostic.monitor.judging import judge_records
from ragnostic.monitor.signals import SignalScorer
from ragnostic.monitor.work_counts import Work, chunk_counts, failure_reasons, status_counts
from ragnostic.ports import RecordJudge, RecordKind, StoredEvent


@dataclass(frozen=True, slots=True)
class Tables:
    """What a batch of events became."""

    records: pa.Table
    judgments: pa.Table
    scores: pa.Table
    refused: tuple[Refused, ...]
    replaced: int

    def by_kind(self) -> dict[RecordKind, pa.Table]:
        """The tables in the order in which they are written: who finds scores finds the rest."""
        return {"records": self.records, "judgments": self.judgments, "scores": self.scores}

    def counted(self) -> Work:
        """The batch in numbers."""
        return Work(
            events=self.records.num_rows + len(self.refused) + self.replaced,
            records=self.records.num_rows,
            replaced=self.replaced,
            quarantined=len(self.refused),
            scores=self.scores.num_rows,
            judged=status_counts(self.judgments),
            failures=failure_reasons(self.judgments),
            **chunk_counts(self.scores),
        )


@dataclass(frozen=True, slots=True)
class Processor:
    """A judge (None: nobody judges) and a scorer for batches of events."""

    judge: RecordJudge | None
    scorer: SignalScorer
    zone: str

    def tables(self, events: Sequence[StoredEvent]) -> Tables:
        """The tables of a batch. An event that none can be made of is refused, never the batch."""
        try:
            return self._tables(events)
        except Exception as error:
            if len(events) == 1:
                return self._none_of(events[0], error)
            good, refused = self._apart(events)
            if not refused:
                raise
            rest = self._tables(good)
            return Tables(
                rest.records,
                rest.judgments,
                rest.scores,
                (*rest.refused, *refused),
                rest.replaced,
            )

    def judged(self, records: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Judgments and scores of records."""
        judgments = judge_records(self.judge, records)
        return judgments, self.scorer.score(records, judgments)

    def _tables(self, events: Sequence[StoredEvent]) -> Tables:
        found = event_records(events, self.zone)
        judgments, scores = self.judged(found.table)
        return Tables(found.table, judgments, scores, found.refused, found.replaced)

    def _apart(
        self, events: Sequence[StoredEvent]
    ) -> tuple[list[StoredEvent], tuple[Refused, ...]]:
        """Good events, and those of which no table can be made even alone."""
        good: list[StoredEvent] = []
        refused: list[Refused] = []
        for event in events:
            try:
                self._tables([event])
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not stop the rest
                refused.append(Refused(event, said(error)))
            else:
                good.append(event)
        return good, tuple(refused)

    def _none_of(self, event: StoredEvent, error: Exception) -> Tables:
        empty = self._tables(())
        refused = Refused(event, said(error))
        return Tables(empty.records, empty.judgments, empty.scores, (refused,), 0)


def said(error: Exception) -> str:
    """An error in one line.

    >>> said(ValueError("no number"))
    'ValueError: no number'
    """
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


Report = Callable[[str], None]
"""Told what a person should know while work goes on."""
