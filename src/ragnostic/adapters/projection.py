"""JMESPath lists that keep their nulls: a place in a ranking must not vanish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_PROJECTIONS = ("projection", "value_projection", "filter_projection")

Node = Any
"""A node of a parsed expression: a dict of type, value and children."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an expression gave. ``elements`` are what its last list projected, ``field`` is the
    first name that it reads in each of them; both None where the expression ends otherwise.
    """

    value: Any
    elements: list[Any] | None = None
    field: str | None = None


def evaluate(parsed: Node, answer: Any) -> Found:
    """The value of a parsed expression; a list that it ends with keeps a null for each element
    that has none, where JMESPath itself drops it.

    >>> import jmespath
    >>> evaluate(jmespath.compile("hits[].id").parsed, {"hits": [{"id": None}, {"id": 7}]}).value
    [None, 7]
    """
    from jmespath.visitor import TreeInterpreter  # noqa: PLC0415 (loaded on use)

    interpreter = TreeInterpreter()
    children = parsed["children"]
    if parsed["type"] == "pipe":
        return evaluate(children[1], interpreter.visit(children[0], answer))
    if parsed["type"] not in _PROJECTIONS:
        return Found(interpreter.visit(parsed, answer))
    elements = interpreter.visit(children[0], answer)
    if parsed["type"] == "value_projection" and isinstance(elements, dict):
        elements = list(elements.values())
    if not isinstance(elements, list):
        return Found(None)
    if parsed["type"] == "filter_projection":
        kept = TreeInterpreter()
        elements = [one for one in elements if _true(kept.visit(children[2], one))]
    values = [interpreter.visit(children[1], element) for element in elements]
    return Found(values, elements, _first_field(children[1]))


def _true(value: Any) -> bool:
    """JMESPath's truth: zero is true, empty texts, lists and objects are not."""
    return value is not None and value is not False and value not in ("", [], {})


def _first_field(node: Node) -> str | None:
    while node["type"] in ("subexpression", "index_expression") and node["children"]:
        node = node["children"][0]
    return str(node["value"]) if node["type"] == "field" else None
