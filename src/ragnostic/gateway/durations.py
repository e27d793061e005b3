"""How long things took: a negative or missing duration is a fault and no value (METRICS 6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ragnostic.corpus.strict_json import RowError
from ragnostic.evalset.record_values import instant


def read_durations(
    found: dict[str, Any],
    stages: dict[str, dict[str, Any]],
    given: Mapping[str, Any],
    zone: str,
) -> list[str]:
    """Put ``latency_ms`` and each stage's ``took_ms`` right, in place; the kinds of faults found.

    Where there is no duration, it is worked out from ``started`` and ``ended``. A record without
    any duration is a fault too.

    >>> found = {}
    >>> read_durations(found, {}, {"started": 1767225601000, "ended": 1767225600900}, "UTC")
    ['negative_duration']
    >>> found
    {}
    """
    faults: list[str] = []
    times = (given.get("started"), given.get("ended"))
    faults += _settle(found, "latency_ms", times, zone)
    for stage in stages.values():
        times = (stage.pop("started", None), stage.pop("ended", None))
        faults += _settle(stage, "took_ms", times, zone)
    known = "latency_ms" in found or any("took_ms" in stage for stage in stages.values())
    if not known and not faults:
        faults.append("no_duration")
    return faults


def _settle(values: dict[str, Any], name: str, times: tuple[Any, Any], zone: str) -> list[str]:
    started, ended = times
    if name in values:
        if values[name] >= 0:
            return []
        del values[name]
        return ["negative_duration"]
    if started is None:
        return []
    if not ended:
        return ["no_end"]
    took_ms = (_moment(ended, zone) - _moment(started, zone)).total_seconds() * 1000
    if took_ms < 0:
        return ["negative_duration"]
    values[name] = took_ms
    return []


def _moment(value: Any, zone: str) -> datetime:
    try:
        return instant(value.isoformat() if isinstance(value, datetime) else value, zone)
    except RowError as error:
        raise RowError(str(error).replace("ts ", "the start or end ", 1)) from None
