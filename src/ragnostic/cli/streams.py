"""Standard streams whose reader may leave early, or whose disk may be full."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from ragnostic.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


_STDERR = 2


class Tolerant(io.FileIO):
    """A stream that swallows what nobody reads any more: ``ragnostic … | head`` must not end the
    work. Of stdout another failure is told, once; of stderr there is nobody to tell.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        """All of ``data``, or a UsageError."""
        try:
            return super().write(data)
        except OSError as error:
            self._silence()
            if not isinstance(error, BrokenPipeError) and self.fileno() != _STDERR:
                raise UsageError(f"cannot write to standard output: {error.strerror}") from error
            return memoryview(data).nbytes

    def _silence(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def tolerate() -> None:
    """Put tolerant streams in the place of the process's own. What a terminal or the data cannot
    show is escaped.
    """
    for name, number in (("stdout", 1), ("stderr", _STDERR)):
        own = getattr(sys, name)
        if own is None or own is not getattr(sys, f"__{name}__"):
            continue
        own.flush()
        raw = Tolerant(number, "w", closefd=False)
        stream = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=own.encoding,
            errors="backslashreplace",
            line_buffering=own.line_buffering,
            write_through=False,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
