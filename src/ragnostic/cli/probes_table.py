"""Pairs of rankings as an object and as a table: a row a perturbation, with what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragnostic.cli.console import print_table
from ragnostic.errors import counted
from ragnostic.monitor.live_metrics import OVERLAP, OVERLAP_RBO, RBO, RCS
from ragnostic.monitor.probes import probe_summary
from ragnostic.report.numbers import decimal


def summary_of(
    pairs: pa.Table,
    kinds: Sequence[str],
    *,
    failed: Mapping[str, int],
    unchanged: Mapping[str, int],
) -> dict[str, Any]:
    """:func:`~ragnostic.monitor.probes.probe_summary` with every perturbation that was asked for,
    in their order, the pairs that failed calls broke, and the queries that it does not change.
    """
    summary = probe_summary(pairs)
    for kind in kinds:
        broken, same = failed.get(kind, 0), unchanged.get(kind, 0)
        found = summary["perturbations"].setdefault(kind, _nothing(pairs, broken, same))
        for value in found.values():
            value["failed"] = broken
    return {
        **summary,
        "perturbations": {kind: summary["perturbations"][kind] for kind in kinds},
        "unchanged": {kind: unchanged.get(kind, 0) for kind in kinds},
    }


def _nothing(pairs: pa.Table, failed: int, unchanged: int) -> dict[str, Any]:
    empty = probe_summary(pairs.slice(0, 0))["metrics"]
    if not failed and unchanged:
        for value in empty.values():
            value["reason"] = "it changes no query"
    return dict(empty)


def print_rerankings(summary: Mapping[str, Any]) -> None:
    """RCS and RBO, over all and by perturbation."""
    rows = [_row("all", summary["metrics"], "")]
    for kind, metrics in summary["perturbations"].items():
        unchanged = summary["unchanged"][kind]
        note = f"{unchanged} not changed by it" if unchanged else ""
        rows.append(_row(kind, metrics, note))
    head = ["perturbation", RCS, "low", "high", RBO, "n", "unscored", "failed", "note"]
    print_table(head, rows)


def _row(name: str, metrics: Mapping[str, Any], note: str) -> list[str]:
    found = metrics[RCS]
    numbers = [decimal(found[key]) for key in ("mean", "low", "high")]
    counts = [str(found[key]) for key in ("n", "unscored", "failed")]
    notes = [text for text in (note, found.get("reason")) if text]
    return [name, *numbers, decimal(metrics[RBO]["mean"]), *counts, "; ".join(notes)]


def print_retrieval(found: Mapping[str, Any], failed: int) -> None:
    """Retrieval against the day before."""
    metrics = found["metrics"]
    overlap = metrics[OVERLAP]
    numbers = [decimal(overlap[key]) for key in ("mean", "low", "high")]
    counts = [str(overlap["n"]), str(failed)]
    new = f"{counted(found['new'], 'query', 'queries')} not asked before" if found["new"] else ""
    note = "; ".join(text for text in (new, overlap.get("reason")) if text)
    head = ["against the day before", OVERLAP, "low", "high", OVERLAP_RBO, "n", "failed", "note"]
    rows = [["retrieval", *numbers, decimal(metrics[OVERLAP_RBO]["mean"]), *counts, note]]
    print_table(head, rows)
