"""The intake of a store folder, as the gateway opens it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ragnostic.cli.console import print_warnings

if TYPE_CHECKING:
    from ragnostic.gateway.intake import Intake
    from ragnostic.monitor.store_settings import StoreConfiguration


def open_intake(store: StoreConfiguration) -> Intake:
    """The intake of a store folder, with the zone and the redaction of its ``store.toml``."""
    from ragnostic.gateway.forgotten import Forgotten  # noqa: PLC0415 - heavy, loaded on use
    from ragnostic.gateway.intake import Intake  # noqa: PLC0415 - the same
    from ragnostic.gateway.quarantine import Quarantine  # noqa: PLC0415 - the same
    from ragnostic.gateway.redaction import Redactor  # noqa: PLC0415 - the same
    from ragnostic.monitor.live_store import QUARANTINE, QUEUE  # noqa: PLC0415 - the same
    from ragnostic.monitor.store_intake import FORGOTTEN  # noqa: PLC0415 - the same
    from ragnostic.store.queue import SqliteQueue  # noqa: PLC0415 - the same

    redactor = Redactor(store.settings.redact, os.environ)
    queue = SqliteQueue(store.root / QUEUE)
    print_warnings([str(damage) for damage in queue.damages])
    quarantine = Quarantine(store.root / QUARANTINE, redactor, zone=store.zone)
    forgotten = Forgotten(store.root / FORGOTTEN)
    return Intake(queue, quarantine, redactor, forgotten=forgotten, zone=store.zone)
