"""What a comparison says aloud but does not refuse (METRICS 11), in plain words, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ragnostic.errors import counted
from ragnostic.offline.run_source import RunSource
from ragnostic.offline.settings_diff import SILENT, SettingChange, settings_diff
from ragnostic.report.run import count, mapping, text

_CHUNKER = "the chunker differs"
_PARTS = (
    ("retrieve.top_k", "top_k differs"),
    ("chunk.", _CHUNKER),
    ("embed.", "the embedder differs"),
    ("retrieve.", "the retriever differs"),
    ("rerank.", "the reranker differs"),
    ("", "other settings differ"),
)
"""Beginning of a setting's key → what it belongs to; the first that fits."""

_BIGGER_CHUNKS = (
    "at equal k bigger chunks always win: where chunkers differ, compare R(budget=2000)"
    " and token precision"
)
_SHOWN = 5
_HEX = 8


def announcements(
    base: RunSource, candidate: RunSource, stages: tuple[str, str], shared: int
) -> list[str]:
    """Lines about whatever differs between two runs beside their values.

    ``stages``: those that are compared, base and candidate; ``shared``: queries that both have.
    """
    lines: list[str] = []
    if stages[0] != stages[1]:
        lines.append(f"the stages differ: {stages[0]} of the base, {stages[1]} of the candidate")
    lines += _data(base, candidate, shared)
    lines += _settings(settings_diff(settings_of(base), settings_of(candidate)))
    lines += _versions(base, candidate)
    return lines


def settings_of(source: RunSource) -> Mapping[str, Any]:
    """The settings of a run; empty where it has none."""
    return mapping(source.meta.get("settings"))


def mixed_repeats(side: str, sources: Sequence[RunSource]) -> list[str]:
    """A line where the runs that stand for one system do not share their settings."""
    changed = [
        change.key
        for before, after in pairwise(sources)
        for change in settings_diff(settings_of(before), settings_of(after))
        if not change.key.startswith(SILENT)
    ]
    if not changed:
        return []
    return [f"the runs of the {side} do not share their settings: {_few(dict.fromkeys(changed))}"]


def _data(base: RunSource, candidate: RunSource, shared: int) -> Iterator[str]:
    before, after = (mapping(source.meta.get("data")) for source in (base, candidate))
    sets = [mapping(data.get("evaluation_set")) for data in (before, after)]
    if _other(*(found.get("sha256") for found in sets)):
        shown = " → ".join(_set(found) for found in sets)
        both = counted(shared, "query is", "queries are")
        yield f"the evaluation set differs: {shown}; {both} in both"
    corpora = [mapping(data.get("corpus")) for data in (before, after)]
    if bool(corpora[0]) != bool(corpora[1]):
        known = base if corpora[0] else candidate
        yield f"only {known.name} names its corpus: the other may have searched another one"
    elif _other(*(found.get("sha256") for found in corpora)):
        yield f"the corpus, as it was chunked, differs: {' → '.join(map(_corpus, corpora))}"
    judges = [mapping(source.meta.get("judge")) for source in (base, candidate)]
    if bool(judges[0]) != bool(judges[1]):
        known = base if judges[0] else candidate
        yield f"only {known.name} names its judge: the other may have been judged otherwise"


def _other(before: object, after: object) -> bool:
    return before is not None and after is not None and before != after


def _set(found: Mapping[str, Any]) -> str:
    return f"{_where(found)} ({counted(count(found.get('queries')), 'query', 'queries')})"


def _corpus(found: Mapping[str, Any]) -> str:
    parts = [f"{count(found[part])} {part}" for part in ("documents", "chunks") if part in found]
    return f"{_where(found)} ({', '.join([*parts, str(found['sha256'])[:_HEX]])})"


def _where(found: Mapping[str, Any]) -> str:
    return text(found.get("path")) or "?"


def _settings(changes: Sequence[SettingChange]) -> Iterator[str]:
    groups: dict[str, list[SettingChange]] = {}
    for change in changes:
        if not change.key.startswith(SILENT):
            words = next(words for start, words in _PARTS if change.key.startswith(start))
            groups.setdefault(words, []).append(change)
    for _, words in _PARTS:
        if words in groups:
            yield f"{words}: {_few(map(str, groups[words]))}"
        if words in groups and words == _CHUNKER:
            yield _BIGGER_CHUNKS


def _few(parts: Any) -> str:
    lines = list(parts)
    more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return "; ".join(lines[:_SHOWN]) + more


def _versions(base: RunSource, candidate: RunSource) -> Iterator[str]:
    before, after = (mapping(source.meta.get("versions")) for source in (base, candidate))
    changes = [
        change for change in settings_diff(before, after) if change.base and change.candidate
    ]
    own = [change for change in changes if change.key == "ragnostic"]
    if own:
        yield f"the version of ragnostic differs: {own[0].base} → {own[0].candidate}"
    others = [str(change) for change in changes if change.key != "ragnostic"]
    if others:
        yield f"other versions differ: {_few(others)}"
