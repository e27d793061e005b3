"""How far a run of a sentinel has come: kept in the state of the store, so that it can go on."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from ragnostic.errors import StoreError
from ragnostic.store.state import State

FOLDER = "sentinel"
STALE_S = 86_400.0
"""A run that began longer ago is not gone on with: its figures would be of two days."""
_REASONS = 5


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of the queries so far. ``failed`` and ``unchanged`` are counts by perturbation, as
    :class:`~ragnostic.monitor.rcs.Probed` has them, ``empty`` the queries without candidates,
    ``not_retrieved`` those whose retrieval failed; ``reasons`` why calls failed, the first few.
    """

    failed: Mapping[str, int] = field(default_factory=dict)
    unchanged: Mapping[str, int] = field(default_factory=dict)
    empty: int = 0
    not_retrieved: int = 0
    reasons: tuple[str, ...] = ()

    def __add__(self, other: Tally) -> Tally:
        """Both together.

        >>> (Tally({"seed": 1}, empty=1) + Tally({"seed": 2}, reasons=("down",))).failed
        {'seed': 3}
        """
        return Tally(
            _summed(self.failed, other.failed),
            _summed(self.unchanged, other.unchanged),
            self.empty + other.empty,
            self.not_retrieved + other.not_retrieved,
            tuple(dict.fromkeys((*self.reasons, *other.reasons)))[:_REASONS],
        )


def _summed(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


@dataclass(frozen=True, slots=True)
class Position:
    """A run: its queries by id, how many of them are done, and what came of those. ``batch_at`` is
    the time (seconds since the epoch) of the batch that was begun, which is done again under the
    same time, so that its rows replace what was written of it.
    """

    run: str
    started: float
    ids: tuple[str, ...]
    done: int = 0
    batch_at: float | None = None
    tally: Tally = field(default_factory=Tally)
    finished: bool = False

    def begun(self, now: float) -> Self:
        """Its next batch has begun."""
        return self if self.batch_at is not None else replace(self, batch_at=now)

    def after(self, count: int, tally: Tally) -> Self:
        """``count`` more queries are done."""
        return replace(self, done=self.done + count, batch_at=None, tally=self.tally + tally)

    def ended(self) -> Self:
        """The run is over; which queries they were is forgotten."""
        return replace(self, ids=(), tally=Tally(), finished=True)


def load_position(state: State, name: str) -> Position | None:
    """The run that a sentinel was last at, None before its first."""
    found = state.position(_key(name))
    if found is None:
        return None
    tally = {**found["tally"], "reasons": tuple(found["tally"]["reasons"])}
    return Position(**{**found, "ids": tuple(found["ids"]), "tally": Tally(**tally)})


def save_position(state: State, name: str, position: Position) -> None:
    """Keep it in place of the one before."""
    kept: dict[str, Any] = asdict(position)
    state.set_position(_key(name), kept)


def _key(name: str) -> str:
    return f"sentinel.{name}"


@contextmanager
def only_one(root: Path, name: str) -> Iterator[None]:
    """While the block runs, no other process runs this sentinel; raises StoreError where one does.

    The lock goes with the process, however it ends.
    """
    (root / FOLDER).mkdir(exist_ok=True)
    handle = os.open(root / FOLDER / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(
                "this sentinel is running already",
                hint="let it end, or raise --rate or lower --queries so that it ends in time",
            ) from None
        yield
    finally:
        os.close(handle)
