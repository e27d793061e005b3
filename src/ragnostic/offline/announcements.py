"""What a comparison says aloud but does not refuse (METRICS 11), in plain words, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ragnostic.offline.run_source import RunSource
from ragnostic.offline.settings_diff import SILENT, SettingChange, settings_diff
from ragnostic.report import announced
from ragnostic.report.announced import Announcement, Joined
from ragnostic.report.run import count, mapping, text

_PARTS = (
    ("retrieve.top_k", announced.TOP_K),
    ("chunk.", announced.CHUNKER),
    ("embed.", announced.EMBEDDER),
    ("retrieve.", announced.RETRIEVER),
    ("rerank.", announced.RERANKER),
    ("", announced.OTHER_SETTINGS),
)
"""Beginning of a setting's key → what is said of it; the first that fits."""

_SHOWN = 5
_HEX = 8


def announcements(
    base: RunSource, candidate: RunSource, stages: tuple[str, str], shared: int
) -> list[str]:
    """Lines about whatever differs between two runs beside their values, in English; a page says
    them in its language (:func:`ragnostic.report.announced.in_words`).

    ``stages``: those that are compared, base and candidate; ``shared``: queries that both have.
    """
    lines: list[str] = []
    if stages[0] != stages[1]:
        before, after = stages
        lines.append(Announcement.of(announced.STAGES, base=before, candidate=after))
    lines += _data(base, candidate, shared)
    lines += _settings(settings_diff(settings_of(base), settings_of(candidate)))
    lines += _versions(base, candidate)
    return lines


def settings_of(source: RunSource) -> Mapping[str, Any]:
    """The settings of a run; empty where it has none."""
    return mapping(source.meta.get("settings"))


def repeats(side: str, sources: Sequence[RunSource], runs: int) -> list[str]:
    """Lines about ``runs`` runs that stand for one system: that they are averaged, and which
    settings they do not share. ``side``: ``announced.BASE`` or ``announced.CANDIDATE``.
    """
    if runs < 2:
        return []
    changed = [
        change.key
        for before, after in pairwise(sources)
        for change in settings_diff(settings_of(before), settings_of(after))
        if not change.key.startswith(SILENT)
    ]
    named = Announcement.of(side)
    lines: list[str] = [Announcement.of(announced.REPEATED, side=named, count=runs)]
    if changed:
        keys = _few(dict.fromkeys(changed))
        lines.append(Announcement.of(announced.MIXED, side=named, settings=keys))
    return lines


def _data(base: RunSource, candidate: RunSource, shared: int) -> Iterator[str]:
    before, after = (mapping(source.meta.get("data")) for source in (base, candidate))
    sets = [mapping(data.get("evaluation_set")) for data in (before, after)]
    if _other(*(found.get("sha256") for found in sets)):
        both = _counted(announced.ONE_SHARED, announced.SHARED, shared)
        shown = dict(zip(("base", "candidate"), map(_set, sets), strict=True))
        yield Announcement.of(announced.EVALUATION_SET, shared=both, **shown)
    corpora = [mapping(data.get("corpus")) for data in (before, after)]
    if bool(corpora[0]) != bool(corpora[1]):
        known = base if corpora[0] else candidate
        yield Announcement.of(announced.ONE_CORPUS, name=known.name)
    elif _other(*(found.get("sha256") for found in corpora)):
        first, last = map(_corpus, corpora)
        yield Announcement.of(announced.CORPUS, base=first, candidate=last)
    judges = [mapping(source.meta.get("judge")) for source in (base, candidate)]
    if bool(judges[0]) != bool(judges[1]):
        known = base if judges[0] else candidate
        yield Announcement.of(announced.ONE_JUDGE, name=known.name)


def _other(before: object, after: object) -> bool:
    return before is not None and after is not None and before != after


def _set(found: Mapping[str, Any]) -> str:
    queries = count(found.get("queries"))
    return _counted(announced.ONE_QUERY, announced.QUERIES, queries, path=_where(found))


def _counted(one: str, many: str, number: int, **values: str) -> str:
    if number == 1:
        return Announcement.of(one, **values)
    return Announcement.of(many, count=number, **values)


def _corpus(found: Mapping[str, Any]) -> str:
    sizes = (("documents", announced.DOCUMENTS), ("chunks", announced.CHUNKS))
    parts = [
        Announcement.of(message, count=count(found[part]))
        for part, message in sizes
        if part in found
    ]
    known = Joined.of([*parts, str(found["sha256"])[:_HEX]])
    return Announcement.of(announced.CORPUS_SIZE, path=_where(found), parts=known)


def _where(found: Mapping[str, Any]) -> str:
    return text(found.get("path")) or "?"


def _settings(changes: Sequence[SettingChange]) -> Iterator[str]:
    groups: dict[str, list[SettingChange]] = {}
    for change in changes:
        if not change.key.startswith(SILENT):
            message = next(said for start, said in _PARTS if change.key.startswith(start))
            groups.setdefault(message, []).append(change)
    for _, message in _PARTS:
        if message in groups:
            yield Announcement.of(message, settings=_few(map(str, groups[message])))
        if message in groups and message == announced.CHUNKER:
            yield Announcement.of(announced.BIGGER_CHUNKS)


def _few(parts: Iterable[str]) -> Joined | Announcement:
    lines = list(parts)
    shown = Joined.of(lines[:_SHOWN], "; ")
    if len(lines) <= _SHOWN:
        return shown
    return Announcement.of(announced.MORE, list=shown, count=len(lines) - _SHOWN)


def _versions(base: RunSource, candidate: RunSource) -> Iterator[str]:
    before, after = (mapping(source.meta.get("versions")) for source in (base, candidate))
    changes = [
        change for change in settings_diff(before, after) if change.base and change.candidate
    ]
    for change in changes:
        if change.key == "ragnostic" and change.base and change.candidate:
            yield Announcement.of(announced.VERSION, base=change.base, candidate=change.candidate)
    others = [str(change) for change in changes if change.key != "ragnostic"]
    if others:
        yield Announcement.of(announced.OTHER_VERSIONS, settings=_few(others))
