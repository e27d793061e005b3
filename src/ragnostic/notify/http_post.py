"""The one POST of every channel: guarded address, one time limit, no secrets in what it says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from ragnostic.errors import RagnosticError
from ragnostic.notify.address_guard import check_url
from ragnostic.ports import Delivery

if TYPE_CHECKING:
    import ssl

    import httpcore

    from ragnostic.notify.guarded_connection import GuardedBackend

MAX_REPLY_BYTES = 65536
"""More than this of a reply is not read."""

_RETRYABLE = frozenset({408, 425, 429})
_EXCERPT = 200
_SHORTEST_SECRET = 6


class PostError(RagnosticError):
    """There is no reply. ``retryable`` says whether the same call may succeed later."""

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable

    def delivery(self) -> Delivery:
        """What a channel says of it.

        >>> PostError("hooks.example: no connection", retryable=True).delivery()
        Delivery(delivered=False, reason='hooks.example: no connection', retry_after_s=0.0)
        """
        wait = 0.0 if self.retryable else None
        return Delivery(delivered=False, reason=self.message, retry_after_s=wait)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a service answered; names of ``headers`` are in lower case, ``where`` is its host."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    where: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        """Whether the status is one of success. That is not yet success for every vendor."""
        return 200 <= self.status < 300

    def json(self) -> Any:
        """The body as JSON; None where it is none.

        >>> Reply(200, {}, b'{"errcode": 45009}').json()
        {'errcode': 45009}
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    def excerpt(self) -> str:
        r"""One printable line of at most 200 characters of the body, without the secrets.

        >>> Reply(500, {}, b"<h1>Bad\n key s3cret</h1>", secrets=("s3cret",)).excerpt()
        '<h1>Bad key ***</h1>'
        """
        return one_line(self.body.decode("utf-8", "replace"), self.secrets)

    def retry_after_s(self) -> float:
        """Seconds that the service wants to be left alone; 0 where it does not say.

        A date is measured by the service's own clock, as its Date header shows it.

        >>> Reply(429, {"retry-after": "30"}, b"").retry_after_s()
        30.0
        """
        written = self.headers.get("retry-after", "").strip()
        if written.isascii() and written.isdecimal() and len(written) < 10:
            return float(written)
        try:
            until = parsedate_to_datetime(written)
            now = parsedate_to_datetime(self.headers.get("date", ""))
            return max(0.0, (until - now).total_seconds())
        except (ValueError, TypeError, OverflowError):
            return 0.0

    def refusal(self, reason: str = "", *, retry: bool | None = None) -> Delivery:
        """The delivery that failed with this reply.

        Another try makes sense for 408, 425, 429 and 5xx, or as ``retry`` says for a vendor's
        own code; ``reason`` is by default the status and the beginning of the body.

        >>> Reply(429, {"retry-after": "7"}, b"slow down", "hooks.example").refusal()
        Delivery(delivered=False, reason='hooks.example answered 429: slow down', retry_after_s=7.0)
        """
        if retry is None:
            retry = self.status in _RETRYABLE or self.status >= 500
        said = reason or f"{self.where} answered {self.status}: {self.excerpt() or '(empty)'}"
        wait = self.retry_after_s() if retry else None
        return Delivery(delivered=False, reason=said, retry_after_s=wait)


