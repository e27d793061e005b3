"""The table ``[otlp]`` of ``gateway.toml``: the receiver of traces."""

from __future__ import annotations

from pydantic import Field

from ragnostic.config.models import LARGEST, Table

MIB = 2**20


class OtlpSettings(Table):
    """Receiving OpenTelemetry traces over HTTP."""

    max_body_bytes: int = Field(
        default=20 * MIB,
        ge=1024,
        le=1024 * MIB,
        description="Largest request, as sent and after decompression; a larger one is refused.",
    )
    max_value_bytes: int = Field(
        default=64 * 1024,
        ge=256,
        le=16 * MIB,
        description="Longest attribute value; a longer one is cut, its true length kept.",
    )
    max_requests: int = Field(
        default=32,
        ge=1,
        le=LARGEST,
        description="Requests worked on at once; more are asked to come again.",
    )
    body_timeout_s: float = Field(
        default=30.0, gt=0.0, le=LARGEST, description="Longest wait for the body of a request."
    )
    retry_after_s: int = Field(
        default=5,
        ge=1,
        le=LARGEST,
        description="When to come again, told to senders while the store cannot be written.",
    )
    settle_s: float = Field(
        default=10.0,
        ge=0.0,
        le=LARGEST,
        description="A trace without new spans for so long is made into records.",
    )
    keep_s: float = Field(
        default=300.0,
        ge=0.0,
        le=LARGEST,
        description="So long after its last span a trace still takes late ones, which change its "
        "records; then its spans are forgotten.",
    )
