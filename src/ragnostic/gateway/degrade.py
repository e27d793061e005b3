"""The switch to a second service, for a person, an alert or a file to flip, and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

MAIN, SECOND = "main", "second"


class Audit(Protocol):
    """Where flips are written down."""

    def write(self, event: str, **facts: Any) -> bool:
        """Append a line."""
        ...


class Switch:
    """Which of two services is asked. It is on while somebody has flipped it, or the file exists.

    >>> switch = Switch(audit=NoAudit())
    >>> switch.flip(on=True, reason="index is being rebuilt", by="control")
    >>> switch.upstream, switch.reason
    ('second', 'index is being rebuilt')
    """

    def __init__(
        self,
        audit: Audit,
        flag_file: Path | None = None,
        count: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._audit = audit
        self._flag_file = flag_file
        self._count = count
        self._flipped: dict[str, str] = {}

    @property
    def on(self) -> bool:
        """Whether the second service is asked."""
        return bool(self._flipped)

    @property
    def reason(self) -> str:
        """Why, or an empty text."""
        return "; ".join(self._flipped.values())

    @property
    def upstream(self) -> str:
        """The name of the service that is asked now."""
        return SECOND if self.on else MAIN

    def flip(self, *, on: bool, reason: str, by: str) -> None:
        """Turn on or off what one side asks for; a flip that changes nothing is not written."""
        before, known = self.on, self._flipped.get(by)
        if on:
            self._flipped[by] = reason or by
        else:
            self._flipped.pop(by, None)
        if known == self._flipped.get(by) and before == self.on:
            return
        self._count("flips")
        self._audit.write("degrade", on=self.on, by=by, asked=on, reason=reason)

    def look(self) -> None:
        """See whether the file is there; called about twice a second."""
        if self._flag_file is None:
            return
        try:
            reason = self._flag_file.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            self.flip(on=False, reason="", by="file")
        else:
            self.flip(on=True, reason=reason[:500] or self._flag_file.name, by="file")


class NoAudit:
    """Writes nothing down."""

    def write(self, event: str, **facts: Any) -> bool:
        """Say that it is well."""
        return bool(event or facts)
