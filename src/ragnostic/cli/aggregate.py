"""``ragnostic aggregate``: any window of live traffic, by any slices."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.aggregate_table import print_aggregate, warning_lines
from ragnostic.cli.console import print_json, print_warnings
from ragnostic.cli.label_table import print_sample
from ragnostic.cli.live_options import Store, open_lake
from ragnostic.evalset.qrels import load_qrels
from ragnostic.monitor.aggregate import SLICES, aggregate
from ragnostic.monitor.aggregate_rows import aggregate_rows
from ragnostic.monitor.label_sample import label_sample
from ragnostic.monitor.live_metrics import Selection
from ragnostic.monitor.windows import Window
from ragnostic.offline.per_query import write_per_query

_TIME = "a date, an ISO 8601 instant, now, or now-24h (m, h, d, w)"


def aggregate_command(
    *,
    store: Store,
    start: Annotated[str, typer.Option("--from", metavar="T", help=f"Start: {_TIME}.")],
    end: Annotated[str, typer.Option("--to", metavar="T", help="End, itself not in the window.")],
    by: Annotated[
        str, typer.Option(metavar="LIST", help=f"Slices, comma-separated: {', '.join(SLICES)}.")
    ] = "",
    metrics: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Metrics and signals (default: all that were scored)."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Qrels of a random sample of the records: hold the judges against them.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a row a number: .parquet, .csv or .jsonl."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Sum up a window of live traffic: the seven signals, each with n and interval.

    Dates and times without an offset are in the store's zone. Reads only; repeating it gives the
    same.
    """
    selection = None if metrics is None else Selection.parse(metrics)
    lake, zone = open_lake(store)
    window = Window.parse(start, end, zone=zone, now=datetime.now(UTC))
    names = [name.strip() for name in by.split(",") if name.strip()]
    found = aggregate(lake, window.start, window.end, by=names, metrics=selection, zone=zone)
    if out is not None:
        write_per_query(aggregate_rows(found), out)
    qrels = None if labels is None else load_qrels(labels)
    measured = None if selection is None else selection.metrics
    sample = None if qrels is None else label_sample(lake, window, qrels.table, metrics=measured)
    print_warnings([*map(str, qrels.faults if qrels else ()), *warning_lines(found)])
    if as_json:
        known = {} if sample is None else {"labels": [one.as_json() for one in sample]}
        print_json({**found.as_json(), **known})
    else:
        print_aggregate(found)
        print_sample(sample or ())
