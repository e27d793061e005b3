"""Finding ids among many known ones, again and again, without building a table each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from ragnostic.scoring.strings import Hashes, Indices, Strings


@dataclass(frozen=True, slots=True)
class IdIndex:
    """Known ids by their sorted hashes; equality is verified byte by byte."""

    ids: pa.Array
    known: Strings
    hashes: Hashes
    order: Indices

    @classmethod
    def of(cls, ids: pa.Array) -> Self:
        """Index of an Arrow string array; null and empty ids are never found."""
        known = Strings.of(ids)
        hashes = known.hashes()
        order = np.argsort(hashes, kind="stable")
        return cls(ids, known, hashes[order], order)

    def find_next(self, ids: pa.Array, start: int) -> Indices:
        """As :meth:`find`, quick where ``ids`` are just the known ones from ``start`` on.

        Two files made from the same queries mostly hold them in the same order.

        >>> IdIndex.of(pa.array(["a", "b", "c"])).find_next(pa.array(["b", "c"]), 1).tolist()
        [1, 2]
        """
        if len(ids) and not ids.null_count and self.ids.slice(start, len(ids)).equals(ids):
            return np.arange(start, start + len(ids))
        return self.find(ids)

    def find(self, ids: pa.Array) -> Indices:
        """Position of each id among the known ones (the first, if it is there twice), else -1.

        >>> IdIndex.of(pa.array(["b", "a", "b"])).find(pa.array(["a", "b", "c"])).tolist()
        [1, 0, -1]
        """
        wanted = Strings.of(ids)
        hashes = wanted.hashes()
        place = np.searchsorted(self.hashes, hashes)
        found = np.full(len(hashes), -1, dtype=np.int64)
        open_ = np.flatnonzero(~wanted.missing)
        while open_.size:  # a second round only where two ids share a hash
            open_ = open_[place[open_] < len(self.hashes)]
            open_ = open_[self.hashes[place[open_]] == hashes[open_]]
            candidate = self.order[place[open_]]
            same = wanted.equal(open_, self.known, candidate)
            found[open_[same]] = candidate[same]
            open_ = open_[~same]
            place[open_] += 1
        return found
