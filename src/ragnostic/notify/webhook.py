"""A webhook of your own: JSON of a fixed form, signed as Standard Webhooks says.

The signature is the scheme of standardwebhooks.com, for which libraries exist in many languages:
``webhook-signature: v1,base64(HMAC-SHA256(secret, id + "." + timestamp + "." + body))``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from ragnostic.errors import UsageError
from ragnostic.notify.http_post import PostError
from ragnostic.notify.message import message, urgent_first
from ragnostic.notify.phrases import Language
from ragnostic.notify.post_options import Poster, PostOptions, json_bytes_of, value_of
from ragnostic.ports import Clock, Delivery, Notice

SCHEMA = "ragnostic.notices/1"
"""Changes with the form of the body; new members may come without a change."""

_PREFIX = "whsec_"


class Webhook:
    """One POST for all notices; any 2xx is a success."""

    class Options(PostOptions):
        """Where to, and by which secret."""

        url_env: str = Field(
            description="Environment variable that holds the address.", min_length=1
        )
        secret_env: str = Field(
            default="",
            description="Environment variable that holds the secret of the signature; without it "
            "nothing is signed.",
        )

    def __init__(
        self, name: str, options: Options, environment: Mapping[str, str], clock: Clock
    ) -> None:
        """Raises UsageError for a missing variable, an address that may not be used, or a secret
        that is none.
        """
        self.name = name
        self._language: Language = options.language
        self._clock = clock
        secret = value_of(options.secret_env, environment, name)
        self._secret = _secret_bytes(secret, name, options.secret_env)
        url = value_of(options.url_env, environment, name)
        self._poster = Poster(name, url, options, environment, (secret,))

    def send(self, notices: Sequence[Notice]) -> Delivery:
        """All of them, the most severe first."""
        now = self._clock.now()
        told = [notice_json(notice, self._language) for notice in urgent_first(notices)]
        sent_at = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
        body = json_bytes_of({"schema": SCHEMA, "sent_at": sent_at, "notices": told})
        try:
            reply = self._poster.post(body, self._headers(told, body, int(now)))
        except PostError as error:
            return error.delivery()
        return Delivery(delivered=True) if reply.ok else reply.refusal()

    def _headers(self, told: Sequence[dict[str, Any]], body: bytes, now: int) -> dict[str, str]:
        # The same notices have the same id, whenever they are sent: a receiver can tell.
        identity = hashlib.sha256("\n".join(one["id"] for one in told).encode()).hexdigest()
        message_id = f"msg_{identity[:32]}"
        headers = {
            "webhook-id": message_id,
            "webhook-timestamp": str(now),
            "Idempotency-Key": message_id,
        }
        if self._secret:
            headers["webhook-signature"] = sign(self._secret, message_id, now, body)
        return headers


def sign(secret: bytes, message_id: str, timestamp_s: int, body: bytes) -> str:
    """The value of ``webhook-signature``.

    >>> sign(b"test-secret-not-real", "msg_1", 1767225600, b"{}")
    'v1,Rw+LplRdgGWC1p29nXg25GGG4rhdgt2TbTlZg4EIobE='
    """
    signed = f"{message_id}.{timestamp_s}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()


def notice_id(notice: Notice) -> str:
    """What is the same whenever this notice is sent, and of no other one; 32 hex digits."""
    parts = (notice.key, notice.kind, notice.window[1].astimezone(UTC).isoformat())
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def notice_json(notice: Notice, language: Language) -> dict[str, Any]:
    """A notice as the body of a webhook has it: its values, and the same in words."""
    words = message(notice, language)
    return {
        "id": notice_id(notice),
        "key": notice.key,
        "kind": notice.kind,
        "severity": notice.severity,
        "rule": notice.rule,
        "metric": notice.metric,
        "stage": notice.stage,
        "slice": dict(notice.slice),
        "value": _finite(notice.value),
        "low": _finite(notice.low),
        "high": _finite(notice.high),
        "n": notice.n,
        "reference": _finite(notice.reference),
        "against": notice.against,
        "since": _iso(notice.since),
        "window": {"start": _iso(notice.window[0]), "end": _iso(notice.window[1])},
        "zone": notice.zone,
        "title": words.title,
        "text": "\n".join(words.sentences),
        "worst_query": notice.worst_query,
        "likely_cause": notice.likely_cause.get(language, ""),
        "owner": notice.owner,
        "runbook": notice.runbook,
        "link": notice.link,
    }


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _secret_bytes(secret: str, name: str, variable: str) -> bytes:
    """The key of the signature; ``whsec_`` stands before one that is in base64."""
    if not secret.startswith(_PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        raise UsageError(
            f"channel {name!r}: what {variable} holds after {_PREFIX} is not base64"
        ) from None
