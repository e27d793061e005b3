"""Two builds of one index, and whether a text keeps its id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ragnostic.errors import DataError, PathError, StoreError

_SCHEMA = pa.schema([("id", pa.string()), ("text", pa.int64())])


@dataclass(frozen=True, slots=True)
class Builds:
    """``texts``: those that are in both builds; ``moved``: (id before, id now) of those that
    share no id any more; ``reused``: ids that stand for another text while their own one lives on
    under another id.
    """

    texts: int
    moved: tuple[tuple[str, str], ...]
    reused: tuple[str, ...]


def compare_builds(before: Mapping[str, int], now: Mapping[str, int]) -> Builds:
    """By id → digest of the text.

    >>> compare_builds({"0": 11, "1": 22}, {"0": 33, "1": 11, "2": 22})
    Builds(texts=2, moved=(('0', '1'), ('1', '2')), reused=('0', '1'))
    """
    old, new = _ids(before), _ids(now)
    both = [text for text in old if text in new]
    moved = [(min(old[text]), min(new[text])) for text in both if not old[text] & new[text]]
    reused = [
        id_ for id_, text in before.items() if text in new and id_ in now and now[id_] != text
    ]
    return Builds(len(both), tuple(sorted(moved)), tuple(sorted(reused)))


def _ids(listing: Mapping[str, int]) -> dict[int, set[str]]:
    found: defaultdict[int, set[str]] = defaultdict(set)
    for id_, text in listing.items():
        found[text].add(id_)
    return found


def write_listing(path: Path, listing: Mapping[str, int]) -> None:
    """Keep what a build holds: ids and hashes, no text. Raises StoreError."""
    table = pa.table({"id": list(listing), "text": list(listing.values())}, schema=_SCHEMA)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error


def read_listing(path: Path) -> dict[str, int]:
    """What an earlier check kept; raises PathError or DataError."""
    if not path.is_file():
        raise PathError(f"no such file: {path}", hint="ragnostic index check … --keep writes it")
    try:
        table = pq.read_table(path, columns=_SCHEMA.names)
    except (OSError, pa.ArrowException) as error:
        raise DataError(
            f"{path} is no listing of an index", hint="ragnostic index check … --keep writes it"
        ) from error
    return dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
