"""The clock of the span assembler: a thread that looks now and then for what is due."""

from __future__ import annotations

import threading
from typing import Protocol

from ragnostic.errors import StoreError
from ragnostic.gateway.balance import Counters


class Settles(Protocol):
    """The assembler, as its clock sees it."""

    def settle(self) -> int:
        """Emit what is due; raises where nothing can be stored now."""
        ...


class Settler:
    """Calls ``settle`` every ``every_s`` seconds between :meth:`start` and :meth:`stop`.

    What cannot be stored stays due and is tried again; ``counters`` get ``settle_failed``. Spans
    that wait at the end are in the store, and are taken up by the next start.
    """

    def __init__(
        self, assembler: Settles, counters: Counters | None = None, *, every_s: float = 1.0
    ) -> None:
        self._assembler = assembler
        self._counters = counters
        self._every_s = every_s
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spans", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Do what is due once more, and end."""
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        is_over = False
        while not is_over:
            is_over = self._ending.wait(self._every_s)
            try:
                self._assembler.settle()
            except (StoreError, OSError):
                self._fail()

    def _fail(self) -> None:
        if self._counters is None:
            return
        try:
            self._counters.add({"settle_failed": 1})
        except (StoreError, OSError):
            return  # counts are kept where spans are: it will be told by those who look there
