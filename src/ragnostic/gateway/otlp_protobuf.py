"""OTLP traces as protobuf, by the published message classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.span_values import MAX_VALUE_BYTES, Values
from ragnostic.gateway.spans import Decoded, Pairs, Span, make_span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan


def decode_protobuf(body: bytes, limit: int = MAX_VALUE_BYTES) -> Decoded:
    r"""The spans of an ExportTraceServiceRequest in protobuf.

    A span that is none costs only itself. Raises RowError where the body is no such request.

    >>> decode_protobuf(b"")
    Decoded(spans=(), refused=())
    >>> decode_protobuf(b"\x0a\x04\x12\x02\x12\x00")
    Decoded(spans=(), refused=("the span id '' is none",))
    """
    from google.protobuf.message import (  # type: ignore[import-untyped]  # noqa: PLC0415
        DecodeError,  # heavy, loaded on use
    )
    from opentelemetry.proto.collector.trace.v1 import (  # noqa: PLC0415 - heavy, loaded on use
        trace_service_pb2,
    )

    try:
        request = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise RowError(f"not valid protobuf: {error}") from error
    spans: list[Span] = []
    refused: list[str] = []
    for group in request.resource_spans:
        resource = Values(limit).attributes(_pairs(group.resource.attributes))
        for scope in group.scope_spans:
            for written in scope.spans:
                try:
                    spans.append(_span(written, resource, limit))
                except RowError as error:
                    refused.append(str(error))
    return Decoded(tuple(spans), tuple(refused))


def _span(written: ProtobufSpan, resource: Mapping[str, Any], limit: int) -> Span:
    return make_span(
        trace_id=written.trace_id.hex(),
        span_id=written.span_id.hex(),
        parent_id=written.parent_span_id.hex(),
        name=written.name,
        kind=written.kind,
        start_ns=written.start_time_unix_nano,
        end_ns=written.end_time_unix_nano,
        attributes=_pairs(written.attributes),
        resource=resource,
        status=written.status.code,
        message=written.status.message,
        events=[
            (event.name, event.time_unix_nano, _pairs(event.attributes)) for event in written.events
        ],
        limit=limit,
    )


def _pairs(attributes: Iterable[KeyValue]) -> Pairs:
    return [(pair.key, _value(pair.value)) for pair in attributes]


def _value(value: AnyValue) -> Any:
    """Nested ones come to an end: the library refuses messages more than 100 deep."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return dict(_pairs(value.kvlist_value.values))
    return getattr(value, kind)
