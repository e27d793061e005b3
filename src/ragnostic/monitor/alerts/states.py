"""What is known of one alert: a rule on one slice value. Kept in the book as JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from ragnostic.ports import Notice
from ragnostic.stats.ewma import Baseline

Status = Literal["inactive", "pending", "firing", "resolved"]
Ending = Literal["", "cleared", "rebaselined", "closed", "withdrawn"]
"""How the last episode ended: by itself, by a new baseline, by hand, or with its rule."""


class AlertKey(NamedTuple):
    """Which alert: ``slice`` and ``value`` are empty where the rule looks at everything."""

    rule: str
    judge: str = ""
    stage: str = ""
    slice: str = ""
    value: str = ""

    @property
    def labels(self) -> dict[str, str]:
        """The slice value that it is limited to.

        >>> AlertKey("a", slice="category", value="refunds").labels, AlertKey("a").labels
        ({'category': 'refunds'}, {})
        """
        return {self.slice: self.value} if self.slice else {}

    @property
    def id(self) -> str:
        """Eight hex digits that name it on the command line and in the keys of messages.

        >>> AlertKey("mrr-drop").id, AlertKey("mrr-drop", slice="category", value="refunds").id
        ('9f2f3173', 'a9823407')
        """
        text = "\x1f".join(self).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=4).hexdigest()


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found in the newest window, as the rule saw it. ``state``: breach, hold, clear or
    no data.
    """

    state: str = "no data"
    value: float | None = None
    reference: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str = ""
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What people were told last: of which episode, when, and whether its end is still to come."""

    is_open: bool = False
    episode: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Somebody has seen it; it holds for the episode."""

    author: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True)
class AlertState:
    """One alert. Times are aware, in UTC.

    ``count``: breaches in a row of a pending alert. ``since``: start of the first window of the
    row of breaches; of a resolved alert too. ``fired``: end of the window in which it began to
    fire. ``window``: start of the newest window that was looked at. ``episode`` numbers the times
    that it fired. ``silence``: id of the silence that holds it back, 0 for none; ``inhibitor``:
    the rule that does. ``baselines``: by season, 0 alone where there is none; ``shadows``: what is
    learned of the new level while the rule fires.
    """

    status: Status = "inactive"
    count: int = 0
    since: datetime | None = None
    fired: datetime | None = None
    window: datetime | None = None
    episode: int = 0
    ending: Ending = ""
    told: Told = Told()
    acknowledged: Acknowledgement | None = None
    silence: int = 0
    inhibitor: str = ""
    reading: Reading = Reading()
    baselines: Mapping[int, Baseline] = field(default_factory=dict)
    shadows: Mapping[int, Baseline] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Track:
    """An alert and its last windows, so that one that late rows re-open is looked at again.

    ``settled`` is the state before the ``recent`` windows, each of which is its start and a digest
    of what it held; ``definition`` a digest of what the rule measures: where that changes, it all
    starts anew. ``notice`` is that by which people know of the episode that is open.
    """

    state: AlertState = AlertState()
    settled: AlertState = AlertState()
    recent: tuple[tuple[datetime, str], ...] = ()
    definition: str = ""
    notice: Notice | None = None
