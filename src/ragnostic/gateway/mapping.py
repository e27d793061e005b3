"""JSON of any service to record rows, by JMESPath expressions in a TOML file.

::

    query = "request.query"  # a record's field
    ts = "ts"
    [retrieve]  # a stage, in pipeline order
    ids = "response.hits[].id"
    top_k = 20  # a number stands for itself
    [labels]  # whatever else is worth slicing by
    shop = "request.shop"
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragnostic.adapters.environment import excerpt
from ragnostic.adapters.expressions import check
from ragnostic.adapters.projection import evaluate
from ragnostic.config.faults import dotted, unknown_key
from ragnostic.config.source import read_source
from ragnostic.config.toml_lines import KeyPath
from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import ConfigError, ConfigFault, counted
from ragnostic.gateway.stage_rows import MEMBERS
from ragnostic.gateway.validation import OWN
from ragnostic.records import BASE_FIELDS

FIELDS = tuple(sorted({*BASE_FIELDS, *OWN} - {"judged", "judge", "labels", "stages", "capture"}))
"""What a map may fill in a record, beside stages and labels."""

Find = Callable[[Any], Any]
_LIBRARY_ERRORS = (ValueError, ArithmeticError, TypeError, RecursionError)


@dataclass(slots=True)
class Misses:
    """How often an expression found nothing, by its name, and in how many documents it was
    looked for. One that never finds anything is misspelt, most likely.
    """

    documents: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def lines(self, where: Mapping[str, str]) -> list[str]:
        """A line for each expression that found nothing in any document.

        >>> Misses(3, Counter({"ts": 1, "answer": 3})).lines({"answer": "map.toml:4"})
        ['map.toml:4: answer finds nothing in any of 3 documents']
        """
        read = counted(self.documents, "document")
        return [
            f"{where[name]}: {name} finds nothing in any of {read}"
            for name, count in self.counts.items()
            if count >= self.documents
        ]


@dataclass(frozen=True, slots=True)
class RecordMap:
    """Expressions by the record's field, by stage and member, and by label, ready to run.

    ``where`` names the place of each by its dotted name; ``fingerprint`` changes with them.
    """

    fields: Mapping[str, Find]
    stages: Mapping[str, Mapping[str, Find]]
    labels: Mapping[str, Find]
    where: Mapping[str, str]
    fingerprint: str

    def row(self, document: Any, misses: Misses | None = None) -> dict[str, Any]:
        """The record row of a JSON document; raises RowError where an expression fails.

        What an expression does not find is left out, and counted in ``misses`` by its name. A
        stage without ids is left out too, unless its status is ``failed``. Lists keep their
        nulls, as a place in a ranking must not vanish.

        >>> tree = {"query": "q", "retrieve": {"ids": "hits[].id"}}
        >>> build_map(tree, lambda path: "").row({"q": "a", "hits": [{"id": "x"}, {}]})
        {'query': 'a', 'stages': {'retrieve': {'ids': ['x', None]}}}
        """
        if misses is not None:
            misses.documents += 1
        row = self._found("", self.fields, document, misses)
        stages = {}
        for name, members in self.stages.items():
            stage = self._found(f"{name}.", members, document, misses)
            if "ids" in stage or stage.get("status") == "failed":
                stages[name] = stage
        if stages:
            row["stages"] = stages
        labels = self._found("labels.", self.labels, document, misses)
        if labels:
            row["labels"] = labels
        return row

    def _found(
        self, prefix: str, finds: Mapping[str, Find], document: Any, misses: Misses | None
    ) -> dict[str, Any]:
        values = {}
        for name, find in finds.items():
            try:
                value = find(document)
            except _LIBRARY_ERRORS as error:
                raise RowError(f"{prefix}{name}: {excerpt(str(error))}") from None
            if value is not None:
                values[name] = value
            if misses is not None and _is_nothing(value):
                misses.counts[f"{prefix}{name}"] += 1
        return values


def read_map(path: Path) -> RecordMap:
    """The map in a TOML file; raises ConfigError with all faults, each with its line."""
    source = read_source(path, ())
    return build_map(source.tree, source.where)


def build_map(
    tree: Mapping[str, Any], where: Callable[[KeyPath], str], prefix: KeyPath = ()
) -> RecordMap:
    """A map from its tables. ``where`` says where a key path stands, ``prefix`` is the path of
    ``tree`` itself. Raises ConfigError with all faults.
    """
    builder = _Builder(where, prefix)
    tables = {name: value for name, value in tree.items() if isinstance(value, Mapping)}
    plain = {name: value for name, value in tree.items() if name not in tables}
    fields = builder.compiled((), plain, FIELDS)
    labels = builder.compiled(("labels",), tables.pop("labels", {}), None)
    stages = {}
    for name, members in tables.items():
        if name in BASE_FIELDS or name in OWN:
            builder.fault((name,), f"{name} must be an expression, not a table")
            continue
        stages[name] = builder.compiled((name,), members, sorted(MEMBERS))
        if "ids" not in members:
            builder.fault((name,), f"{name}.ids is missing", "JMESPath of the chunk ids")
    if not fields and not stages and not builder.faults:
        builder.fault((), "the map is empty", 'for example query = "request.query"')
    if builder.faults:
        raise ConfigError(builder.faults)
    text = json.dumps(tree, sort_keys=True, default=str)
    fingerprint = hashlib.sha256(text.encode()).hexdigest()[:16]
    return RecordMap(fields, stages, labels, builder.places, fingerprint)


class _Builder:
    """Compiles expressions and gathers what is wrong with them."""

    def __init__(self, where: Callable[[KeyPath], str], prefix: KeyPath) -> None:
        self._where = where
        self._prefix = prefix
        self.faults: list[ConfigFault] = []
        self.places: dict[str, str] = {}

    def fault(self, path: KeyPath, message: str, hint: str = "") -> None:
        self.faults.append(ConfigFault(self._where((*self._prefix, *path)), message, hint))

    def compiled(
        self, path: KeyPath, table: Mapping[str, Any], known: tuple[str, ...] | list[str] | None
    ) -> dict[str, Find]:
        found: dict[str, Find] = {}
        for name, value in table.items():
            key = (*path, name)
            if known is not None and name not in known:
                place = self._where((*self._prefix, *key))
                self.faults.append(unknown_key(place, key, known))
                continue
            self.places[dotted(key)] = self._where((*self._prefix, *key))
            try:
                found[name] = _find(value)
            except ValueError as error:
                self.fault(key, f"{dotted(key)}: {error}")
        return found


def _find(value: Any) -> Find:
    """How a value is found in a document; raises ValueError for what is no expression."""
    if isinstance(value, bool | int | float):
        return lambda _: value
    if not isinstance(value, str):
        raise ValueError("must be a JMESPath expression or a number")  # noqa: TRY004 - caught
    import jmespath  # noqa: PLC0415 - loaded on use

    parsed = jmespath.compile(check(value)).parsed
    names = _names(parsed)
    if names is not None:
        return lambda document: _member(document, names)
    listed = _listed_names(parsed)
    if listed is not None:
        return lambda document: _listed(document, *listed, parsed)
    return lambda document: evaluate(parsed, document).value


def _names(node: Any) -> tuple[str, ...] | None:
    """The names of a plain path such as ``request.query``; None for anything else."""
    if node["type"] == "field":
        return (str(node["value"]),)
    if node["type"] != "subexpression":
        return None
    parts = [_names(child) for child in node["children"]]
    if any(part is None for part in parts):
        return None
    return tuple(name for part in parts for name in part or ())


def _member(document: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        if not isinstance(document, dict):
            return None
        document = document.get(name)
    return document


def _listed_names(node: Any) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The names up to a list and those in each of its members, of a path such as ``hits[].id``."""
    if node["type"] != "projection" or node["children"][0]["type"] != "flatten":
        return None
    outer, inner = _names(node["children"][0]["children"][0]), _names(node["children"][1])
    return None if outer is None or inner is None else (outer, inner)


def _listed(
    document: Any, outer: tuple[str, ...], inner: tuple[str, ...], parsed: Any
) -> list[Any] | None:
    """As ``evaluate`` does, at a fraction of its cost: every record has such paths."""
    members = _member(document, outer)
    if not isinstance(members, list):
        return None
    if any(isinstance(one, list) for one in members):  # lists in the list are flattened
        found: list[Any] | None = evaluate(parsed, document).value
        return found
    return [_member(one, inner) for one in members]


def _is_nothing(value: Any) -> bool:
    """Null, or a list of nothing but nulls, as a misspelt name in it gives."""
    if isinstance(value, list):
        return bool(value) and all(one is None for one in value)
    return value is None
