"""The small print: header, data faults, settings, versions, fingerprints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ragnostic.report.numbers import seconds
from ragnostic.report.page import FactTable, FaultGroup, Header
from ragnostic.report.run import RunData, count, mapping, number, text

EXAMPLES = 5

_SECRET = re.compile(r"(authori[sz]ation|api[-_]?key|secret|password|bearer|token)$", re.IGNORECASE)
_TABLES = ("data", "judge", "rerank", "durations", "versions", "git")


def header(run: RunData) -> Header:
    """What was measured, by name and size."""
    meta = run.meta
    corpus = mapping(mapping(meta.get("data")).get("corpus"))
    settings = mapping(meta.get("settings"))
    return Header(
        run=text(meta.get("run")) or "",
        name=text(meta.get("name")),
        created=text(meta.get("created")),
        queries=run.records.num_rows,
        documents=_size(corpus.get("documents")),
        chunks=_size(corpus.get("chunks")),
        stages=run.stages,
        parts=tuple(
            (stage, str(use))
            for stage in run.stages
            if (use := mapping(settings.get(stage)).get("use"))
        ),
    )


def _size(value: object) -> int | None:
    return None if number(value) is None else count(value)


def fault_groups(run: RunData) -> tuple[FaultGroup, ...]:
    """Faults of the run and of its stages by kind, most frequent first; one said twice counts
    once.
    """
    groups: dict[str, dict[str, int]] = {}
    for fault in _faults(run):
        kind, line, rows = _fault(fault)
        lines = groups.setdefault(kind, {})
        lines[line] = max(rows, lines.get(line, 0))
    found = [
        FaultGroup(
            kind, sum(lines.values()), tuple(lines)[:EXAMPLES], max(len(lines) - EXAMPLES, 0)
        )
        for kind, lines in groups.items()
    ]
    return tuple(sorted(found, key=lambda group: (-group.count, group.kind)))


def _faults(run: RunData) -> Iterable[object]:
    yield from run.meta.get("warnings") or ()
    for stage in run.stages:
        yield from run.stage_meta(stage).get("warnings") or ()


def _fault(fault: object) -> tuple[str, str, int]:
    if not isinstance(fault, Mapping):
        return "other", str(fault), 1
    message = str(fault.get("message") or "")
    where = text(fault.get("where"))
    line = f"{where}: {message}" if where else message
    return str(fault.get("kind") or "other"), line, count(fault.get("count", 1))


def fact_tables(run: RunData) -> tuple[FactTable, ...]:
    """Settings section by section, then data, judge, durations, versions and git."""
    tables = [
        FactTable(f"settings.{name}", tuple(_flat(section)))
        for name, section in mapping(run.meta.get("settings")).items()
        if section is not None
    ]
    for name in _TABLES:
        section = mapping(run.meta.get(name))
        rows = _durations(section) if name == "durations" else _flat(section)
        tables.append(FactTable(name, tuple(rows)))
    return tuple(table for table in tables if table.rows)


def _durations(section: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in section.items():
        yield str(name), seconds(number(value))


def _flat(value: object, prefix: str = "") -> Iterable[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _flat(entry, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(value, list | tuple) and any(isinstance(entry, Mapping) for entry in value):
        for place, entry in enumerate(value):
            yield from _flat(entry, f"{prefix}[{place}]")
    else:
        yield prefix, setting_text(prefix, value)


def setting_text(key: str, value: object) -> str:
    """A setting as people read it; what looks like a secret by its name is not shown.

    >>> setting_text("top_k", 50), setting_text("embed.api_key", "s3cret"), setting_text("a", None)
    ('50', '•••', '–')
    """
    return "•••" if _SECRET.search(key) else _value(value)


def _value(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(_value(entry) for entry in value)
    return str(value)
