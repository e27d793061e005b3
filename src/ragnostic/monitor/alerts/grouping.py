"""Fewer messages that say more: inhibition of what a graver alert says already, and one message
for many slices of a rule.

**Inhibition.** While an alert fires, beginnings and reminders of lighter ones about the same thing
are held back: a P0 holds back a P1 and a P2, a P1 a P2, where both look at the same metric, at
the same stage, under the same judge, and the graver one *covers* the other: every slice value it
is limited to (a service, a category) is one of the other's too. An alert on everything covers
every slice; an alert on ``category = refunds`` covers ``category = refunds`` and nothing else. What
is held back is told when the graver one ends, if it still fires. The end of what was told is
always told. Only alerts that *fire* hold others back, silenced ones too.

**Grouping.** Alerts of one rule that begin in the same check are one message a channel, with the
worst slice in front and the others named. Its end is told once, when the last of them is over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ragnostic.notify.sentences import number
from ragnostic.ports import Notice
from ragnostic.report.visible import excerpt

_NAMED = 5
"""Slice values that a message names; the others are counted."""
_LONGEST = 40
"""Characters of one slice value in a list of several."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What an alert is about. ``labels``: the slice values that it is limited to."""

    rule: str
    severity: str
    metric: str
    stage: str = ""
    judge: str = ""
    labels: Mapping[str, str] | None = None

    def covers(self, other: Subject) -> bool:
        """Whether all that the other one looks at is looked at by this one too.

        >>> whole = Subject("a", "P0", "RR@5")
        >>> refunds = Subject("b", "P1", "RR@5", labels={"category": "refunds"})
        >>> whole.covers(refunds), refunds.covers(whole)
        (True, False)
        """
        others = other.labels or {}
        return (self.metric, self.stage, self.judge) == (
            other.metric,
            other.stage,
            other.judge,
        ) and all(others.get(name) == value for name, value in (self.labels or {}).items())


class Inhibition:
    """Who is held back by the alerts that fire."""

    def __init__(self, firing: Iterable[Subject]) -> None:
        self._firing: dict[tuple[str, str, str], list[Subject]] = {}
        for subject in sorted(firing, key=lambda one: (one.severity, one.rule)):
            place = (subject.metric, subject.stage, subject.judge)
            self._firing.setdefault(place, []).append(subject)

    def inhibitor(self, subject: Subject) -> str:
        """The rule of the gravest alert that says it already; empty where none does.

        >>> grave, light = Subject("a", "P0", "RCS@10"), Subject("b", "P1", "RCS@10")
        >>> Inhibition([grave, light]).inhibitor(light), Inhibition([light]).inhibitor(light)
        ('a', '')
        """
        for graver in self._firing.get((subject.metric, subject.stage, subject.judge), ()):
            if graver.severity >= subject.severity:
                return ""
            if graver.covers(subject):
                return graver.rule
        return ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """One message, and the keys of the episodes that it tells of, ``worst`` in front."""

    notice: Notice
    members: tuple[str, ...]
    worst: str


def bundles(notices: Sequence[Notice]) -> list[Bundle]:
    """The messages for notices of one check and one channel: those of one rule, kind and severity
    together, in the order in which they first come.
    """
    groups: dict[tuple[str, str, str], list[Notice]] = {}
    for notice in notices:
        groups.setdefault((notice.rule, notice.kind, notice.severity), []).append(notice)
    return [_bundle(group) for group in groups.values()]


def _bundle(group: Sequence[Notice]) -> Bundle:
    keys = tuple(notice.key for notice in group)
    if len(group) == 1:
        return Bundle(group[0], keys, keys[0])
    ordered = sorted(group, key=_deviation, reverse=True)
    worst = ordered[0]
    return Bundle(
        replace(
            worst,
            key=message_key(worst.rule, keys),
            slice=_shared(ordered),
            since=min(notice.since for notice in group),
            summary={
                language: _joined(worst.summary.get(language, ""), _listed(ordered, language))
                for language in ("zh", "en")
            },
        ),
        keys,
        worst.key,
    )


def message_key(rule: str, keys: Iterable[str]) -> str:
    """The key of a message about several episodes: the same for the same ones.

    >>> message_key("mrr-drop", ["b", "a"]) == message_key("mrr-drop", ["a", "b"])
    True
    """
    text = "\n".join(sorted(keys)).encode("utf-8", "surrogatepass")
    return f"{rule}:group:{hashlib.blake2b(text, digest_size=8).hexdigest()}"


def _deviation(notice: Notice) -> tuple[float, int]:
    """How far off it is, and of several that are equally far, how many rows say so."""
    if notice.value is None or notice.reference is None:
        return 0.0, notice.n
    return abs(notice.value - notice.reference), notice.n


def _shared(ordered: Sequence[Notice]) -> dict[str, str]:
    """The slice values of the group: what all have in common, and the worst ones of the rest."""
    shown: dict[str, str] = {}
    for column in ordered[0].slice:
        values = list(dict.fromkeys(notice.slice.get(column, "") for notice in ordered))
        more = f", … ({len(values)})" if len(values) > _NAMED else ""
        shown[column] = ", ".join(excerpt(one, _LONGEST) for one in values[:_NAMED]) + more
    return shown


def _listed(ordered: Sequence[Notice], language: str) -> str:
    """One sentence that names the members with their values, the worst first."""
    named = [_named(notice, language) for notice in ordered[:_NAMED]]
    more = len(ordered) - len(named)
    if language == "zh":
        tail = f"，另有 {more} 个" if more else ""
        return f"共 {len(ordered)} 个分片，最严重的在前：{'，'.join(named)}{tail}。"
    tail = f", and {more} more" if more else ""
    return f"{len(ordered)} slices, the worst first: {', '.join(named)}{tail}."


def _named(notice: Notice, language: str) -> str:
    values = excerpt("/".join(notice.slice.values()), _LONGEST) or "–"
    spoken = number(notice.metric, notice.value, "zh" if language == "zh" else "en")
    return f"{values} {spoken}"


def _joined(first: str, second: str) -> str:
    blank = " " if first and not first.endswith("。") else ""
    return f"{first}{blank}{second}"
