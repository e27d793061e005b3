"""Everything that can go wrong, as one tree.

::

    RagnosticError                 message + hint; never shown with a traceback
    ├── UsageError                 wrong arguments or configuration         exit 2
    │   └── ConfigError            a list of faults, each with file:line    exit 2
    ├── DataError (ValueError)     what cannot be scored or read            exit 3
    │   └── PathError              a path that names no file                exit 2
    ├── RetrievalError             a retriever, reranker or model failed    exit 4
    │   └── GenerationError        a generator gave no answer to be graded  exit 4
    └── StoreError                 the store cannot be read or written      exit 2
        └── LeaseLostError         another worker may have the partition    exit 2

A :class:`Fault` is not an exception: it is a finding about the data, kept beside the result
(DESIGN section 5, promise 1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

EXIT_OK = 0
EXIT_GATE = 1
EXIT_USAGE = 2
EXIT_DATA = 3
EXIT_RETRIEVAL = 4
EXIT_INCONCLUSIVE = 5
EXIT_INTERRUPTED = 130


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its words; ``many`` is for all numbers but 1, else ``one`` with an s.

    >>> counted(1, "query", "queries"), counted(0, "query", "queries"), counted(2_000, "row")
    ('1 query', '0 queries', '2000 rows')
    """
    return f"{count} {one if count == 1 else many or f'{one}s'}"


class RagnosticError(Exception):
    """Base of all errors meant for people: ``str(error)`` is the message and then the hint.

    >>> print(RagnosticError("no such file: a.tsv", hint="paths are relative to eval.toml"))
    no such file: a.tsv
        hint: paths are relative to eval.toml
    """

    exit_code: ClassVar[int] = EXIT_USAGE

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n    hint: {self.hint}" if self.hint else self.message


class UsageError(RagnosticError):
    """Arguments or settings that make no sense."""

    exit_code = EXIT_USAGE


@dataclass(frozen=True, slots=True)
class ConfigFault:
    """One fault of a configuration: where it stands, what is wrong, what to try."""

    where: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        line = f"{self.where}: {self.message}"
        return f"{line}\n    hint: {self.hint}" if self.hint else line


class ConfigError(UsageError):
    """All faults of a configuration at once.

    >>> print(ConfigError([ConfigFault("eval.toml:3", "unknown key score.metric")]))
    eval.toml:3: unknown key score.metric
    1 fault; nothing was run.
    """

    def __init__(self, faults: Iterable[ConfigFault]) -> None:
        self.faults = tuple(faults)
        count = len(self.faults)
        lines = [str(fault) for fault in self.faults]
        lines.append(f"{counted(count, 'fault')}; nothing was run.")
        super().__init__("\n".join(lines))


class DataError(RagnosticError, ValueError):
    """Data that cannot be scored; names the file and line, or the query and the id."""

    exit_code = EXIT_DATA


class PathError(DataError):
    """A path that names nothing, or a folder where a file is needed: a wrong argument."""

    exit_code = EXIT_USAGE


class RetrievalError(RagnosticError):
    """A retriever, a reranker or a model did not answer.

    ``retryable`` says whether the same call may succeed later (time-out, 429, 5xx), ``wait_s``
    after how many seconds the service wants to be asked again, where it says so.
    """

    exit_code = EXIT_RETRIEVAL

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retryable: bool = False,
        wait_s: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable
        self.wait_s = wait_s


NoAnswer = Literal["failed", "truncated", "filtered", "malformed"]
"""Why there is no answer: the call failed, the text was cut at its longest length, the service
held it back, or what it sent is no answer.
"""


class GenerationError(RetrievalError):
    """A generator gave no answer that could be graded; ``status`` says why.

    >>> GenerationError("cut at 20 tokens", status="truncated").status
    'truncated'
    """

    def __init__(self, message: str, *, status: NoAnswer, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status: NoAnswer = status


class StoreError(RagnosticError):
    """The store cannot be read or written: disk full, no permission, busy, damaged.

    ``retryable`` says whether the same call may succeed later without anybody's help at the
    store (space is made, another process lets go).
    """

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable


class LeaseLostError(StoreError):
    """A worker's lease on a partition ran out: its work on it is not to be committed."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in the data: kept, counted and shown, never silently repaired.

    ``kind`` is a stable word (``duplicate_retrieved``), ``message`` one line for a person,
    ``ids`` the query or chunk ids concerned, ``where`` a ``file:line`` when there is one, and
    ``count`` how many rows it stands for.

    >>> str(Fault("duplicate_gold", "gold id A is given twice", ids=("q1", "A"), where="q.txt:3"))
    'q.txt:3: gold id A is given twice'
    """

    kind: str
    message: str
    ids: tuple[str, ...] = ()
    where: str = ""
    count: int = 1

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message
