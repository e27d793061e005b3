"""The receiver of traces beside the gateway: from spans on a port to records in the store."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragnostic.cli.console import print_warnings
from ragnostic.cli.gateway_intake import open_intake

if TYPE_CHECKING:
    from ragnostic.gateway.counters import GatewayCounters
    from ragnostic.gateway.settings import TraceSettings
    from ragnostic.gateway.span_settling import Settler
    from ragnostic.monitor.store_settings import StoreConfiguration
    from ragnostic.store.state import State


@dataclass(frozen=True, slots=True)
class Traces:
    """The application, and what has to run and be closed with it."""

    application: Any
    _settler: Settler
    _state: State

    def start(self) -> None:
        """Begin to make records of traces that are quiet."""
        self._settler.start()

    def stop(self) -> None:
        """Make those that are due, and close the file; spans that wait stay in it."""
        self._settler.stop()
        self._state.close()


def open_traces(
    settings: TraceSettings, store: StoreConfiguration, counters: GatewayCounters
) -> Traces:
    """The receiver of traces of a store."""
    from ragnostic.gateway.otlp import otlp_app  # noqa: PLC0415 - heavy, loaded on use
    from ragnostic.gateway.redaction import Redactor  # noqa: PLC0415 - the same
    from ragnostic.gateway.span_assembler import SpanAssembler  # noqa: PLC0415 - the same
    from ragnostic.gateway.span_settling import Settler  # noqa: PLC0415 - the same
    from ragnostic.monitor.live_store import STATE  # noqa: PLC0415 - the same
    from ragnostic.store.state import State  # noqa: PLC0415 - the same

    state = State(store.root / STATE)
    print_warnings(map(str, state.damages))
    redactor = Redactor(store.settings.redact, os.environ)
    assembler = SpanAssembler(
        state,
        open_intake(store).accept,
        settle_s=settings.settle_s,
        keep_s=settings.keep_s,
        mask=redactor.text,
        counters=counters,
    )
    application = otlp_app(assembler.add, settings, counters)
    return Traces(application, Settler(assembler, counters), state)