def one_line(text: str, secrets: tuple[str, ...] = ()) -> str:
    r"""A hostile text as one printable line of at most 200 characters, without the secrets.

    >>> one_line("no\x1b[31m \u202esuch token=abc", ("token=abc",))
    'no [31m such ***'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***") if secret else text
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return line if len(line) <= _EXCERPT else f"{line[: _EXCERPT - 1]}…"


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allow_private: bool = False,
    timeout_s: float = 10.0,
    proxy: str = "",
    secrets: tuple[str, ...] = (),
    backend: GuardedBackend | None = None,
) -> Reply:
    """Send ``body`` and return the reply, whatever its status.

    The address is judged as it is written and as the numeric address that is connected to
    (:mod:`ragnostic.notify.address_guard`); redirects are not followed; ``timeout_s`` holds for
    the whole call, look-up and body included; no proxy is used but the one given by its address
    (it looks the name up itself, so only the name can be judged then). ``secrets`` of the body
    or the headers are taken out of what is shown of the reply, as is the address but for its
    host. Raises PostError where there is no reply.
    """
    try:
        parts = urlsplit(check_url(url, allow_private=allow_private))
    except ValueError as error:
        raise PostError(f"the address {error}") from None
    import httpcore  # noqa: PLC0415 - heavy, loaded on use

    from ragnostic.notify.guarded_connection import (  # noqa: PLC0415 - the same
        Deadline,
        GuardedBackend,
        RefusedAddressError,
    )

    where, hidden = parts.netloc, (*url_secrets(url), *secrets)
    guard = backend or GuardedBackend(
        Deadline(timeout_s), allow_private=allow_private or bool(proxy)
    )
    sent = {"User-Agent": "ragnostic", "Accept-Encoding": "identity", **headers}
    try:
        with (
            _pool(guard, proxy, encrypted=parts.scheme == "https") as pool,
            pool.stream("POST", url, headers=list(sent.items()), content=body) as response,
        ):
            reply = Reply(response.status, _headers(response), _body(response), where, hidden)
    except RefusedAddressError as error:
        hint = "allow_private = true permits addresses of your own network"
        raise PostError(f"{where} leads to {error}", hint=hint) from None
    except httpcore.TimeoutException:
        message = f"{where}: no complete answer within {timeout_s:g} s"
        raise PostError(message, retryable=True) from None
    except (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol) as error:
        raise PostError(f"{where}: not sent: {one_line(str(error), hidden)}") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
        said = one_line(str(error), hidden) or "the connection was lost"
        raise PostError(f"{where}: {said}", retryable=True) from None
    if 300 <= reply.status < 400:
        message = f"{where} answered {reply.status}, a redirect{_target(reply)}; it is not followed"
        raise PostError(message, hint="give the address itself")
    return reply


def url_secrets(url: str) -> tuple[str, ...]:
    """What of a webhook's address must never be shown: long parts of its path, and its query.

    >>> url_secrets("https://hooks.example/services/T0123456789?key=abcdef")
    ('/services/T0123456789?key=abcdef', 'key=abcdef', 'services', 'T0123456789', 'abcdef')
    """
    parts = urlsplit(url)
    whole = url.partition(parts.netloc)[2]
    values = [value for _, value in parse_qsl(parts.query)]
    pieces = (whole, parts.query, *parts.path.split("/"), *values)
    return tuple(dict.fromkeys(piece for piece in pieces if len(piece) >= _SHORTEST_SECRET))


def _pool(backend: GuardedBackend, proxy: str, *, encrypted: bool) -> httpcore.ConnectionPool:
    import httpcore  # noqa: PLC0415 - heavy, loaded on use

    context = _certificates() if encrypted else None
    if not proxy:
        return httpcore.ConnectionPool(ssl_context=context, network_backend=backend)
    parts = urlsplit(proxy)
    login = (unquote(parts.username or ""), unquote(parts.password or ""))
    return httpcore.HTTPProxy(
        f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
        proxy_auth=login if parts.username else None,
        ssl_context=context,
        network_backend=backend,
    )


@cache
def _certificates() -> ssl.SSLContext:
    import httpx  # noqa: PLC0415 - heavy, loaded on use

    return httpx.create_ssl_context()


def _headers(response: httpcore.Response) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
    }


def _body(response: httpcore.Response) -> bytes:
    """As much of the body as is wanted; the rest goes with the connection."""
    body = b""
    for part in response.iter_stream():
        body += part
        if len(body) > MAX_REPLY_BYTES:
            return body[:MAX_REPLY_BYTES]
    return body


def _target(reply: Reply) -> str:
    host = urlsplit(reply.headers.get("location", "")).hostname
    return f" to {one_line(host, reply.secrets)}" if host else ""
