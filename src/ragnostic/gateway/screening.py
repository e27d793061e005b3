"""A request looked at before the service sees it: is its query worth asking, and in which form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from ragnostic.gateway.json_edit import find_string, replace_string
from ragnostic.gateway.query_filter import first_reason, rules, strip_punctuation
from ragnostic.gateway.settings import FilterSettings, ReplySettings

QueryOf = Callable[[Any], Any]
"""The query in an object of request, params, headers and path, by ``map.query``."""


class Screened(NamedTuple):
    """What became of a request: the body for the service, what was found, what is answered.

    ``searched`` is the query as the service gets it, where that is not as it was asked.
    """

    body: bytes
    reason: str | None = None
    searched: str | None = None
    reply: ReplySettings | None = None


class Screen:
    """Looks at queries by the settings; ``count`` is told of those that could not be looked at."""

    def __init__(
        self,
        settings: FilterSettings,
        query_of: QueryOf,
        classifier: Callable[[str], Any] | None,
        count: Callable[[str], object],
    ) -> None:
        self._settings = settings
        self._query_of = query_of
        self._classifier = classifier
        self._count = count
        self._rules = rules(settings)

    async def look(self, target: bytes, headers: Mapping[str, str], body: bytes) -> Screened:
        """What is to be done with a request; one that holds no query goes on as it is."""
        if headers.get("content-encoding", "identity") != "identity":
            self._count("filter_unread")
            return Screened(body)
        query = self._query(target, headers, body)
        if query is None:
            self._count("filter_without_query")
            return Screened(body)
        reason = first_reason(query, self._rules) or await self._classified(query)
        if reason is not None:
            self._count("filtered")
            if self._settings.action != "tag":
                return Screened(body, reason, reply=getattr(self._settings, self._settings.action))
        return self._stripped(query, body, reason)

    def _query(self, target: bytes, headers: Mapping[str, str], body: bytes) -> str | None:
        """Where a field names its place that is where it is looked for, else by the expression."""
        if self._settings.field is not None and body:
            place = find_string(body.decode("utf-8", "replace"), self._settings.field)
            if place is not None:
                return place.value
        path, _, written = target.decode("latin-1").partition("?")
        try:
            request = json.loads(body) if body else None
        except (ValueError, RecursionError):
            request = None
        params = dict(parse_qsl(written, keep_blank_values=True))
        try:
            found = self._query_of(
                {"request": request, "params": params, "headers": headers, "path": path}
            )
        except Exception:  # noqa: BLE001 - an expression that does not fit this request
            return None
        return found if isinstance(found, str) else None

    def _stripped(self, query: str, body: bytes, reason: str | None) -> Screened:
        short = strip_punctuation(query) if self._settings.strip_punctuation else query
        if short == query or self._settings.field is None:
            return Screened(body, reason)
        changed = replace_string(body, self._settings.field, short)
        if changed is None:
            return Screened(body, reason)
        return Screened(changed, reason, searched=short)

    async def _classified(self, query: str) -> str | None:
        """The classifier's reason; one that is slow or fails holds nothing up."""
        if self._classifier is None:
            return None
        try:
            said = await asyncio.wait_for(
                asyncio.to_thread(self._classifier, query),
                self._settings.classifier_timeout_ms / 1000,
            )
        except Exception:  # noqa: BLE001 - the user's code, or its time is over
            self._count("classifier_failures")
            return None
        return "classifier" if said is True else said if isinstance(said, str) and said else None
