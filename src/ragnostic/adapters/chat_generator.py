"""Any OpenAI-compatible ``/v1/chat/completions`` service."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, JsonValue

from ragnostic.adapters.environment import excerpt, redact
from ragnostic.adapters.http_client import JsonClient, QueryServiceOptions
from ragnostic.errors import GenerationError, NoAnswer
from ragnostic.ports import Generation, Resources

_PATH = "/chat/completions"
_VERSION = re.compile(r"/v\d+\w*$")
_FINISHED: dict[str, tuple[NoAnswer, str, str]] = {
    "length": ("truncated", "the answer was cut at its longest length", "raise max_tokens"),
    "content_filter": ("filtered", "the service held the answer back", ""),
}
"""Reason for which an answer ended → status, message, hint; any other one is a whole answer."""
_LONG_SECRET = 16
"""Shorter keys are the dummies of local servers, and may be words of an answer."""


def completions_url(url: str) -> str:
    """The address that is called: a base address may come with or without its version.

    >>> completions_url("http://localhost:8000")
    'http://localhost:8000/v1/chat/completions'
    >>> completions_url("https://api.example.com/v1/?api-version=2")
    'https://api.example.com/v1/chat/completions?api-version=2'
    >>> completions_url("https://api.example.com/paas/v4/chat/completions")
    'https://api.example.com/paas/v4/chat/completions'
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path.endswith(_PATH):
        path += _PATH if _VERSION.search(path) else f"/v1{_PATH}"
    return parts._replace(path=path).geturl()


class ChatGenerator:
    """Answers from a chat model. An answer that is cut, held back, empty or of another shape is
    a GenerationError, never a text.
    """

    class Options(QueryServiceOptions):
        """The same question has the same answer as far as the service allows: temperature 0, and
        a ``seed`` where it takes one.
        """

        model: str = Field(min_length=1, description="Name of the model, as the service knows it.")
        temperature: Annotated[float, Field(ge=0, le=2)] | Literal["default"] = Field(
            default=0.0,
            description="0 for answers that can be repeated; default: not sent, for models that "
            "take no other.",
        )
        max_tokens: int = Field(
            default=1024,
            ge=0,
            le=10_000_000,
            description="Longest answer; 0: not sent. An answer that is cut there is a failure.",
        )
        seed: int | None = Field(
            default=None, description="Sent where it is given; for services that know it."
        )
        body: dict[str, JsonValue] = Field(
            default_factory=dict, description="Added to the request."
        )
        timeout_s: float = Field(
            default=120.0, gt=0, le=100_000, description="Seconds that one call may take in all."
        )

    needs_embedder: ClassVar[bool] = False

    def __init__(self, options: Options, client: JsonClient) -> None:
        self.workers = options.workers
        self._model = options.model
        self._client = client
        self._body = _body(options)
        self.name = f"{client.where} {json.dumps(self._body, sort_keys=True, ensure_ascii=False)}"

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Raises UsageError when the variable that holds the key is missing."""
        called = options.model_copy(update={"url": completions_url(options.url)})
        return cls(options, JsonClient(called, resources.environment))

    def generate(self, system: str, user: str) -> Generation:
        """One call; an empty ``system`` is not sent."""
        roles = (("system", system), ("user", user))
        messages = [{"role": role, "content": text} for role, text in roles if text]
        answer = self._client.call("POST", body={**self._body, "messages": messages}).json
        text = redact(self._text(answer), [key for key in self._client.secrets if _is_long(key)])
        model = answer.get("model")
        usage = answer.get("usage")
        return Generation(
            text,
            model if isinstance(model, str) and model else self._model,
            _counts(usage) if isinstance(usage, Mapping) else {},
        )

    def _text(self, answer: Any) -> str:
        choices = answer.get("choices") if isinstance(answer, Mapping) else None
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
            raise self._none(f"no message in choices[0] of {answer!r}")
        if choice.get("finish_reason") in _FINISHED:
            status, reason, hint = _FINISHED[choice["finish_reason"]]
            raise self._none(reason, status, hint)
        if message.get("refusal"):
            raise self._none(f"the model refused: {message['refusal']}", "filtered")
        text = message.get("content")
        if not isinstance(text, str):
            raise self._none(f"the content of the message is no text: {message!r}")
        if not text.strip():
            raise self._none("the answer is empty")
        return text

    def _none(self, reason: str, status: NoAnswer = "malformed", hint: str = "") -> GenerationError:
        told = excerpt(reason, self._client.secrets)
        return GenerationError(f"{self._client.where}: {told}", status=status, hint=hint)


def _body(options: ChatGenerator.Options) -> dict[str, Any]:
    body: dict[str, Any] = {"model": options.model}
    if options.temperature != "default":
        body["temperature"] = options.temperature
    if options.max_tokens:
        body["max_tokens"] = options.max_tokens
    if options.seed is not None:
        body["seed"] = options.seed
    return body | options.body


def _counts(usage: Mapping[str, Any]) -> dict[str, int]:
    """The token counts of an answer; what is no count is left out."""
    return {name: count for name, count in usage.items() if type(count) is int and count >= 0}


def _is_long(secret: str) -> bool:
    return len(secret) >= _LONG_SECRET
