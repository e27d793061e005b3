"""A robot that sends nowhere, and a notice for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ragnostic.notify.http_post import Reply
from ragnostic.ports import Notice

NOW = datetime(2026, 1, 5, tzinfo=UTC)
NOTICE = Notice("k", "firing", "P1", "r", "RCS@10", 0.6, 0.65, "limit", 100, NOW, (NOW, NOW), "UTC")


class Still:
    """A clock that stands."""

    def now(self) -> float:
        """One moment."""
        return 1_767_225_600.0

    def sleep(self, seconds: float) -> None:
        """Never needed."""
        raise AssertionError(seconds)


def robot(kind: Any, **options: Any) -> Any:
    """One in English, with an address that is never used."""
    options.setdefault("language", "en")
    environment = {"HOOK": "https://hooks.example/a?key=secret-of-hook", "KEY": "secret-of-signing"}
    return kind("ops", kind.Options(url_env="HOOK", **options), environment, Still())


def reply(body: bytes, status: int = 200, **headers: str) -> Reply:
    """An answer of a vendor."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, named, body, "hooks.example", ("secret-of-hook",))
