"""Queues and states in fresh folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragnostic.store.queue import SqliteQueue
from ragnostic.store.state import State


@pytest.fixture
def queue_path(tmp_path: Path) -> Path:
    """Where the queue of a test is."""
    return tmp_path / "queue.sqlite"


@pytest.fixture
def queue(queue_path: Path) -> Iterator[SqliteQueue]:
    """An empty queue."""
    with SqliteQueue(queue_path) as made:
        yield made


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    """An empty state of 4 partitions."""
    with State(tmp_path / "state.sqlite", partitions=4) as made:
        yield made
