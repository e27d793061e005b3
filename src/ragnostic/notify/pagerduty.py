"""PagerDuty by its Events API v2: the telephone for what cannot wait.

What its documentation says (Events API v2, developer.pagerduty.com): POST of JSON to
``/v2/enqueue`` with ``routing_key`` (32 characters), ``event_action`` (trigger, acknowledge,
resolve) and ``dedup_key`` (at most 255 characters; events of one key are one alert); ``payload``
needs summary (at most 1,024 characters), source and severity (critical, error, warning, info); a
body has at most 512 KB. 202 is success; 400 stays as it is; 429 and 5xx are to be tried again,
with a wait of some minutes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any, Literal

from pydantic import Field

from ragnostic.notify.http_post import PostError, Reply
from ragnostic.notify.message import SENDER, message, urgent_first
from ragnostic.notify.phrases import Language
from ragnostic.notify.post_options import Poster, PostOptions, json_bytes_of, value_of
from ragnostic.notify.text_limits import cut, utf16_units
from ragnostic.ports import Clock, Delivery, Notice, Severity

LIMIT_KEY = 255
LIMIT_SUMMARY = 1024
LIMIT_BYTES = 512 * 1024
_BUSY_S = 120.0

Action = Literal["trigger", "acknowledge", "resolve"]
_SEVERITIES: dict[Severity, str] = {"P0": "critical", "P1": "error", "P2": "warning"}
_OVER = frozenset({"resolved", "rebaselined"})


class PagerDuty:
    """One event for each notice; the key of the episode is the ``dedup_key``."""

    class Options(PostOptions):
        """Which service is rung."""

        key_env: str = Field(
            description="Environment variable that holds the integration key (routing key).",
            min_length=1,
        )
        url: str = Field(
            default="https://events.pagerduty.com/v2/enqueue",
            description="Address of the API; https://events.eu.pagerduty.com/v2/enqueue in the EU.",
        )
        source: str = Field(
            default="ragnostic",
            min_length=1,
            max_length=255,
            description="What PagerDuty shows as the source, such as the name of the service.",
        )

    def __init__(
        self, name: str, options: Options, environment: Mapping[str, str], clock: Clock
    ) -> None:
        """Raises UsageError for a missing key and for an address that may not be used."""
        del clock  # an event is of the moment that its notice names
        self.name = name
        self._language: Language = options.language
        self._source = options.source
        self._key = value_of(options.key_env, environment, name)
        self._poster = Poster(name, options.url, options, environment, (self._key,))

    def send(self, notices: Sequence[Notice]) -> Delivery:
        """An event each, the most severe first, up to the first that fails; those before it may
        be sent again without harm.
        """
        return self._all([self._event(notice) for notice in urgent_first(notices)])

    def acknowledge(self, notices: Sequence[Notice]) -> Delivery:
        """Say that somebody is at work on these episodes, so that the telephone stops."""
        return self._all([self._envelope("acknowledge", notice) for notice in notices])

    def _all(self, events: Sequence[dict[str, Any]]) -> Delivery:
        for event in events:
            try:
                delivery = _verdict(self._poster.post(json_bytes_of(event)))
            except PostError as error:
                delivery = error.delivery()
            if not delivery.delivered:
                return delivery
        return Delivery(delivered=True)

    def _envelope(self, action: Action, notice: Notice) -> dict[str, Any]:
        return {
            "routing_key": self._key,
            "event_action": action,
            "dedup_key": dedup_key(notice.key),
        }

    def _event(self, notice: Notice) -> dict[str, Any]:
        if notice.kind in _OVER:
            return self._envelope("resolve", notice)
        words = message(notice, self._language)
        summary = " ".join((words.title, *words.sentences))
        event = {
            **self._envelope("trigger", notice),
            "client": SENDER,
            "links": [{"href": url, "text": label} for label, url in words.links],
            "payload": {
                "summary": cut(summary, LIMIT_SUMMARY, size=utf16_units),
                "source": self._source,
                "severity": "info" if notice.kind == "test" else _SEVERITIES[notice.severity],
                "timestamp": notice.since.astimezone(UTC).isoformat(timespec="milliseconds"),
                "component": notice.stage or "retrieval",
                "group": notice.rule,
                "class": notice.metric,
                "custom_details": dict(words.facts),
            },
        }
        return event | ({"client_url": words.links[-1][1]} if words.links else {})


def dedup_key(key: str) -> str:
    """A key of at most 255 characters; a longer one ends in its hash.

    >>> dedup_key("mrr-drop category=refunds #3"), len(dedup_key("x" * 1000))
    ('mrr-drop category=refunds #3', 255)
    """
    if utf16_units(key) <= LIMIT_KEY:
        return key
    note = "…" + hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:32]
    return cut(key, LIMIT_KEY, note=note, size=utf16_units)


def _verdict(reply: Reply) -> Delivery:
    """202 with PagerDuty's own words is success; a page of somebody else is not."""
    answer = reply.json()
    told = answer if isinstance(answer, dict) else {}
    if reply.status == 202 and told.get("status") == "success":
        return Delivery(delivered=True)
    if reply.ok:
        return reply.refusal(
            f"{reply.where} says nothing of PagerDuty's: {reply.excerpt()}", retry=True
        )
    delivery = reply.refusal()
    if reply.status == 429 and not delivery.retry_after_s:
        return delivery._replace(retry_after_s=_BUSY_S)
    return delivery
