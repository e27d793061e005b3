"""Silences: for some alerts, until a time, nobody is told anything; who asked for it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase

from ragnostic.errors import UsageError


@dataclass(frozen=True, slots=True)
class Silence:
    """Alerts that are kept quiet in [start, end).

    ``rule`` is a pattern of rule ids (``*`` stands for anything), ``labels`` maps slices to the
    one value each that is meant, ``severities`` are those meant, all of them where empty. ``id``
    is 0 until the book has given it a number. Times are aware.
    """

    start: datetime
    end: datetime
    reason: str
    author: str
    rule: str = "*"
    labels: Mapping[str, str] = field(default_factory=dict)
    severities: tuple[str, ...] = ()
    id: int = 0

    def is_on(self, now: datetime) -> bool:
        """Whether it holds at a time; its end is not part of it."""
        return self.start <= now < self.end

    def covers(self, rule: str, severity: str, labels: Mapping[str, str]) -> bool:
        """Whether an alert is meant: rule, severity and every slice that is named have to fit.

        >>> from datetime import UTC
        >>> day = datetime(2026, 3, 1, tzinfo=UTC)
        >>> one = Silence(day, day.replace(day=2), "sale", "li", "mrr-*", {"category": "refunds"})
        >>> one.covers("mrr-drop", "P1", {"category": "refunds", "service": "a"})
        True
        >>> one.covers("mrr-drop", "P1", {})
        False
        """
        return (
            fnmatchcase(rule, self.rule)
            and (not self.severities or severity in self.severities)
            and all(labels.get(name) == value for name, value in self.labels.items())
        )


def silence_of(
    silences: Iterable[Silence],
    rule: str,
    severity: str,
    labels: Mapping[str, str],
    now: datetime,
) -> Silence | None:
    """The silence that holds an alert back at a time: of several the one that ends last."""
    found = [one for one in silences if one.is_on(now) and one.covers(rule, severity, labels)]
    return max(found, key=lambda one: (one.end, one.id), default=None)


def check_silence(silence: Silence) -> None:
    """Raises UsageError for a silence that would hold nothing back, or of which nobody could say
    later whose it is and what for.
    """
    if silence.end <= silence.start:
        raise UsageError(
            f"the silence ends at {silence.end.isoformat()}, which is not after its start "
            f"{silence.start.isoformat()}",
            hint="--until takes a date, an instant, or a time from now such as 2h or 3d",
        )
    for name, value in (("--reason", silence.reason), ("--by", silence.author)):
        if not value.strip():
            raise UsageError(f"a silence needs {name}", hint="others will ask who did it and why")
