"""The exposition format of Prometheus, by its own client library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ragnostic.exporters.samples import Family, Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(found: Iterable[Family | Histogram]) -> str:
    r"""The text that Prometheus scrapes. A family without samples is left out: no data is no
    sample, never 0. Label values are escaped, whatever they hold.

    >>> from ragnostic.exporters.samples import Sample
    >>> print(exposition([Family("a_ratio", "A share.", "gauge", [Sample(0.5, {"x": 'q"\n'})])]))
    # HELP a_ratio A share.
    # TYPE a_ratio gauge
    a_ratio{x="q\"\n"} 0.5
    <BLANKLINE>
    """
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415 - on use

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(list(found)))
    return generate_latest(registry).decode()


class _Collector:
    """Gives the families to the library."""

    def __init__(self, found: list[Family | Histogram]) -> None:
        self._found = found

    def collect(self) -> Iterator[Any]:
        """The families in the library's own form."""
        for family in self._found:
            if isinstance(family, Histogram):
                yield from _histogram(family)
            elif family.samples:
                yield _family(family)


def _family(family: Family) -> Any:
    from prometheus_client.core import (  # noqa: PLC0415 - heavy, loaded on use
        CounterMetricFamily,
        GaugeMetricFamily,
    )

    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    names = list(family.samples[0].labels)
    made = kind(family.name, family.help, labels=names)
    for sample in family.samples:
        made.add_metric([sample.labels[name] for name in names], sample.value)
    return made


def _histogram(family: Histogram) -> Iterator[Any]:
    from prometheus_client.core import HistogramMetricFamily  # noqa: PLC0415 - heavy, on use

    if not family.rows:
        return
    names = list(family.rows[0][0])
    made = HistogramMetricFamily(family.name, family.help, labels=names)
    ends = [*(f"{bound:g}" for bound in family.bounds), "+Inf"]
    for labels, counts, total in family.rows:
        buckets = [(end, float(count)) for end, count in zip(ends, counts, strict=True)]
        made.add_metric([labels[name] for name in names], buckets, total)
    yield made
