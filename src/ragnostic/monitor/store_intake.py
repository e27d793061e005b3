"""The intake of a store folder: its zone and its redaction, and no more of its settings.

Whoever only writes into a store must not fail because its judge is not installed there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from pydantic import ValidationError

from ragnostic.config.faults import translate
from ragnostic.config.models import Table
from ragnostic.config.source import Source, read_source
from ragnostic.errors import ConfigError, ConfigFault
from ragnostic.gateway.forgotten import Forgotten
from ragnostic.gateway.intake import Intake
from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.redaction import Options, Redactor
from ragnostic.monitor.gathered_counters import GatheredCounters
from ragnostic.monitor.store_settings import FILE, KeepSettings
from ragnostic.store.queue import SqliteQueue
from ragnostic.store.state import State

QUEUE, STATE, QUARANTINE = "queue.sqlite", "state.sqlite", "quarantine"
FORGOTTEN = "forgotten.jsonl"
Settings = TypeVar("Settings", bound=Table)


@dataclass(frozen=True, slots=True)
class StoreIntake:
    """What writes into a store, opened together; to be closed, or used in a ``with``."""

    root: Path
    queue: SqliteQueue
    state: State
    counters: GatheredCounters
    redactor: Redactor
    quarantine: Quarantine
    intake: Intake

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the last counts, and close the files."""
        try:
            self.counters.flush()
        finally:
            self.queue.close()
            self.state.close()


def open_intake(root: Path, environment: Mapping[str, str]) -> StoreIntake:
    """The intake of a store folder, which is made if it is not there.

    Raises ConfigError for faults in ``[store]`` and ``[redact]`` of its ``store.toml``.
    """
    path = root / FILE
    source = read_source(path, ()) if path.exists() else Source(FILE, {}, {}, {})
    faults: list[ConfigFault] = []
    keep = _table("store", KeepSettings, source, faults)
    redact = _table("redact", Options, source, faults)
    if faults:
        raise ConfigError(faults)
    redactor = Redactor(redact, environment)
    root.mkdir(parents=True, exist_ok=True)
    queue = SqliteQueue(root / QUEUE)
    state = State(root / STATE, partitions=queue.partitions)
    quarantine = Quarantine(root / QUARANTINE, redactor, zone=keep.zone)
    counters = GatheredCounters(state)
    forgotten = Forgotten(root / FORGOTTEN)
    intake = Intake(queue, quarantine, redactor, counters, forgotten, zone=keep.zone)
    return StoreIntake(root, queue, state, counters, redactor, quarantine, intake)


def _table(name: str, model: type[Settings], source: Source, faults: list[ConfigFault]) -> Settings:
    """A table's model, or its defaults where there is a fault."""
    try:
        return model.model_validate(source.tree.get(name, {}))
    except ValidationError as error:
        faults += translate(error, model, (name,), source.where)
        return model()
