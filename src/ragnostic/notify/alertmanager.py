"""Prometheus' Alertmanager by its API v2, for teams whose alerts all go through one.

What its documentation says (Alerts API, prometheus.io; api/v2/openapi.yaml): POST of a JSON array
to ``/api/v2/alerts``; labels identify an alert and ``alertname`` is one of them, annotations are
what may change; an alert is over at its ``endsAt``. Clients are to send an alert again as long as
it is active, since Alertmanager keeps nothing over a restart; without ``endsAt`` it is over after
``resolve_timeout``. 200 is success; with 400 the valid alerts of the array were taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from ragnostic.notify.http_post import PostError
from ragnostic.notify.message import message, plain, urgent_first
from ragnostic.notify.phrases import Language
from ragnostic.notify.post_options import Poster, PostOptions, json_bytes_of, value_of
from ragnostic.notify.sentences import number
from ragnostic.ports import Clock, Delivery, Notice

PATH = "/api/v2/alerts"
_OVER = frozenset({"resolved", "rebaselined"})
_TEST_S = 300.0
_NO_LABEL = re.compile(r"\W", re.ASCII)


class Alertmanager:
    """All notices in one array. What fires is sent again by :meth:`refresh`."""

    class Options(PostOptions):
        """Which Alertmanager, and how long it believes a notice."""

        url_env: str = Field(
            description="Environment variable that holds its address, such as "
            "http://alertmanager.example:9093, with the path prefix if it has one.",
            min_length=1,
        )
        authorization_env: str = Field(
            default="",
            description="Environment variable that holds the header Authorization, such as "
            "Basic dXNlcjpwYXNz.",
        )
        expires_s: float = Field(
            default=10_800.0,
            ge=60,
            le=604_800,
            description="Seconds after which an alert that is not sent again is over there; "
            "several times the pause between two checks.",
        )

    def __init__(
        self, name: str, options: Options, environment: Mapping[str, str], clock: Clock
    ) -> None:
        """Raises UsageError for a missing variable and for an address that may not be used."""
        self.name = name
        self._language: Language = options.language
        self._expires_s = options.expires_s
        self._clock = clock
        authorization = value_of(options.authorization_env, environment, name)
        self._headers = {"Authorization": authorization} if authorization else {}
        base = value_of(options.url_env, environment, name).rstrip("/").removesuffix(PATH)
        self._poster = Poster(name, base + PATH, options, environment, (authorization,))

    def send(self, notices: Sequence[Notice]) -> Delivery:
        """All of them; the same ones again do no harm."""
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        body = json_bytes_of([self._alert(notice, now) for notice in urgent_first(notices)])
        try:
            reply = self._poster.post(body, self._headers)
        except PostError as error:
            return error.delivery()
        return Delivery(delivered=True) if reply.ok else reply.refusal()

    def refresh(self, firing: Sequence[Notice]) -> Delivery:
        """Say of everything that fires that it still does; to be called at each check."""
        return self.send(firing)

    def _alert(self, notice: Notice, now: datetime) -> dict[str, Any]:
        since = min(notice.since.astimezone(UTC), now)
        if notice.kind in _OVER:
            ends = now
        else:
            seconds = _TEST_S if notice.kind == "test" else self._expires_s
            ends = now + timedelta(seconds=seconds)
        alert = {
            "labels": labels(notice),
            "annotations": self._annotations(notice),
            "startsAt": since.isoformat(timespec="milliseconds"),
            "endsAt": ends.isoformat(timespec="milliseconds"),
        }
        return alert | ({"generatorURL": notice.link} if _is_uri(notice.link) else {})

    def _annotations(self, notice: Notice) -> dict[str, str]:
        words = message(notice, self._language)
        found = {
            "summary": words.title,
            "description": plain(words, self._language),
            "value": number(notice.metric, notice.value, self._language),
            "n": str(notice.n),
            "worst_query": notice.worst_query,
            "runbook_url": notice.runbook,
        }
        return {name: text for name, text in found.items() if text}


def labels(notice: Notice) -> dict[str, str]:
    """What tells this alert from every other one, and is the same from its beginning to its end.

    A column of the slice stands under ``slice_`` and its name, with ``_`` for what a label's name
    may not hold.
    """
    found = {
        "alertname": notice.rule,
        "job": "ragnostic",
        "severity": notice.severity,
        "metric": notice.metric,
        "stage": notice.stage,
        "owner": notice.owner,
        "test": "true" if notice.kind == "test" else "",
        **{f"slice_{_NO_LABEL.sub('_', name)}": value for name, value in notice.slice.items()},
    }
    return {name: value for name, value in found.items() if value}


def _is_uri(text: str) -> bool:
    try:
        return urlsplit(text).scheme in {"http", "https"} and text.isascii() and " " not in text
    except ValueError:
        return False
