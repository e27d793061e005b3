"""The settings of ``ragnostic gateway`` as frozen models: one class a table of ``gateway.toml``."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from ragnostic.adapters.expressions import Expression
from ragnostic.adapters.user_code import Target
from ragnostic.config.models import LARGEST, Name, Table, Texts
from ragnostic.gateway.addresses import Address
from ragnostic.gateway.otlp_settings import OtlpSettings
from ragnostic.gateway.serve_settings import ServeSettings

MIB = 1 << 20


def _service_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
        parts = urlsplit("")
    if not sound or parts.query or parts.fragment or not value.isascii():
        raise ValueError("must be an address such as http://127.0.0.1:8000")
    if parts.username or parts.password:
        raise ValueError("must hold no user or password; callers bring their own")
    return value


def _regular(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return value


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


ServiceUrl = Annotated[str, AfterValidator(_service_url)]
Patterns = Annotated[
    tuple[Annotated[str, AfterValidator(_regular)], ...], BeforeValidator(_as_tuple)
]
Names = Annotated[tuple[Name, ...], BeforeValidator(_as_tuple)]


class ListenSettings(Table):
    """Where clients reach the gateway."""

    address: Address = Field(default="127.0.0.1:8080", description="Address and port.")
    allow_remote: bool = Field(
        default=False,
        description="Must be true for an address that other machines can reach. The gateway asks "
        "for no password: whoever reaches it reaches the service.",
    )
    names: Names = Field(
        default=(),
        description="Authorities (host:port) that a request with an absolute target may name, "
        "beside the address.",
    )
    max_head_kib: int = Field(
        default=64, ge=1, le=1024, description="Largest head of a request, in KiB."
    )
    drain_s: float = Field(
        default=10.0,
        ge=0.0,
        le=LARGEST,
        description="How long running requests may go on after SIGTERM.",
    )


class UpstreamSettings(Table):
    """The service behind the gateway."""

    url: ServiceUrl = Field(description="Its address; a path in it stands before every target.")
    host: Literal["client", "upstream"] = Field(
        default="client",
        description="Whose Host the service sees: what the client wrote, or its own.",
    )
    connect_timeout_s: float = Field(
        default=10.0, gt=0.0, le=LARGEST, description="Longest wait for a connection, then 504."
    )
    timeout_s: float = Field(
        default=300.0,
        gt=0.0,
        le=LARGEST,
        description="Longest silence of the service, before and within its answer.",
    )
    keep_alive_s: float = Field(
        default=4.0,
        gt=0.0,
        le=LARGEST,
        description="How long an idle connection to the service is kept; less than the service's "
        "own limit, so that no request meets a connection that is being closed.",
    )
    verify: bool = Field(default=True, description="Whether TLS certificates are checked.")


class StoreTable(Table):
    """Where records go."""

    path: Name = Field(default="store", description="The store folder.")
    service: str | None = Field(default=None, description="Name of the service in the records.")


class CaptureSettings(Table):
    """What is copied, and how much memory copies may take."""

    on: bool = Field(default=True, description="Whether anything is copied.")
    paths: Texts = Field(
        default=("*",),
        description="Paths whose exchanges are copied; * stands for anything.",
    )
    methods: Names = Field(
        default=(), description="Methods whose exchanges are copied; all where it is empty."
    )
    max_bytes: int = Field(
        default=MIB,
        ge=0,
        le=100_000_000,
        description="Bytes of each body that are copied; its true length and hash are kept.",
    )
    max_decoded_bytes: int = Field(
        default=8 * MIB,
        ge=1,
        le=1_000_000_000,
        description="Bytes that a compressed body may grow to when it is read.",
    )
    memory_mib: int = Field(
        default=64, ge=1, le=LARGEST, description="Memory for all copies together, in MiB."
    )
    queue: int = Field(
        default=20_000, ge=1, le=1_000_000, description="Exchanges that may wait for the store."
    )
    flush_ms: int = Field(
        default=100,
        ge=1,
        le=200,
        description="How often waiting exchanges go to the store, in milliseconds: at most this "
        "much is lost when the machine fails.",
    )


class IdSettings(Table):
    """Headers that hold ids, best first."""

    trace: Names = Field(
        default=("traceparent", "x-request-id"), description="The trace; traceparent as W3C says."
    )
    session: Names = Field(default=("x-session-id",), description="The session.")
    user: Names = Field(default=("x-user-id",), description="The user.")


class StreamSettings(Table):
    """How answers that come in pieces are put together."""

    text: Expression = Field(
        default="choices[0].delta.content",
        description="JMESPath of the piece of the answer in the data of one event.",
    )
    done: str = Field(
        default="[DONE]", description="Data of the event that ends an answer; empty: none does."
    )


class ReplySettings(Table):
    """An answer that the gateway gives itself."""

    status: int = Field(default=400, ge=200, le=599, description="Its status.")
    content_type: Name = Field(default="application/json", description="Its media type.")
    body: str = Field(
        default='{"error": {"code": "query_rejected", "message": "the query was not accepted"}}',
        description="Its text.",
    )


class FilterSettings(Table):
    """Queries that are not worth asking. Off by default; each rule is off unless set."""

    on: bool = Field(default=False, description="Whether queries are looked at.")
    action: Literal["tag", "reject", "empty"] = Field(
        default="tag",
        description="What happens to a query that a rule names: it goes on and its record is "
        "labelled, it gets [filter.reject], or it gets [filter.empty].",
    )
    min_chars: int = Field(default=0, ge=0, le=LARGEST, description="Shorter ones are too short.")
    max_chars: int | None = Field(
        default=None, ge=1, le=10_000_000, description="Longer ones are too long."
    )
    no_letters: bool = Field(
        default=False, description="Whether those of only digits, punctuation and spaces count."
    )
    repeated: int | None = Field(
        default=None,
        ge=2,
        le=LARGEST,
        description="From how many characters on one of a single repeated character counts.",
    )
    patterns: Patterns = Field(
        default=(),
        description="Regular expressions; a query in which one is found counts. Only the first "
        "2,000 characters are looked at.",
    )
    classifier: Target | None = Field(
        default=None,
        description="Your function as module:name; called with the query, it returns a reason, "
        "or true, or nothing.",
    )
    classifier_timeout_ms: int = Field(
        default=50, ge=1, le=60_000, description="After which the query goes on unclassified."
    )
    field: Name | None = Field(
        default=None,
        description="Path of the query in the JSON request, such as messages.-1.content; needed "
        "to change it.",
    )
    strip_punctuation: bool = Field(
        default=False,
        description="Whether punctuation and spaces at the end of the query are taken off before "
        "the service sees it.",
    )
    reject: ReplySettings = Field(
        default=ReplySettings(), description="The answer of action reject."
    )
    empty: ReplySettings = Field(
        default=ReplySettings(status=200, body='{"answer": "", "results": []}'),
        description="The answer of action empty.",
    )


class DegradeSettings(Table):
    """A second service, for when the first must be relieved."""

    url: ServiceUrl | None = Field(default=None, description="Its address; none: no switch.")
    flag_file: Name | None = Field(
        default=None, description="While this file exists the second service is asked."
    )


class ControlSettings(Table):
    """The port for operators: health, counters, the switch."""

    address: Address | None = Field(
        default="127.0.0.1:8081", description="Address and port, loopback unless there is a token."
    )
    token_env: Name | None = Field(
        default=None,
        description="Environment variable with the token that every call must bring as "
        "Authorization: Bearer.",
    )


class TraceSettings(OtlpSettings):
    """Receiving traces; nothing is listened for without an address."""

    address: Address | None = Field(
        default=None, description="Address and port; 4318 is the usual one."
    )
    allow_remote: bool = Field(
        default=False, description="Must be true for an address that other machines can reach."
    )


TABLES: dict[str, type[Table]] = {
    "listen": ListenSettings,
    "upstream": UpstreamSettings,
    "store": StoreTable,
    "capture": CaptureSettings,
    "ids": IdSettings,
    "stream": StreamSettings,
    "filter": FilterSettings,
    "degrade": DegradeSettings,
    "control": ControlSettings,
    "otlp": TraceSettings,
    "serve": ServeSettings,
}
"""The tables with fixed keys; those of ``[map]`` are fields of the record."""


class GatewaySettings(Table):
    """Everything in ``gateway.toml``."""

    listen: ListenSettings = Field(default=ListenSettings(), description="For clients.")
    upstream: UpstreamSettings = Field(description="The service.")
    store: StoreTable = Field(default=StoreTable(), description="The store.")
    capture: CaptureSettings = Field(default=CaptureSettings(), description="The copies.")
    ids: IdSettings = Field(default=IdSettings(), description="Ids.")
    stream: StreamSettings = Field(default=StreamSettings(), description="Streams.")
    filter: FilterSettings = Field(default=FilterSettings(), description="Queries.")
    degrade: DegradeSettings = Field(default=DegradeSettings(), description="The switch.")
    control: ControlSettings = Field(default=ControlSettings(), description="For operators.")
    otlp: TraceSettings = Field(default=TraceSettings(), description="Traces.")
    serve: ServeSettings = Field(default=ServeSettings(), description="Of ragnostic serve.")
