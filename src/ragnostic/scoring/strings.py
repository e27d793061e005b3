"""Arrow string arrays as numpy columns: 64-bit hashes and exact equality, without Python objects.

Ids are compared by hash first and by their bytes afterwards, so a hash collision can cost time
but never a wrong score (DESIGN 4, compute core).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Hashes = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_MASKS = [(1 << (8 * size)) - 1 for size in range(9)]
_FIRST = np.array([_MASKS[min(size, 8)] for size in range(17)], dtype=np.uint64)
_SECOND = np.array([_MASKS[max(size - 8, 0)] for size in range(17)], dtype=np.uint64)
"""By the bytes that are left of a string: what to keep of the two words of a step."""
_STEP = 16
_LONG = 256
"""Longer strings are hashed one by one: a loop over their words would not pay for a few rows."""


@dataclass(frozen=True)
class Strings:
    """The bytes of a string array: ``data[starts[i]:starts[i] + lengths[i]]`` is string i."""

    data: npt.NDArray[np.uint8]
    starts: Indices
    lengths: Indices
    missing: npt.NDArray[np.bool_]
    """Null or empty: no id at all."""

    @classmethod
    def of(cls, array: pa.Array) -> Self:
        """View of an Arrow string array; other string types are converted first."""
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
            array = array.cast(pa.large_string())
        width = np.int64 if pa.types.is_large_string(array.type) else np.int32
        _, offsets, data = array.buffers()
        if not len(array):
            nothing = np.zeros(0, dtype=np.int64)
            return cls(np.zeros(_STEP, np.uint8), nothing, nothing, np.zeros(0, np.bool_))
        window = slice(array.offset, array.offset + len(array) + 1)
        bounds: Indices = np.frombuffer(offsets, dtype=width)[window].astype(np.int64)
        first, last = int(bounds[0]), int(bounds[-1])
        # Spare bytes let every step be read whole, also the last one.
        padded = np.empty(last - first + _STEP, dtype=np.uint8)
        padded[-_STEP:] = 0
        padded[:-_STEP] = np.frombuffer(data, dtype=np.uint8)[first:last]
        lengths: Indices = np.diff(bounds)
        if array.null_count:  # a null may have bytes behind it
            lengths[array.is_null().to_numpy(zero_copy_only=False)] = 0
        return cls(padded, bounds[:-1] - first, lengths, lengths == 0)

    @cached_property
    def _windows(self) -> npt.NDArray[np.void]:
        # Void items have no alignment to keep, which makes gathering them twice as fast.
        size = len(self.data) - _STEP + 1
        return np.ndarray((size,), dtype=f"V{_STEP}", buffer=self.data, strides=(1,))

    def _pair(self, index: Any, position: int) -> tuple[Hashes, Hashes]:
        """The 16 bytes from ``position`` of strings that reach it, as two words, zero-padded."""
        words = self._windows[self.starts[index] + position].view("<u8").reshape(-1, 2)
        first, second = words[:, 0], words[:, 1]
        rest = self.lengths[index] - position
        shortest, longest = int(rest.min(initial=_STEP)), int(rest.max(initial=0))
        if shortest < _STEP:
            # Ids of one length, the usual case, need one mask for all.
            sizes = shortest if shortest == longest else rest.clip(max=_STEP)
            first &= _FIRST[sizes]
            second &= _SECOND[sizes]
        return first, second

    def hashes(self) -> Hashes:
        """A 64-bit hash of each string; the same on every machine and in every process.

        >>> found = Strings.of(pa.array(["a", "b", "a"])).hashes()
        >>> bool(found[0] == found[2]), bool(found[0] == found[1])
        (True, False)
        """
        result = self.lengths.astype(np.uint64) * _MULTIPLIER
        longest, shortest = int(self.lengths.max(initial=0)), int(self.lengths.min(initial=_LONG))
        for position in range(0, min(longest, _LONG), _STEP):
            active = slice(None) if shortest > position else np.flatnonzero(self.lengths > position)
            mixed = result[active]
            for word in self._pair(active, position):
                mixed ^= word
                mixed *= _MULTIPLIER
                mixed ^= mixed >> _HALF
            result[active] = mixed
        for index in np.flatnonzero(self.lengths > _LONG).tolist():
            digest = hashlib.blake2b(self.bytes_at(index), digest_size=8).digest()
            result[index] = int.from_bytes(digest, "little")
        return result

    def bytes_at(self, index: int) -> bytes:
        """The bytes of one string."""
        start = int(self.starts[index])
        return self.data[start : start + int(self.lengths[index])].tobytes()

    def equal(self, index: Indices, other: Strings, other_index: Indices) -> npt.NDArray[np.bool_]:
        """Exact equality, pair by pair.

        >>> left, right = Strings.of(pa.array(["ab", "c"])), Strings.of(pa.array(["ab", "d"]))
        >>> left.equal(np.array([0, 1]), right, np.array([0, 1])).tolist()
        [True, False]
        """
        same: npt.NDArray[np.bool_] = self.lengths[index] == other.lengths[other_index]
        for position in range(0, min(int(self.lengths[index].max(initial=0)), _LONG), _STEP):
            pairs = np.flatnonzero(same & (self.lengths[index] > position))
            left = self._pair(index[pairs], position)
            right = other._pair(other_index[pairs], position)
            same[pairs] = (left[0] == right[0]) & (left[1] == right[1])
        for pair in np.flatnonzero(same & (self.lengths[index] > _LONG)).tolist():
            same[pair] = self.bytes_at(index[pair]) == other.bytes_at(other_index[pair])
        return same
