"""Secrets come from the environment, and never reach a message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragnostic.errors import UsageError

_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)\}", re.ASCII)
_WHOLE = re.compile(r"env:([A-Za-z_]\w*)", re.ASCII)
_EXCERPT = 200
_SHORTEST_SECRET = 4


@dataclass(frozen=True, slots=True)
class Expanded:
    """Settings with the variables filled in, and the values that no message may show."""

    values: Mapping[str, str]
    secrets: tuple[str, ...]


def expand(settings: Mapping[str, str], environment: Mapping[str, str], what: str) -> Expanded:
    """Replace ``${NAME}`` anywhere in a value, and a value ``env:NAME`` as a whole.

    White space around a variable's value is taken off (a file read into a variable ends in a
    line feed). Raises UsageError that names every variable that is missing or empty, and for a
    value with characters that no header may hold; the message never holds a value.

    >>> expand({"Authorization": "Bearer ${KEY}"}, {"KEY": "s3cret"}, "header").values
    {'Authorization': 'Bearer s3cret'}
    """
    missing: list[str] = []
    secrets: list[str] = []

    def value_of(match: re.Match[str]) -> str:
        value = environment.get(match[1], "").strip()
        if value:
            secrets.append(value)
        elif match[1] not in missing:
            missing.append(match[1])
        return value

    values = {
        name: value_of(whole)
        if (whole := _WHOLE.fullmatch(text))
        else _REFERENCE.sub(value_of, text)
        for name, text in settings.items()
    }
    if missing:
        raise UsageError(
            f"{what} needs the environment variable{'s' if len(missing) > 1 else ''} "
            f"{', '.join(missing)}, not set or empty",
            hint=f"export {missing[0]}=… before the run; secrets are not read from the settings",
        )
    for name, value in values.items():
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"{what} {name}: its value holds characters that may not be sent")
    return Expanded(values, tuple(sorted(set(secrets), key=len, reverse=True)))


def redact(text: str, secrets: Iterable[str]) -> str:
    """``text`` with each secret replaced by ``***``; secrets come longest first.

    >>> redact("invalid key s3cret", ["s3cret"])
    'invalid key ***'
    """
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text


def excerpt(body: bytes | str, secrets: Iterable[str] = ()) -> str:
    r"""One printable line of at most 200 characters of an answer, without secrets.

    >>> excerpt(b"<h1>Bad\n gateway</h1>\x1b[31m")
    '<h1>Bad gateway</h1> [31m'
    """
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    text = redact(text, secrets)
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return line if len(line) <= _EXCERPT else f"{line[:_EXCERPT]}…"
