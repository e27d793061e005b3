"""The same figures as OpenTelemetry metrics, sent over OTLP/HTTP (protobuf, gzip)."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib.metadata import version
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

from ragnostic.errors import RetrievalError, UsageError
from ragnostic.exporters.samples import Family, Histogram

PATH = "/v1/metrics"
ENDPOINT, HEADERS = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"
"""The environment variables of OpenTelemetry."""
_UNITS = {"_ratio": "1", "_seconds": "s", "_chunks_per_second": "{chunk}/s"}
_COUNTED = {"rows": "{row}", "judgments": "{judgment}", "records": "{record}"}
_TIMEOUT_S = 30.0
_EXCERPT = 200


def name_and_unit(name: str) -> tuple[str, str]:
    """A family's name as OpenTelemetry writes it, and its unit.

    >>> name_and_unit("ragnostic_relevance_ratio")
    ('ragnostic.relevance', '1')
    >>> name_and_unit("ragnostic_intake_rows")
    ('ragnostic.intake.rows', '{row}')
    """
    for ending, unit in _UNITS.items():
        if name.endswith(ending):
            return name.removesuffix(ending).replace("_", "."), unit
    return name.replace("_", "."), _COUNTED.get(name.rpartition("_")[2], "")


def metrics_request(found: Iterable[Family | Histogram], now: datetime) -> Any:
    """The ExportMetricsServiceRequest of some families; those without samples are left out."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (  # noqa: PLC0415 - on use
        ExportMetricsServiceRequest,
    )

    request = ExportMetricsServiceRequest()
    resource = request.resource_metrics.add()
    release = version("ragnostic")
    _attributes(resource.resource, {"service.name": "ragnostic", "service.version": release})
    scope = resource.scope_metrics.add()
    scope.scope.name, scope.scope.version = "ragnostic", release
    instant = int(now.timestamp() * 1e9)
    for family in found:
        if isinstance(family, Histogram):
            _histogram(scope.metrics, family, instant)
        elif family.samples:
            _numbers(scope.metrics, family, instant)
    return request


def _metric(metrics: Any, name: str, about: str) -> Any:
    metric = metrics.add()
    metric.name, metric.unit = name_and_unit(name)
    metric.description = about
    return metric


def _numbers(metrics: Any, family: Family, instant: int) -> None:
    from opentelemetry.proto.metrics.v1 import metrics_pb2  # noqa: PLC0415 - on use

    metric = _metric(metrics, family.name, family.help)
    data = metric.gauge
    if family.kind == "counter":
        data = metric.sum
        data.is_monotonic = True
        data.aggregation_temporality = metrics_pb2.AGGREGATION_TEMPORALITY_CUMULATIVE
    for sample in family.samples:
        point = data.data_points.add()
        point.time_unix_nano = instant
        point.as_double = sample.value
        _attributes(point, sample.labels)


def _histogram(metrics: Any, family: Histogram, instant: int) -> None:
    from opentelemetry.proto.metrics.v1 import metrics_pb2  # noqa: PLC0415 - on use

    if not family.rows:
        return
    data = _metric(metrics, family.name, family.help).histogram
    data.aggregation_temporality = metrics_pb2.AGGREGATION_TEMPORALITY_CUMULATIVE
    for labels, counts, total in family.rows:
        point = data.data_points.add()
        point.time_unix_nano = instant
        point.count, point.sum = counts[-1], total
        point.explicit_bounds.extend(family.bounds)
        point.bucket_counts.extend(after - before for before, after in pairwise((0, *counts)))
        _attributes(point, labels)


def _attributes(where: Any, labels: Mapping[str, str]) -> None:
    for name, value in labels.items():
        if value:
            attribute = where.attributes.add()
            attribute.key = name
            attribute.value.string_value = value


def endpoint_url(given: str) -> str:
    """The address that metrics are sent to: the path of OTLP is added where there is none.

    >>> endpoint_url("http://localhost:4318"), endpoint_url("https://x.example/otlp/v1/metrics")
    ('http://localhost:4318/v1/metrics', 'https://x.example/otlp/v1/metrics')
    """
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(f"{given!r} is no http or https address", hint="http://localhost:4318")
    if parts.username is not None:
        raise UsageError("an endpoint must not hold a password", hint=f"headers go into {HEADERS}")
    return given if parts.path.endswith(PATH) else given.rstrip("/") + PATH


def headers_of(text: str) -> dict[str, str]:
    """The headers of OTEL_EXPORTER_OTLP_HEADERS: ``name=value`` pairs with commas between.

    >>> headers_of("authorization=Bearer%20x, x-team = search")
    {'authorization': 'Bearer x', 'x-team': 'search'}
    """
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not sign or not name.strip() for name, sign, _ in pairs):
        raise UsageError(f"{HEADERS} must be name=value pairs with commas between")
    found = {name.strip(): unquote(value.strip()) for name, _, value in pairs}
    if not all(part.isascii() and part.isprintable() for pair in found.items() for part in pair):
        raise UsageError(f"{HEADERS} must be of ASCII letters, digits and signs")
    return found


def push(request: Any, url: str, headers: Mapping[str, str]) -> int:
    """Send a request; how many points the collector says that it refused.

    Raises RetrievalError where it cannot be reached or answers with an error.
    """
    import httpx  # noqa: PLC0415 - heavy, loaded on use
    from google.protobuf.message import (  # type: ignore[import-untyped] # noqa: PLC0415 - on use
        DecodeError,
    )
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (  # noqa: PLC0415
        ExportMetricsServiceResponse,
    )

    own = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
    body = gzip.compress(request.SerializeToString())
    try:
        reply = httpx.post(url, content=body, headers={**headers, **own}, timeout=_TIMEOUT_S)
    except httpx.HTTPError as error:
        raise RetrievalError(f"{url}: {error}", hint="does a collector listen there?") from error
    if not reply.is_success:
        raise RetrievalError(f"{url} answered {reply.status_code}: {reply.text[:_EXCERPT]}")
    said = ExportMetricsServiceResponse()
    try:
        said.ParseFromString(reply.content)
    except DecodeError as error:
        hint = "something else than a collector listens there"
        raise RetrievalError(f"{url} answered what is no OTLP", hint=hint) from error
    return int(said.partial_success.rejected_data_points)
