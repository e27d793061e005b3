"""One row of an evaluation set, whatever the format, into a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from ragnostic.corpus.strict_json import RowError, kind_of, read_id
from ragnostic.errors import DataError, Fault, UsageError
from ragnostic.evalset.gold_value import grade_first_higher, read_gold
from ragnostic.evalset.remarks import Remarks, announce
from ragnostic.plugins import nearest
from ragnostic.records import EvalQuery, QueryField

FIRST_IS_EXACT = "first-is-exact"
KEYS: tuple[str, ...] = get_args(QueryField)
_TEXTS = ("group", "category", "language", "answer", "source")


@dataclass(frozen=True)
class RowReader:
    """How rows become queries: ``mapping`` is our name → the file's name, ``graded`` how plain
    ids are graded (``None`` or ``"first-is-exact"``). Raises UsageError for unknown settings.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    graded: str | None = None

    def __post_init__(self) -> None:
        for name in self.mapping:
            if name not in KEYS:
                raise UsageError(
                    f"the mapping names {name!r}, which is no field of an evaluation set",
                    hint=nearest(name, list(KEYS)) or f"fields: {', '.join(KEYS)}",
                )
        if self.graded not in (None, FIRST_IS_EXACT):
            raise UsageError(
                f"graded = {self.graded!r} is unknown", hint=f'the only value is "{FIRST_IS_EXACT}"'
            )

    def read(self, row: Mapping[str, Any]) -> tuple[EvalQuery, Remarks]:
        """The query of a row; raises RowError.

        >>> RowReader().read({"query_id": "q1", "query": "Why?", "gold": ["c1"]})[0].gold[0][0].id
        'c1'
        """
        values = self._renamed(row)
        remarks = Remarks(unknown_keys=values.keys() - set(KEYS))
        for name in ("query_id", "query"):
            if name not in values:
                raise RowError(f"has no {self.mapping.get(name, name)!r}{_hint(name, row)}")
        query_id = read_id(values["query_id"], "query_id", remarks.number_ids)
        remarks.query_id = query_id
        texts = {name: _text(values.get(name), name) for name in _TEXTS}
        query = values["query"]
        if not isinstance(query, str) or not query.strip():
            problem = "is blank" if isinstance(query, str) else f"is {kind_of(query)}, not a text"
            raise RowError(f"the query of {query_id!r} {problem}")
        return EvalQuery(
            query_id=query_id,
            query=query,
            gold=self._gold(values, remarks),
            answerable=_answerable(values.get("answerable")),
            frequency=_frequency(values.get("frequency")),
            labels=_labels(values.get("labels")),
            **texts,
        ), remarks

    def our_name(self, name: str) -> str | None:
        """What we call a key of the file; None for one of our names that is mapped elsewhere.

        >>> reader = RowReader({"query": "问题"})
        >>> reader.our_name("问题"), reader.our_name("query"), reader.our_name("gold")
        ('query', None, 'gold')
        """
        ours = next((ours for ours, theirs in self.mapping.items() if theirs == name), None)
        return ours or (None if name in self.mapping else name)

    def _renamed(self, row: Mapping[str, Any]) -> dict[str, Any]:
        named = ((self.our_name(name), value) for name, value in row.items())
        return {name: value for name, value in named if name}

    def _gold(self, values: Mapping[str, Any], remarks: Remarks) -> Any:
        if values.get("gold") is not None and values.get("gold_ids") is not None:
            raise RowError("has both gold and gold_ids")
        if values.get("gold_ids") is None:
            return read_gold(values.get("gold"), remarks)
        ids = values["gold_ids"]
        if not isinstance(ids, list) or any(isinstance(entry, dict | list) for entry in ids):
            raise RowError("gold_ids must be an array of ids; groups and spans belong in gold")
        gold = read_gold(ids, remarks)
        return grade_first_higher(gold) if self.graded else gold


def read_rows(
    name: str,
    rows: Iterable[tuple[int, Callable[[], Mapping[str, Any]]]],
    reader: RowReader,
    faults: list[Fault],
) -> list[EvalQuery]:
    """The queries of a file's rows, given as (physical line, function that gives the row).

    A row that cannot be read (RowError), or whose query id came before, is left out with a Fault
    of kind ``quarantined`` naming file and line. Raises DataError if nothing is left.
    """
    queries: dict[str, EvalQuery] = {}
    first_line: dict[str, int] = {}
    noted: list[tuple[str, Remarks]] = []
    before = len(faults)
    for line, row in rows:
        where = f"{name}:{line}"
        try:
            query, remarks = reader.read(row())
            refuse_second(query.query_id, first_line)
        except RowError as error:
            message = f"{error}; line left out"
            faults.append(Fault("quarantined", message, where=where, count=error.rows))
            continue
        queries[query.query_id] = query
        first_line[query.query_id] = line
        noted.append((where, remarks))
    if not queries:
        reasons = [str(fault) for fault in faults[before : before + 3]]
        raise DataError(
            "\n".join([f"{name} holds no usable query", *reasons]),
            hint='one JSON object a line: {"query_id": …, "query": …, "gold": […]}, or CSV',
        )
    announce(name, noted, faults)
    return list(queries.values())


def refuse_second(query_id: str, first_line: Mapping[str, int]) -> None:
    """Raise RowError if this query id stands in an earlier line already."""
    if query_id in first_line:
        raise RowError(f"query id {query_id!r} was given before, in line {first_line[query_id]}")


def _hint(name: str, row: Mapping[str, Any]) -> str:
    hint = nearest(name, list(row))
    return f" ({hint})" if hint else ""


def _text(value: Any, name: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if name in ("group", "category") and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise RowError(f"{name} must be a text, not {kind_of(value)}")


def _labels(value: Any) -> dict[str, str]:
    """Labels as text: numbers as JSON writes them; null is no label."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RowError(f"labels must be an object, not {kind_of(value)}")
    return {key: _label(key, label) for key, label in value.items() if label is not None}


def _label(key: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowError(f"the label {key!r} must be a text or a number, not {kind_of(value)}")
    return str(value)


def _answerable(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, bool):
        raise RowError(f"answerable must be true or false, not {kind_of(value)}")
    return value


def _frequency(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise RowError(f"frequency must be a whole number of 0 or more, not {value!r:.40}")
    return value
