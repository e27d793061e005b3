"""The port for operators: is it well, what has it done, and the switch to the second service.

A page in a browser must not reach it: Host and Origin have to be this address (DNS rebinding,
cross-site requests), and where a token is set every call brings it.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from ragnostic.gateway.addresses import split_address
from ragnostic.gateway.counters import GatewayCounters
from ragnostic.gateway.degrade import Switch

Message = MutableMapping[str, Any]
_MOST_BODY = 64 * 1024


class _Problem(Exception):  # noqa: N818 - an answer, not an error of the program
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Control:
    """The application of the control port, which listens at ``address``."""

    address: str
    token: str | None
    counters: GatewayCounters
    switch: Switch
    has_second: bool

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """One request."""
        try:
            self._check(scope)
            status, value = 200, await self._answer(scope["method"], scope["path"], receive)
        except _Problem as found:
            status, value = found.status, {"error": str(found)}
        body = json.dumps(value, ensure_ascii=False).encode() + b"\n"
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send(
            {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body}
        )

    def _check(self, scope: Message) -> None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        names = own_names(self.address)
        if len(hosts) != 1 or hosts[0] not in names:
            raise _Problem(421, "this is not the host that was asked for")
        origins = [value.decode("latin-1").lower() for name, value in headers if name == b"origin"]
        if any(origin not in {f"http://{name}" for name in names} for origin in origins):
            raise _Problem(403, "pages of other origins may not ask")
        if self.token is not None:
            given = [value for name, value in headers if name == b"authorization"]
            wanted = f"Bearer {self.token}".encode()
            if len(given) != 1 or not hmac.compare_digest(given[0], wanted):
                raise _Problem(401, "the token is missing or wrong")

    async def _answer(
        self, method: str, path: str, receive: Callable[[], Awaitable[Message]]
    ) -> dict[str, Any]:
        if path not in ("/health", "/counters", "/degrade"):
            raise _Problem(404, "known are /health, /counters and /degrade")
        if path == "/degrade" and method == "POST":
            self._flip(await _body(receive))
        elif method not in ("GET", "HEAD"):
            raise _Problem(405, f"{path} does not take {method}")
        if path == "/counters":
            return self.counters.as_json()
        degrade = {"on": self.switch.on, "reason": self.switch.reason}
        return degrade if path == "/degrade" else {"status": "ok", "degraded": self.switch.on}

    def _flip(self, body: bytes) -> None:
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict) or not isinstance(asked.get("on"), bool):
            raise _Problem(400, 'expected {"on": true or false, "reason": text}')
        reason = asked.get("reason", "")
        if not isinstance(reason, str) or len(reason) > 500:
            raise _Problem(400, "reason must be a text of at most 500 characters")
        if not self.has_second:
            raise _Problem(409, "there is no second service: degrade.url is not set")
        self.switch.flip(on=asked["on"], reason=reason, by="control")


async def _body(receive: Callable[[], Awaitable[Message]]) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > _MOST_BODY:
            raise _Problem(413, "the body is too large")
    return body


def own_names(address: str) -> frozenset[str]:
    """The values of Host that mean an address; for loopback all its names.

    >>> sorted(own_names("127.0.0.1:81"))
    ['127.0.0.1:81', '[::1]:81', 'localhost:81']
    """
    host, port = split_address(address)
    names = {f"[{host}]" if ":" in host else host}
    if host in ("localhost", "::1") or host.startswith("127."):
        names |= {"localhost", "127.0.0.1", "[::1]"}
    return frozenset(f"{name}:{port}".lower() for name in names)
