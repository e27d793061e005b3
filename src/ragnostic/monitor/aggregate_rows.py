"""An aggregate as a long table: a row for each group, stage and number, for files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from ragnostic.monitor.aggregate import Aggregate, Group
from ragnostic.monitor.cells import PERCENTILES, Json

_COUNTS = ("n", "missing", "unscored", "failed")
_CURVE = ("half_life", "plateau", "slope")


def aggregate_rows(found: Aggregate) -> pa.Table:
    """``from``, ``to``, a column for each slice, ``judge``, ``stage``, ``metric``, ``value``,
    ``n``, ``missing``, ``unscored``, ``failed``, ``low``, ``high``, ``mean_with_refusals`` and
    ``reason``. A slice is null in rows of the whole window; those of probes have no
    judge or stage.
    """
    window = {
        "from": found.window.shown(found.window.start),
        "to": found.window.shown(found.window.end),
    }
    # A column of its own name for a slice that is also a column: by judge, by stage.
    names = [name for name in found.by if name not in ("judge", "stage")]
    schema = pa.schema(
        [
            *((name, pa.string()) for name in ("from", "to", *names, "judge", "stage", "metric")),
            ("value", pa.float64()),
            *((name, pa.int64()) for name in _COUNTS),
            *((name, pa.float64()) for name in ("low", "high", "mean_with_refusals")),
            ("reason", pa.string()),
        ]
    )
    rows = [{**window, **row} for group in found.groups for row in _group(group, names)]
    if found.probes is not None:
        retrieval = found.probes["retrieval"] or {"metrics": {}}
        values = [*found.probes["metrics"].items(), *retrieval["metrics"].items()]
        rows += [{**window, **_number(name, value)} for name, value in values]
    return pa.Table.from_pylist(rows, schema)


def _group(group: Group, names: list[str]) -> Iterator[dict[str, Any]]:
    by = {name: None if group.by.get(name) is None else str(group.by[name]) for name in names}
    for stage, cell in group.stages.items():
        for row in _cell(cell):
            yield {**by, "judge": group.judge, "stage": stage, **row}


def _cell(cell: Json) -> Iterator[dict[str, Any]]:
    for name, value in cell["metrics"].items():
        yield _number(name, value)
    for name in _CURVE:
        yield _plain(name, (cell["curve"] or {}).get(name))
    latency: Mapping[str, Any] = cell["latency_ms"] or {}
    for percent in PERCENTILES:
        yield {
            **_plain(f"latency_ms.p{percent}", latency.get(f"p{percent}")),
            "n": latency.get("n"),
        }
    yield _number("coverage", {**cell["coverage"], "value": cell["coverage"]["share"]})
    yield _plain("context_logged", cell["context_logged"])
    if cell["tail_decay"] is not None:
        yield _number("tail_decay", cell["tail_decay"])


def _number(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    kept = (*_COUNTS, "low", "high", "mean_with_refusals", "reason")
    value = found.get("value") if "value" in found else found["mean"]
    return {"metric": name, "value": value, **{key: found.get(key) for key in kept}}


def _plain(name: str, value: float | None) -> dict[str, Any]:
    return {"metric": name, "value": value}
