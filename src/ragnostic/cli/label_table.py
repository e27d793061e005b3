"""How good the judges are by a labelled sample, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import typer

from ragnostic.cli.console import print_table
from ragnostic.errors import counted
from ragnostic.judges.quality import JudgeQuality
from ragnostic.metrics import Metric
from ragnostic.monitor.label_sample import StageQuality
from ragnostic.report.numbers import decimal, percent, signed
from ragnostic.report.visible import visible
from ragnostic.stats.prediction_powered import Interval

_HEAD = ("metric", "judge", "bias", "corrected", "low", "high", "labels alone", "low", "high")


def print_sample(sample: Iterable[StageQuality]) -> None:
    """A table a judge and stage: its means, corrected, beside what the labels alone give."""
    for one in sample:
        labelled = counted(one.quality.labelled, "labelled record")
        typer.echo(f"\njudge {visible(one.judge)}, stage {visible(one.stage)}, by {labelled}:")
        typer.echo(agreement_line(one.quality))
        print_table(_HEAD, list(_rows(one.quality)))
        typer.echo("judge: its mean of these records, 0 where it found nothing relevant")


def agreement_line(quality: JudgeQuality) -> str:
    """What the judge covers, and how far it agrees with the labels."""
    found = quality.coverage.found.share
    parts = [f"found something relevant for {'–' if found is None else percent(found, 1)}"]
    agreement = quality.agreement
    if agreement is None:
        return f"{parts[0]}; it spoke of no labelled pair"
    relevant = agreement.relevant
    parts.append(f"{counted(relevant.n, 'labelled pair')}: equal {decimal(relevant.observed)}")
    parts.append(f"κ {decimal(relevant.kappa)}")
    parts.append(f"precision {decimal(agreement.precision.share)}")
    parts.append(f"recall {decimal(agreement.recall.share)}")
    return ", ".join(parts)


def _rows(quality: JudgeQuality) -> Iterator[list[str]]:
    for name, mean in quality.means.items():
        yield [
            Metric.parse(name).label,
            decimal(mean.judge),
            signed(mean.bias),
            decimal(mean.mean),
            *_ends(mean.interval),
            decimal(mean.gold),
            *_ends(mean.gold_interval),
        ]


def _ends(interval: Interval | None) -> tuple[str, str]:
    low, high = interval or (None, None)
    return decimal(low), decimal(high)
