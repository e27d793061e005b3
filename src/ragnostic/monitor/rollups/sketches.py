"""Latency sketches: percentiles within 1 %, which can be merged (METRICS 13)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ragnostic.metrics.inputs import Floats

ACCURACY = 0.01
"""Largest relative error of a percentile."""
_GAMMA = (1 + ACCURACY) / (1 - ACCURACY)


def sketch_of(values: Floats) -> bytes:
    """A DDSketch of durations, as bytes; (n,) of at least 0, without NaN.

    Source: Masson, Rim & Lee 2019, DDSketch, VLDB 12:2195.

    >>> round(percentile([sketch_of(np.array([0.1] * 90 + [2.0] * 10))], 95), 1)
    2.0
    """
    from ddsketch import DDSketch  # noqa: PLC0415 - heavy, loaded on use
    from ddsketch.pb.proto import DDSketchProto  # noqa: PLC0415 - the same

    sketch = DDSketch(ACCURACY)
    for value, count in zip(*_binned(values), strict=True):
        sketch.add(value, float(count))
    written: bytes = DDSketchProto.to_proto(sketch).SerializeToString()  # type: ignore[no-untyped-call] # it has no types
    return written


def percentile(sketches: Iterable[bytes], percent: float) -> float | None:
    """Percentile of everything in these sketches, by nearest rank; None where they are empty."""
    whole = _merged(sketches)
    if whole is None or not whole.count:
        return None
    n = round(whole.count)
    rank = max(1, math.ceil(round(percent / 100 * n, 9)))
    found: float = whole.get_quantile_value((rank - 1) / (n - 1) if n > 1 else 0.0)
    return found


def _merged(sketches: Iterable[bytes]) -> Any:
    from ddsketch.pb import ddsketch_pb2  # noqa: PLC0415 - heavy, loaded on use
    from ddsketch.pb.proto import DDSketchProto  # noqa: PLC0415 - the same

    whole = None
    for written in sketches:
        message = ddsketch_pb2.DDSketch()
        message.ParseFromString(written)
        one = DDSketchProto.from_proto(message)  # type: ignore[no-untyped-call] # it has no types
        if whole is None:
            whole = one
        else:
            whole.merge(one)
    return whole


def _binned(values: Floats) -> tuple[list[float], list[int]]:
    """A value for each of the sketch's own bins, and how many values fall into it: the library
    takes one at a time, and there are millions.
    """
    zeros = int((values <= 0).sum())
    keys = np.ceil(np.log(values[values > 0]) / math.log(_GAMMA))
    bins, counts = np.unique(keys, return_counts=True)
    middles = 2 * _GAMMA**bins / (1 + _GAMMA)
    return [*([0.0] if zeros else []), *middles.tolist()], [
        *([zeros] if zeros else []),
        *counts.tolist(),
    ]


def counts_up_to(sketches: Iterable[bytes], bounds: Sequence[float]) -> list[int]:
    """How many of everything in these sketches are at most each bound, and how many there are.

    A bin of the sketch counts as its middle, so a bound is met within 1 %.

    >>> counts_up_to([sketch_of(np.array([0.1] * 90 + [2.0] * 10))], [0.05, 0.5, 5.0])
    [0, 90, 100, 100]
    """
    from ddsketch.pb import ddsketch_pb2  # noqa: PLC0415 - heavy, loaded on use

    counted = np.zeros(len(bounds) + 1)
    for written in sketches:
        message = ddsketch_pb2.DDSketch()
        message.ParseFromString(written)
        positive = message.positiveValues
        counts = np.array(positive.contiguousBinCounts)
        keys = np.arange(counts.size) + positive.contiguousBinIndexOffset
        middles = 2 * _GAMMA**keys / (1 + _GAMMA)
        below = [float(counts[middles <= bound].sum()) for bound in bounds]
        counted += message.zeroCount + np.array([*below, float(counts.sum())])
    return [round(count) for count in counted]
