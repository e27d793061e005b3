"""OpenTelemetry metrics: what a collector reads of them."""

from __future__ import annotations

import gzip
import runpy
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from ragnostic.errors import RetrievalError, UsageError
from ragnostic.exporters.otlp import endpoint_url, headers_of, metrics_request, push
from ragnostic.exporters.samples import Family, Histogram, Sample

LOOPBACK = runpy.run_path(str(Path(__file__).parents[1] / "notify" / "loopback.py"))
served, Said = LOOPBACK["served"], LOOPBACK["Said"]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FAMILIES = [
    Family("ragnostic_relevance_ratio", "A.", "gauge", [Sample(0.5, {"x": "退款", "y": ""})]),
    Family("ragnostic_intake_rows", "B.", "counter", [Sample(7.0)]),
    Family("ragnostic_empty_ratio", "C.", "gauge", []),
    Histogram("ragnostic_wait_seconds", "D.", [0.1, 1.0], [({}, [5, 8, 9], 3.5)]),
    Histogram("ragnostic_none_seconds", "E.", [0.1], []),
]


def test_a_collector_reads_what_was_sent():
    """Names, units, kinds, attributes; buckets are no longer cumulative; no data is no metric."""
    with served(lambda _: Said()) as server:
        refused = push(metrics_request(FAMILIES, NOW), endpoint_url(server.url), {"x-team": "a"})
        (asked,) = server.asked
    assert refused == 0
    assert asked.target.endswith("/v1/metrics")
    assert asked.headers["x-team"] == "a"
    request = ExportMetricsServiceRequest.FromString(gzip.decompress(asked.body))
    (resource,) = request.resource_metrics
    names = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert names == {"service.name": "ragnostic", "service.version": version("ragnostic")}
    (scope,) = resource.scope_metrics
    gauge, counter, histogram = scope.metrics
    assert (gauge.name, gauge.unit) == ("ragnostic.relevance", "1")
    (point,) = gauge.gauge.data_points
    assert [(one.key, one.value.string_value) for one in point.attributes] == [("x", "退款")]
    assert (point.as_double, point.time_unix_nano) == (0.5, int(NOW.timestamp() * 1e9))
    assert (counter.sum.is_monotonic, counter.sum.data_points[0].as_double) == (True, 7.0)
    assert counter.unit == "{row}"
    (wait,) = histogram.histogram.data_points
    assert (list(wait.bucket_counts), wait.count, wait.sum) == ([5, 3, 1], 9, 3.5)
    assert histogram.unit == "s"


def test_points_that_are_refused_are_counted():
    """The collector says so in its answer."""
    said = ExportMetricsServiceResponse()
    said.partial_success.rejected_data_points = 3
    with served(lambda _: Said(body=said.SerializeToString())) as server:
        assert push(metrics_request(FAMILIES, NOW), server.url, {}) == 3


def test_a_collector_that_fails_or_is_not_there_is_said():
    """With its answer."""
    with (
        served(lambda _: Said(status=503, body=b"later")) as server,
        pytest.raises(RetrievalError, match="503: later"),
    ):
        push(metrics_request(FAMILIES, NOW), server.url, {})
    with pytest.raises(RetrievalError):
        push(metrics_request(FAMILIES, NOW), server.url, {})


def test_an_answer_that_is_no_otlp_is_said():
    """A page of a proxy, say, which is no collector."""
    with (
        served(lambda _: Said(body=b"<html>welcome</html>")) as server,
        pytest.raises(RetrievalError, match="no OTLP"),
    ):
        push(metrics_request(FAMILIES, NOW), server.url, {})


def test_a_password_in_the_address_is_refused_and_not_shown():
    """It would stand in messages."""
    with pytest.raises(UsageError) as caught:
        endpoint_url("https://team:geheim@otel.example")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("given", ["localhost:4318", "ftp://x", ""])
def test_an_address_must_be_one(given):
    """Http or https, with a host."""
    with pytest.raises(UsageError, match="no http or https address"):
        endpoint_url(given)


@pytest.mark.parametrize("given", ["x=%0d%0ay", "x=退款"])
def test_headers_must_be_what_http_can_carry(given):
    """No line ends, no letters that it has not."""
    with pytest.raises(UsageError, match="ASCII"):
        headers_of(given)


@pytest.mark.parametrize("given", ["x", "=y", "a=1,b"])
def test_headers_must_be_pairs(given):
    """As OpenTelemetry says."""
    with pytest.raises(UsageError, match="name=value"):
        headers_of(given)
