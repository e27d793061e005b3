"""What was found damaged when a file of the store was opened, for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragnostic.errors import counted


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged file: what is wrong with it, the name under which it was kept, what came of it.

    ``rescued`` and ``lost`` count rows; with ``exact`` false more than ``lost`` may be gone.
    ``note`` is one more thing to know, or empty.

    >>> print(Damage(Path("queue.sqlite"), Path("queue.sqlite.damaged-1"), "cut short", 3, 1))
    queue.sqlite was damaged (cut short): 3 rows rescued, 1 lost; kept as queue.sqlite.damaged-1
    """

    path: Path
    kept_as: Path
    reason: str
    rescued: int
    lost: int
    exact: bool = True
    note: str = ""

    def __str__(self) -> str:
        lost = f"{self.lost} lost" if self.exact else f"{self.lost} or more lost"
        line = (
            f"{self.path} was damaged ({self.reason}): {counted(self.rescued, 'row')} rescued, "
            f"{lost}; kept as {self.kept_as}"
        )
        return f"{line}; {self.note}" if self.note else line
