"""An aggregate for people: the seven signals first, then everything else, then the slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from ragnostic.cli.console import print_table
from ragnostic.errors import counted
from ragnostic.metrics import Metric
from ragnostic.monitor.aggregate import Aggregate, Group
from ragnostic.monitor.live_metrics import QER, RBO, RCS, RDS, RDS_NORM, SIGNALS
from ragnostic.report.numbers import NOTHING, decimal, milliseconds, percent
from ragnostic.report.visible import visible

_HEAD = ("signal", "value", "low", "high", "n", "missing", "unscored", "failed", "note")
_SHOWN_FIRST = ("RR", "R", "AP", "nDCG")
_SLICED = ("RR@5", "R@10", "AP@10", "nDCG@10", QER, RDS)
_FAULTS = {
    "negative_duration": ("row has a negative duration", "rows have a negative duration"),
    "missing_duration": ("row has no duration", "rows have no duration"),
    "zero_vector": (
        "row has a relevant chunk whose vector has no direction",
        "rows have a relevant chunk whose vector has no direction",
    ),
    "duplicate_retrieved": ("repeated chunk id in a ranking", "repeated chunk ids in rankings"),
    "unknown_retrieved": (
        "retrieved chunk is not in the corpus snapshot",
        "retrieved chunks are not in the corpus snapshot: has it the chunk ids of the service?",
    ),
    "unresolved_context": (
        "chunk given to the generator is unknown",
        "chunks given to the generator are unknown",
    ),
}


def print_aggregate(found: Aggregate) -> None:
    """Tables on stdout; says that there is no data where there is none."""
    window = f"{found.window.shown(found.window.start)} to {found.window.shown(found.window.end)}"
    if not found.records:
        typer.echo(f"no data: no record was scored from {window} ({found.window.zone})")
    else:
        typer.echo(f"{window} ({found.window.zone}): {counted(found.records, 'record')}")
    for group in found.groups:
        if not group.by:
            _print_group(group, found.probes)
    for judge in dict.fromkeys(group.judge for group in found.groups) if found.by else ():
        _print_slices(found, [g for g in found.groups if g.by and g.judge == judge])
    if not found.groups and found.probes is not None:
        print_table(_HEAD, _probe_rows(found.probes))


def _title(group: Group) -> str:
    versions = f" {', '.join(group.versions)}" if group.versions else ""
    return f"judge {group.judge}{versions}" if group.judge else "records that nobody judged"


def _print_group(group: Group, probes: dict[str, Any] | None) -> None:
    for stage, cell in group.stages.items():
        status = ", ".join(f"{count} {name}" for name, count in cell["statuses"].items())
        typer.echo(f"\n{visible(_title(group))}, stage {visible(stage)}: {status}")
        print_table(_HEAD, [*_signal_rows(cell, probes), *_other_rows(cell)])


def _signal_rows(cell: dict[str, Any], probes: dict[str, Any] | None) -> Iterator[list[str]]:
    metrics = cell["metrics"]
    for name in sorted(_first(metrics), key=_order):
        yield _row(Metric.parse(name).label, metrics[name], _rank_note(name, metrics[name]))
        if name.startswith("R@") and cell["curve"] is not None:
            yield _curve_row(cell["curve"])
    if QER in metrics:
        yield _row(QER, metrics[QER], _qer_note(metrics[QER]))
    for name in (RDS, RDS_NORM):
        if name in metrics:
            spread = metrics[name]["mean_spread"]
            note = "" if spread is None else f"mean spread {decimal(spread)}"
            yield _row(name, metrics[name], note)
    yield from _probe_rows(probes)


def _first(metrics: dict[str, Any]) -> list[str]:
    """Of each relevance signal the name that a person looks at first."""
    found: list[str] = []
    for wanted in _SHOWN_FIRST:
        names = [name for name in metrics if name not in SIGNALS and _is(name, wanted)]
        soft = [name for name in names if wanted == "RR" and "weight=soft" in name]
        valued = [name for name in names if metrics[name]["mean"] is not None]
        best = soft or (["R@10"] if wanted == "R" and "R@10" in valued else valued) or names
        found += best[:1]
    return found


def _is(name: str, wanted: str) -> bool:
    return Metric.parse(name).name == wanted


def _order(name: str) -> int:
    return _SHOWN_FIRST.index(Metric.parse(name).name)


def _rank_note(name: str, found: dict[str, Any]) -> str:
    """1/MRR as people read it (METRICS 2)."""
    mean = found["mean"]
    return f"first useful passage at rank {1 / mean:.1f}" if mean and _is(name, "RR") else ""


def _curve_row(curve: dict[str, Any]) -> list[str]:
    parts = (curve["half_life"], curve["plateau"], decimal(curve["slope"]))
    half_life, plateau, slope = (NOTHING if part is None else str(part) for part in parts)
    note = f"plateau {plateau}, slope {slope}, drawn to {curve['depth'][-1]}"
    return ["half-life of recall", half_life, *[NOTHING] * 6, note]


def _qer_note(found: dict[str, Any]) -> str:
    notes = [_latency(found["latency_ms"])] if found["latency_ms"] else []
    if found["n"] and found["context_logged"] is not None:
        notes.append(f"context logged {percent(found['context_logged'], 1)}")
    if found["whole_request"]:
        notes.append(f"{counted(found['whole_request'], 'row')} timed as whole requests")
    return ", ".join(notes)


def _latency(found: dict[str, Any]) -> str:
    return ", ".join(f"P{name[1:]} {milliseconds(found[name])}" for name in ("p50", "p95", "p99"))


def _probe_rows(probes: dict[str, Any] | None) -> Iterator[list[str]]:
    if probes is None:
        nothing = [RCS, *[NOTHING] * 7, "no pair of rerankings was probed: ragnostic rcs"]
        yield nothing
        return
    for name in (RCS, RBO):
        if name in probes["metrics"]:
            yield _row(name, probes["metrics"][name], counted(probes["pairs"], "pair"))
    retrieval = probes["retrieval"] or {"metrics": {}}
    for name, found in retrieval["metrics"].items():
        yield _row(name, found, f"{counted(retrieval['new'], 'query', 'queries')} not asked before")


def _other_rows(cell: dict[str, Any]) -> Iterator[list[str]]:
    shown = {*_first(cell["metrics"]), *SIGNALS}
    for name, found in cell["metrics"].items():
        if name not in shown:
            yield _row(Metric.parse(name).label, found)
    coverage = cell["coverage"]
    yield _row("coverage", {**coverage, "value": coverage["share"]}, "any relevant chunk found")
    decay = cell["tail_decay"]
    if decay is not None:
        note = f"{decay['metric']}, {decay['head']} head and {decay['tail']} tail"
        yield _row("tail decay", decay, note)
    length = cell["length"]
    if length is not None:
        yield _row("length (Spearman)", {**length, "value": length["rho"]}, length["metric"])
    if cell["latency_ms"] is not None:
        count = str(cell["latency_ms"]["n"])
        note = _latency(cell["latency_ms"])
        yield ["latency", NOTHING, NOTHING, NOTHING, count, *[NOTHING] * 3, note]


def _row(label: str, found: dict[str, Any], note: str = "") -> list[str]:
    value = found["value"] if "value" in found else found["mean"]
    numbers = [decimal(value), decimal(found["low"]), decimal(found["high"])]
    counts = (found.get(name) for name in ("n", "missing", "unscored", "failed"))
    notes = [note] if note else []
    refusals = found.get("mean_with_refusals")
    if refusals is not None and value is not None and refusals < value:
        notes.append(f"{decimal(refusals)} with refusals as 0")
    if "reason" in found:
        notes.append(found["reason"])
    shown = [NOTHING if count is None else str(count) for count in counts]
    return [label, *numbers, *shown, "; ".join(notes)]


def _print_slices(found: Aggregate, groups: list[Group]) -> None:
    if not groups:
        return
    typer.echo(f"\n{visible(_title(groups[0]))}, by {', '.join(found.by)}")
    present = {
        name for group in groups for cell in group.stages.values() for name in cell["metrics"]
    }
    names = [name for name in _SLICED if name in present]
    labels = [name if name in SIGNALS else Metric.parse(name).label for name in names]
    rows = []
    for group in groups:
        values = [NOTHING if group.by[name] is None else str(group.by[name]) for name in found.by]
        for stage, cell in group.stages.items():
            latency = cell["latency_ms"] or {}
            numbers = [_value(cell["metrics"].get(name)) for name in names]
            rows.append(
                [*values, stage, str(cell["rows"]), *numbers, milliseconds(latency.get("p95"))]
            )
    head = [*found.by, "stage", "rows", *labels, "P95"]
    print_table(head, rows, text_columns=len(found.by) + 1)


def _value(found: dict[str, Any] | None) -> str:
    if found is None:
        return NOTHING
    return decimal(found["value"] if "value" in found else found["mean"])


def warning_lines(found: Aggregate) -> Iterator[str]:
    """What a person should know of the data: faults, contexts that were not logged, versions."""
    for group in found.groups:
        if group.by:
            continue
        if len(group.versions) > 1:
            yield f"judge {group.judge} has several versions here: {', '.join(group.versions)}"
        for stage, cell in group.stages.items():
            for kind, count in cell["faults"].items():
                if count:
                    yield f"{stage}: {counted(count, *_FAULTS[kind])}"
            logged = cell["context_logged"]
            if logged is not None and logged < 1 and QER in cell["metrics"]:
                yield (
                    f"{stage}: of {percent(1 - logged, 1)} of the rows it is not known what the "
                    f"generator was given; their relevant chunks of the top 5 count as used"
                )
