"""The process beside the gateway that stores what it copies; started by it, ended with it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragnostic.cli.console import print_warnings
from ragnostic.cli.gateway_intake import open_intake
from ragnostic.gateway.configuration import load_gateway
from ragnostic.gateway.mapping import RecordMap
from ragnostic.gateway.passed import Passed
from ragnostic.gateway.recording import RowBuilder
from ragnostic.gateway.storing import store_frames
from ragnostic.monitor.store_settings import load_store_settings

READY = b"ready\n"
_FEWEST, _LOOKED_AT = 10, 100
"""Answers after which expressions that found nothing are named: at the end, and while it runs."""
_NICE = 5
"""Traffic goes first where there are few cores."""


def main(config: Path) -> None:
    """Read frames from standard input until it ends, and answer on standard output."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICE)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not be taken for an answer
    loaded = load_gateway(config, os.environ)
    store = load_store_settings(loaded.path(loaded.settings.store.path))
    nothing = RecordMap({}, {}, {}, {}, "")
    text_of = searching(loaded.settings.stream.text)
    builder = RowBuilder(loaded.settings, loaded.record_map or nothing, text_of)
    replies.write(READY)
    replies.flush()
    where = loaded.record_map.where if loaded.record_map else {}
    row = telling(builder, where, _LOOKED_AT)
    store_frames(sys.stdin.buffer, replies, row, lambda: open_intake(store))
    if _FEWEST <= builder.misses.documents < _LOOKED_AT:
        print_warnings(builder.misses.lines(where))


def telling(
    builder: RowBuilder, where: Mapping[str, str], after: int
) -> Callable[[Passed], dict[str, Any]]:
    """Makes rows; says once, ``after`` so many answers, which expressions never found anything."""
    told = False

    def row(passed: Passed) -> dict[str, Any]:
        nonlocal told
        found = builder.row(passed)
        if not told and builder.misses.documents >= after:
            told = True
            print_warnings(builder.misses.lines(where))
        return found

    return row


def searching(expression: str) -> Callable[[Any], Any]:
    """The value of an expression; None where it does not fit.

    >>> searching("a.b")({"a": {"b": 1}}), searching("length(a)")({})
    (1, None)
    """
    import jmespath  # noqa: PLC0415 - heavy, loaded on use

    compiled = jmespath.compile(expression)

    def search(value: Any) -> Any:
        try:
            return compiled.search(value)
        except (ValueError, ArithmeticError, TypeError, RecursionError):
            return None

    return search


if __name__ == "__main__":
    main(Path(sys.argv[1]))
