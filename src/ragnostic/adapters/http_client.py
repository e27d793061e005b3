"""The HTTP client that all adapters share: limits, errors for people, no leaks.

It sends JSON and reads JSON. It does not retry: it says whether a retry may help.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ragnostic.adapters.environment import excerpt, expand, redact
from ragnostic.errors import RetrievalError, UsageError

if TYPE_CHECKING:
    import httpx

_MAX_BYTES = 64 * 1024 * 1024
_MAX_REDIRECTS = 5
_RETRYABLE = frozenset({408, 425, 429})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def check_url(url: str) -> str:
    """``url`` if it is an absolute http(s) address; raises ValueError otherwise.

    >>> check_url("http://localhost:8000/search")
    'http://localhost:8000/search'
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http or https address")
    _ = parts.port
    return url


def display_url(url: str) -> str:
    """The address as messages show it: without user, password, query and fragment.

    >>> display_url("https://me:pw@search.example:8443/v1?key=1")
    'https://search.example:8443/v1'
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}" if host else url.partition("?")[0]


class ServiceOptions(BaseModel):
    """Settings of every adapter that calls a service."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: Annotated[str, AfterValidator(check_url)] = Field(
        description="Address of the service, http or https."
    )
    headers: dict[str, str] = Field(
        default_factory=dict,
        description="Sent with every call; ${NAME} stands for an environment variable.",
    )
    api_key_env: str = Field(
        default="",
        description="Environment variable that holds the key, sent as a bearer token.",
    )
    timeout_s: float = Field(
        default=30.0, gt=0, le=100_000, description="Seconds that one call may take in all."
    )
    verify: bool = Field(
        default=True, description="Check the certificate of an https address; false: do not."
    )


class QueryServiceOptions(ServiceOptions):
    """Settings of a service that is called once a query."""

    workers: int = Field(
        default=4, ge=1, le=1000, description="How many calls run at the same time."
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON answer and the time of the whole call in milliseconds."""

    json: Any
    took_ms: float


class JsonClient:
    """Calls one service. Safe to use from several threads.

    Headers may name variables (``environment.expand``); ``api_key_env`` names the variable of a
    bearer token. Redirects are followed on the same host only. A call to a loopback address
    never goes through a proxy. Raises UsageError when built, RetrievalError when called.
    """

    def __init__(self, options: ServiceOptions, environment: Mapping[str, str]) -> None:
        import httpx  # noqa: PLC0415 (heavy, loaded on use)

        settings = dict(options.headers)
        if options.api_key_env:
            settings["Authorization"] = f"Bearer ${{{options.api_key_env}}}"
        headers = expand(settings, environment, "a header")
        self.where = display_url(options.url)
        self.secrets = headers.secrets
        self._url = options.url
        self._timeout = options.timeout_s
        try:
            self._client = httpx.Client(
                headers={"Accept": "application/json", **headers.values},
                timeout=options.timeout_s,
                verify=options.verify,
                follow_redirects=False,
                trust_env=urlsplit(options.url).hostname not in _LOOPBACK,
            )
            httpx.URL(options.url)
        except (httpx.InvalidURL, ValueError) as error:
            raise UsageError(f"{self.where}: {redact(str(error), self.secrets)}") from None
        weakref.finalize(self, self._client.close)

    def call(
        self, method: str, *, body: Any = None, params: Mapping[str, str] | None = None
    ) -> Answer:
        """Send ``body`` as JSON (``None``: no body) and read the JSON answer."""
        started = time.perf_counter()
        content = None if body is None else json.dumps(body).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        request = self._client.build_request(
            method, self._url, content=content, params=params or None, headers=headers
        )
        raw = self._send(request)
        took_ms = (time.perf_counter() - started) * 1000
        try:
            return Answer(json.loads(raw), took_ms)
        except (ValueError, RecursionError):
            raise RetrievalError(
                f"{method} {self.where}: the answer is not JSON: {excerpt(raw, self.secrets)}"
            ) from None

    def _send(self, request: httpx.Request) -> bytes:
        import httpx  # noqa: PLC0415 (heavy, loaded on use)

        what = f"{request.method} {self.where}"
        deadline = time.monotonic() + self._timeout
        try:
            for _ in range(_MAX_REDIRECTS + 1):
                response = self._client.send(request, stream=True)
                try:
                    raw = self._read(response, deadline)
                finally:
                    response.close()
                if response.next_request is None:
                    return self._checked(what, response, raw)
                request = self._same_host(what, request, response.next_request)
        except httpx.TimeoutException:
            raise RetrievalError(
                f"{what}: no complete answer within {self._timeout:g} s", retryable=True
            ) from None
        except httpx.HTTPError as error:
            reason = redact(str(error), self.secrets) or "connection lost"
            raise RetrievalError(
                f"{what}: {type(error).__name__}: {reason}",
                hint="is the service running, and is the address right?",
                retryable=isinstance(error, httpx.TransportError),
            ) from None
        raise RetrievalError(f"{what}: more than {_MAX_REDIRECTS} redirects")

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        """The whole body; a service that drips for ever meets the deadline."""
        import httpx  # noqa: PLC0415 (heavy, loaded on use)

        parts: list[bytes] = []
        size = 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > _MAX_BYTES:
                raise RetrievalError(f"{self.where}: the answer is larger than 64 MiB")
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("deadline", request=response.request)
        return b"".join(parts)

    def _checked(self, what: str, response: httpx.Response, raw: bytes) -> bytes:
        if response.is_success:
            return raw
        status = response.status_code
        wait = response.headers.get("Retry-After", "")
        raise RetrievalError(
            f"{what} answered {status} {response.reason_phrase}: "
            f"{excerpt(raw, self.secrets) or '(empty)'}"
            + (f" (Retry-After: {excerpt(wait)})" if wait else ""),
            retryable=status in _RETRYABLE or status >= 500,
            wait_s=_seconds(wait),
        )

    def _same_host(self, what: str, old: httpx.Request, new: httpx.Request) -> httpx.Request:
        if (old.url.scheme, old.url.host, old.url.port) != (
            new.url.scheme,
            new.url.host,
            new.url.port,
        ):
            raise RetrievalError(
                f"{what} redirects to another host: {display_url(str(new.url))}",
                hint="if that is the service you mean, set url to it",
            )
        return new


def _seconds(written: str) -> float | None:
    """A Retry-After header, seconds or a date, as seconds from now; None where it is neither."""
    if written.isascii() and written.isdecimal():
        return float(written)
    try:
        moment = parsedate_to_datetime(written)
    except (ValueError, OverflowError):
        return None
    return max(0.0, moment.timestamp() - time.time())
