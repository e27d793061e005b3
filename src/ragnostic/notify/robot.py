"""What the robots of group chats have in common: an address with a secret in it, one message
after the other within a rate, and answers that may be failures whatever their status.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from ragnostic.errors import UsageError
from ragnostic.notify.address_guard import check_url
from ragnostic.notify.http_post import PostError, Reply, one_line, post
from ragnostic.notify.limiter import Rate, RateLimiter
from ragnostic.notify.message import urgent_first
from ragnostic.notify.phrases import Language
from ragnostic.notify.post_options import JSON, PostOptions, json_bytes_of, value_of
from ragnostic.ports import Clock, Delivery, Notice

PATIENCE_S = 3.0
"""A rate limit that opens within this is waited for; a longer one is left to the outbox."""

_FOREIGN_S = 60.0


class RobotOptions(PostOptions):
    """Settings of every robot of a group chat."""

    url_env: str = Field(
        description="Environment variable that holds the address of the robot.", min_length=1
    )
    max_messages: int = Field(
        default=5,
        ge=1,
        le=20,
        description="Messages in one sending; notices beyond them are only counted.",
    )


class Robot(ABC):
    """A robot of a group chat. A subclass says how its vendor's messages look and are answered.

    A sending that breaks off half-way goes on where it stopped when the same notices are sent
    again by the same process.
    """

    Options: ClassVar[type[RobotOptions]]
    rates: ClassVar[tuple[Rate, ...]]

    def __init__(
        self, name: str, options: Any, environment: Mapping[str, str], clock: Clock
    ) -> None:
        """Raises UsageError for a missing variable and for an address that may not be used."""
        self.name = name
        self.language: Language = options.language
        self._options = options
        self._clock = clock
        self._limiter = RateLimiter(self.rates)
        self._broken_off = ("", 0)
        self._secret = value_of(getattr(options, "secret_env", ""), environment, name)
        self._proxy = value_of(options.proxy_env, environment, name)
        url = value_of(options.url_env, environment, name)
        try:
            self._url = check_url(url, allow_private=options.allow_private)
        except ValueError as error:
            fault = f"channel {name!r}: the address in {options.url_env} {error}"
            raise UsageError(fault) from None

    @abstractmethod
    def messages(self, told: Sequence[Notice], left_out: Sequence[Notice]) -> list[dict[str, Any]]:
        """The vendor's messages, as few as they need; ``left_out`` are only counted, at the end."""

    @abstractmethod
    def verdict(self, reply: Reply) -> Delivery:
        """What an answer of the vendor means."""

    def envelope(self, message: dict[str, Any], now: float) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 - a signature is of its moment
        """Address and body for a message that goes at ``now`` (epoch seconds)."""
        return self._url, message

    def send(self, notices: Sequence[Notice]) -> Delivery:
        """Tell all of them, the most severe first; never raises for what the other side does."""
        if not notices:
            return Delivery(delivered=True)
        messages = self._fitting(urgent_first(notices))
        key = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
        before, place = self._broken_off
        done = place if before == key else 0
        # Whole or not at all: what broke off half-way could come twice after a restart.
        wait = self._limiter.wait(self._clock.now(), len(messages) - done)
        if wait > PATIENCE_S:
            reason = f"the rate limit of {self.name} is used up"
            return Delivery(delivered=False, reason=reason, retry_after_s=wait)
        for place in range(done, len(messages)):
            delivery = self._send_one(messages[place])
            if not delivery.delivered:
                return delivery
            self._broken_off = (key, place + 1)
        self._broken_off = ("", 0)
        return Delivery(delivered=True)

    def failure(self, reply: Reply, reason: str, retry_after_s: float | None = None) -> Delivery:
        """The delivery that failed for a reason of the vendor's own, told without a secret."""
        told = one_line(f"{reply.where} says {reason}", reply.secrets)
        return Delivery(delivered=False, reason=told, retry_after_s=retry_after_s)

    def not_the_vendor(self, reply: Reply) -> Delivery:
        """A success without the vendor's words: the page of a proxy, say, which may pass."""
        return self.failure(reply, f"what the vendor would not: {reply.excerpt()}", _FOREIGN_S)

    def coded(self, reply: Reply, code: str, text: str, busy: Mapping[int, float]) -> Delivery:
        """What an answer means that holds a number under ``code``: 0 is success.

        ``busy`` are the numbers after which another try makes sense, with the seconds to wait.
        """
        answer = reply.json()
        number = answer.get(code) if isinstance(answer, dict) else None
        if isinstance(number, bool) or not isinstance(number, int):
            return self.not_the_vendor(reply) if reply.ok else reply.refusal()
        if number == 0 and reply.ok:
            return Delivery(delivered=True)
        wait = reply.refusal().retry_after_s
        if number in busy:
            wait = max(busy[number], reply.retry_after_s())
        return self.failure(reply, f"{code} {number}: {answer.get(text) or '(no text)'}", wait)

    def _fitting(self, notices: Sequence[Notice]) -> list[dict[str, Any]]:
        """Messages for all of them, or for as many as ``max_messages`` can hold and a count."""
        found = self.messages(notices, ())
        told, too_many = 1, len(notices)
        # The most urgent one is always told, however long it is.
        while len(found) > self._options.max_messages and too_many - told > 1:
            middle = (told + too_many) // 2
            tried = self.messages(notices[:middle], notices[middle:])
            if len(tried) > self._options.max_messages:
                too_many = middle
            else:
                told = middle
        if len(found) > self._options.max_messages:
            found = self.messages(notices[:told], notices[told:])
        return found

    def _send_one(self, message: dict[str, Any]) -> Delivery:
        wait = self._limiter.wait(self._clock.now())
        if wait:
            self._clock.sleep(wait)
        now = self._clock.now()
        url, body = self.envelope(message, now)
        self._limiter.sent(now)
        try:
            reply = post(
                url,
                json_bytes_of(body),
                JSON,
                allow_private=self._options.allow_private,
                timeout_s=self._options.timeout_s,
                proxy=self._proxy,
                secrets=(self._secret,) if self._secret else (),
            )
        except PostError as error:
            return error.delivery()
        delivery = self.verdict(reply)
        if delivery.retry_after_s:
            self._limiter.refused(now, delivery.retry_after_s)
        return delivery
