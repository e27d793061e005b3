"""Settings and sending of the channels that speak to a program over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ragnostic.errors import UsageError
from ragnostic.notify.address_guard import check_url
from ragnostic.notify.http_post import Reply, post

JSON = {"Content-Type": "application/json; charset=utf-8"}


class PostOptions(BaseModel):
    """Settings that all of them have."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: Literal["zh", "en"] = Field(default="zh", description="Language of the words.")
    timeout_s: float = Field(
        default=10.0, gt=0, le=300, description="Seconds that one call may take in all."
    )
    allow_private: bool = Field(
        default=False, description="Permit an address of this machine or of your own network."
    )
    proxy_env: str = Field(
        default="",
        description="Environment variable that holds the address of an HTTP proxy; none is used "
        "unless it is named here.",
    )


def value_of(variable: str, environment: Mapping[str, str], name: str) -> str:
    """What a variable holds for the channel ``name``; "" where no variable is named.

    Raises UsageError where it is not set or empty.

    >>> value_of("KEY", {"KEY": " s3cret "}, "ops"), value_of("", {}, "ops")
    ('s3cret', '')
    """
    value = environment.get(variable, "").strip() if variable else ""
    if variable and not value:
        raise UsageError(
            f"channel {name!r} needs the environment variable {variable}, not set or empty",
            hint=f"export {variable}=… where ragnostic runs; secrets are not read from the file",
        )
    return value


class Poster:
    """Posts JSON to one address, under the options of a channel. Raises UsageError for an address
    that nothing may be sent to.
    """

    def __init__(
        self,
        name: str,
        url: str,
        options: PostOptions,
        environment: Mapping[str, str],
        secrets: tuple[str, ...] = (),
    ) -> None:
        try:
            self._url = check_url(url, allow_private=options.allow_private)
        except ValueError as error:
            raise UsageError(f"channel {name!r}: the address {error}") from None
        self._options = options
        self._proxy = value_of(options.proxy_env, environment, name)
        self._secrets = tuple(filter(None, secrets))

    def post(self, body: bytes, headers: Mapping[str, str] | None = None) -> Reply:
        """The reply, whatever its status; raises PostError where there is none."""
        return post(
            self._url,
            body,
            {**JSON, **(headers or {})},
            allow_private=self._options.allow_private,
            timeout_s=self._options.timeout_s,
            proxy=self._proxy,
            secrets=self._secrets,
        )


def json_bytes_of(value: Any) -> bytes:
    """JSON in UTF-8; halves of broken characters, which UTF-8 cannot hold, become ``?``.

    >>> json_bytes_of({"query": "年假"}).decode()
    '{"query": "年假"}'
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
