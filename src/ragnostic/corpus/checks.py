"""What is suspicious about the chunk ids of a corpus."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from ragnostic.errors import Fault, counted
from ragnostic.records import Chunk

_NAMED = 20
_ORDINAL = re.compile(r"(.*?)(\d{1,18})", re.DOTALL)


def check_ids(chunks: Sequence[Chunk]) -> list[Fault]:
    """Faults of the ids: ``duplicate_chunk_id``, and ``ordinal_ids`` where most ids only count.

    An ordinal id (0, 1, 2 … or a.md#0, a.md#1 …) moves to another text as soon as a chunk is
    inserted, and judgments then point at the wrong place.

    >>> chunks = [Chunk(f"a.md#{n}", "a.md", 0, 1, 1, "x") for n in range(3)]
    >>> [fault.kind for fault in check_ids(chunks)]
    ['ordinal_ids']
    """
    ids = [chunk.id for chunk in chunks]
    return [*_duplicates(ids), *_ordinals(ids)]


def _duplicates(ids: Iterable[str]) -> list[Fault]:
    twice = [identity for identity, count in Counter(ids).items() if count > 1]
    if not twice:
        return []
    found = counted(len(twice), "chunk id belongs", "chunk ids belong")
    message = f"{found} to several chunks, such as {twice[0]!r}"
    return [Fault("duplicate_chunk_id", message, tuple(twice[:_NAMED]), count=len(twice))]


def _ordinals(ids: Sequence[str]) -> list[Fault]:
    numbers: defaultdict[str, set[int]] = defaultdict(set)
    for identity in ids:
        match = _ORDINAL.fullmatch(identity)
        if match:
            numbers[match.group(1)].add(int(match.group(2)))
    counted = sum(len(found) for found in numbers.values() if _counts_up(found))
    if counted * 2 <= len(set(ids)):
        return []
    message = (
        f"{counted} of {len(set(ids))} chunk ids only count up (such as {ids[0]!r}): "
        "after a change of the corpus the same id is another text"
    )
    return [Fault("ordinal_ids", message, tuple(ids[:3]), count=counted)]


def _counts_up(numbers: set[int]) -> bool:
    """Two or more whole numbers without a gap, from 0 or 1.

    >>> _counts_up({1, 2, 3}), _counts_up({1, 3}), _counts_up({1})
    (True, False, False)
    """
    first = min(numbers)
    return first <= 1 < len(numbers) == max(numbers) - first + 1
