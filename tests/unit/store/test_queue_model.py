"""The queue against a model: whatever is done in whatever order, nothing is lost or twice."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ragnostic.ports import Event
from ragnostic.store.queue import SqliteQueue

IDS = st.integers(0, 30).map(lambda number: f"记录{number}")
EVENTS = st.lists(st.builds(Event, IDS, st.binary(max_size=20), st.integers(0, 2)), max_size=8)
DAY = 86_400.0


class QueueModel(RuleBasedStateMachine):
    """Known names with their day, and what waits in each partition, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = 100 * DAY
        self.known: dict[tuple[str, int], float] = {}
        self.waiting: dict[int, list[tuple[str, int, bytes]]] = {n: [] for n in range(16)}
        self.trimmable = 0
        self.gone: set[tuple[str, int]] = set()
        self.open()

    def open(self) -> None:
        """As a process does that starts."""
        path = Path(self.folder.name) / "queue.sqlite"
        self.queue = SqliteQueue(path, now=lambda: self.clock)
        assert self.queue.damages == ()

    @rule(events=EVENTS)
    def append(self, events: list[Event]) -> None:
        """What is new is stored, in order."""
        before = {number: self.read(number) for number in range(16)}
        new: list[tuple[str, int, bytes]] = []
        for event in events:
            name = (event.id, event.revision)
            if name not in self.known:
                self.known[name] = self.clock
                new.append((*name, event.payload))
        result = self.queue.append(events)
        assert (result.stored, result.duplicate) == (len(new), len(events) - len(new))
        for number in range(16):
            added = self.read(number)[len(before[number]) :]
            expected = [row for row in new if row in added]
            assert added == expected
            self.waiting[number] += added
        assert sum(len(self.read(number)) for number in range(16)) == sum(
            len(rows) for rows in self.waiting.values()
        )

    @rule(partition=st.integers(0, 15), count=st.integers(1, 4))
    def commit(self, partition: int, count: int) -> None:
        """What is committed does not wait any more."""
        found = self.queue.read(partition, self.queue.committed(partition), count)
        if found:
            self.queue.commit(partition, found[-1].offset)
            del self.waiting[partition][: len(found)]
            self.trimmable += len(found)

    @rule()
    def trim(self) -> None:
        """Exactly what is done goes."""
        assert self.queue.trim() == self.trimmable
        self.trimmable = 0

    @rule(id=IDS)
    def remove(self, id: str) -> None:  # noqa: A002 - the name of the field
        """What waits of an id goes; it stays known."""
        done = sum(1 for name in self.known if name[0] == id)
        removed = self.queue.remove(lambda event: event.id == id)
        assert removed <= done
        left = 0
        for number, rows in self.waiting.items():
            self.waiting[number] = [row for row in rows if row[0] != id]
            left += len(rows) - len(self.waiting[number])
        self.trimmable -= removed - left

    @rule(days=st.integers(0, 3))
    def later(self, days: int) -> None:
        """Time goes by."""
        self.clock += days * DAY

    @rule()
    @precondition(lambda self: self.clock > 103 * DAY)
    def forget(self) -> None:
        """Ids of done events are forgotten with their day of arrival, one later."""
        day = int(self.clock // DAY)
        waits = {row[:2] for rows in self.waiting.values() for row in rows}
        # An event that was removed while it waited counts as waiting until its offset is done.
        found = self.queue.forget_before(f"1970-04-{day - 90 + 1:02d}")
        old = {
            name
            for name, arrived in self.known.items()
            if arrived // DAY < day - 1 and name not in waits
        }
        assert found <= len(old)
        for name in old:
            if self.queue.append([Event(name[0], b"", name[1])]).stored:
                self.known[name] = self.clock
                for number in range(16):
                    self.waiting[number] = self.read(number)

    @rule()
    def restart(self) -> None:
        """Closing and opening changes nothing."""
        self.queue.close()
        self.open()

    @invariant()
    def same(self) -> None:
        """What waits is what the model says, in its order."""
        for number, rows in self.waiting.items():
            assert self.read(number) == rows
        assert self.queue.backlog() == sum(len(rows) for rows in self.waiting.values())

    def read(self, partition: int) -> list[tuple[str, int, bytes]]:
        """What waits in a partition."""
        found = self.queue.read(partition, self.queue.committed(partition), 1_000)
        return [(event.id, event.revision, event.payload) for event in found]

    def teardown(self) -> None:
        """Files are removed."""
        self.queue.close()
        self.folder.cleanup()


TestQueueModel = QueueModel.TestCase
TestQueueModel.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)
