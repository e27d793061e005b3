"""What pydantic finds, said to a person: dotted key, plain words, the nearest known name."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ragnostic.config.secrets import hide_secrets
from ragnostic.config.toml_lines import KeyPath
from ragnostic.errors import ConfigFault

_WORDS = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}
_NO_VALUE = ("string_too_short",)
_LIMITS = {
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
}


def dotted(path: Iterable[str | int]) -> str:
    """A key path as a person writes it.

    >>> dotted(("score", "metrics", 1))
    'score.metrics[1]'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def nearest_name(name: str, known: Iterable[str]) -> str:
    """The closest of the known names, or ''.

    >>> nearest_name("metric", ["metrics", "missing"])
    'metrics'
    """
    return next(iter(difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)), "")


def unknown_key(where: str, path: KeyPath, known: Iterable[str]) -> ConfigFault:
    """The fault for a key that no model has; the hint names the nearest, or all."""
    names = sorted(known)
    close = nearest_name(str(path[-1]), names)
    hint = f"did you mean {dotted((*path[:-1], close))}?" if close else f"known: {', '.join(names)}"
    return ConfigFault(where, f"unknown key {dotted(path)}", hint)


def translate(
    error: ValidationError,
    model: type[BaseModel],
    prefix: KeyPath,
    where: Callable[[KeyPath], str],
) -> list[ConfigFault]:
    """One fault an error, each with its place."""
    faults: list[ConfigFault] = []
    for found in error.errors(include_url=False):
        path = (*prefix, *found["loc"])
        if path[-1] == "[key]":  # pydantic's mark of a table whose keys are fixed
            names = re.findall(r"'(\w+)'", found["ctx"]["expected"])
            faults.append(unknown_key(where(path[:-1]), path[:-1], names))
        elif found["type"] == "extra_forbidden":
            faults.append(unknown_key(where(path), path, _names_at(model, found["loc"][:-1])))
        elif found["type"] == "missing":
            hint = _description(model, found["loc"])
            faults.append(ConfigFault(where(path), f"{dotted(path)} is missing", hint))
        else:
            message = _message(path, cast("dict[str, Any]", found))
            faults.append(ConfigFault(where(path), message))
    return faults


def _message(path: KeyPath, found: dict[str, Any]) -> str:
    words = _words(found)
    # A rule between the keys of a table is not about one value that could be shown.
    if not found["loc"] or not words.startswith("must "):
        return f"{dotted(path)}: {words}"
    shown = "" if found["type"] in _NO_VALUE else f", not {_shown(found['input'], str(path[-1]))}"
    return f"{dotted(path)} {words}{shown}"


def _words(found: dict[str, Any]) -> str:
    context = found.get("ctx", {})
    if found["type"] in _WORDS:
        text = _WORDS[found["type"]]
    elif found["type"] in _LIMITS:
        text = _LIMITS[found["type"]].format(**context)
    elif found["type"] == "value_error":
        text = str(context["error"])
    else:
        text = found["msg"].replace("Input should be", "must be", 1)
        text = text[:1].lower() + text[1:]
    return text


def _shown(value: Any, key: str) -> str:
    text = json.dumps(hide_secrets(value, key), ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _names_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    inner = _model_at(model, loc)
    return list(inner.model_fields) if inner else []


def _model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel] | None:
    """The model of the table at ``loc``; a whole number in it is a place in a list of tables."""
    for part in loc:
        if isinstance(part, int):
            continue
        field = model.model_fields.get(part)
        inner = _table_of(field.annotation) if field else None
        if inner is None:
            return None
        model = inner
    return model


def _table_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    members = get_args(annotation) if get_origin(annotation) is tuple else ()
    return _table_of(members[0]) if members else None


def _description(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    inner = _model_at(model, loc[:-1])
    field = inner.model_fields.get(str(loc[-1])) if inner else None
    return (field.description or "") if field else ""
