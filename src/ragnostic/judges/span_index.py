"""Where pieces of text stand in a corpus: an index of all its places, sorted by what follows.

The corpus is one run of bytes in GB18030, in which a Chinese character takes 2 bytes and a Latin
one 1: so the first 8 bytes of a place say about as much in both. A piece is looked up by the
rarest 8 bytes in it, and the places found are compared with all of it. The cost of a look-up
grows with the places found and only by its logarithm with the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

GRAM = 8
_SAMPLES = 8  # places of a piece that are looked up to find a rare one
_LOW = (1 << 32) - 1
_AT_ONCE = 1 << 22  # places compared at once, so that memory stays small


@dataclass(frozen=True, slots=True)
class Encoded:
    """Texts as one run of bytes, each followed by a line feed. ``lead[c]`` is the byte at which
    character c of the run begins; text t is the characters ``first[t]:last[t]``.
    """

    data: bytes
    lead: npt.NDArray[np.int32]
    first: Ints
    last: Ints


def encode(texts: Sequence[str]) -> Encoded:
    r"""Texts without line feeds as one run of bytes.

    >>> two = encode(["保修", "a"])
    >>> two.data.rstrip(b"\0").decode("gb18030"), two.lead.tolist(), two.last.tolist()
    ('保修\na\n', [0, 2, 4, 5, 6, 7], [2, 4])
    """
    joined = "\n".join([*texts, ""])
    codes = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
    lead = np.zeros(len(codes) + 1, dtype=np.int32)
    np.cumsum(_widths()[np.minimum(codes, 0xFFFF)], out=lead[1:], dtype=np.int32)
    last = np.flatnonzero(codes == ord("\n"))
    first = np.concatenate(([0], last[:-1] + 1))
    return Encoded(joined.encode("gb18030") + bytes(GRAM), lead, first[: len(last)], last)


def windows(data: bytes) -> npt.NDArray[np.uint64]:
    """At each byte the 8 bytes from there, as a big-endian number, which sorts as they do."""
    return np.ndarray((len(data) - GRAM,), dtype=">u8", buffer=data, strides=(1,))


@cache
def _widths() -> npt.NDArray[np.uint8]:
    """Bytes of each character in GB18030; 4 for all beyond the first plane."""
    widths = np.ones(0x10000, dtype=np.uint8)
    for code in (*range(0x80, 0xD800), *range(0xE000, 0x10000)):
        widths[code] = len(chr(code).encode("gb18030"))
    widths[0xFFFF] = 4
    return widths


@dataclass(frozen=True, slots=True)
class SpanIndex:
    """All places of a corpus. ``grams`` are the distinct 8 bytes, sorted; gram g stands at the
    bytes ``places[begin[g]:begin[g + 1]]`` of ``data``. ``chunk_at`` is the first byte of each
    chunk, and the end; ``is_lead`` tells the bytes at which a character begins.

    >>> index = SpanIndex.build(["保修期为 24 个月,", "退货期限为 5 天,"])
    >>> [part.tolist() for part in index.holders(["期限为 5 天", "期", "期为 5 "])]
    [[0, 1, 1], [1, 0, 1]]
    """

    data: bytes
    grams: npt.NDArray[np.uint64]
    begin: npt.NDArray[np.int32]
    places: npt.NDArray[np.int32]
    chunk_at: Ints
    is_lead: npt.NDArray[np.bool_]

    @classmethod
    def build(cls, texts: Sequence[str]) -> Self:
        """Index plain texts (no line feeds in them)."""
        text = encode(texts)
        lead = text.lead[:-1]
        grams = windows(text.data)[lead].astype(np.uint64)
        order = np.argsort(grams)
        grams = grams[order]
        is_new = np.ones(len(grams), dtype=np.bool_)
        np.not_equal(grams[1:], grams[:-1], out=is_new[1:])
        begin = np.append(np.flatnonzero(is_new), len(grams)).astype(np.int32)
        grams = grams[is_new]
        # The places of a gram in order: look-ups then walk through the text in one direction.
        places = np.cumsum(is_new, dtype=np.int64) << 32 | lead[order]
        places.sort()
        is_lead = np.zeros(len(text.data), dtype=np.bool_)
        is_lead[lead] = True
        chunk_at = np.append(text.lead[text.first], text.lead[-1]).astype(np.int64)
        return cls(text.data, grams, begin, places.astype(np.int32), chunk_at, is_lead)

    def __len__(self) -> int:
        """Number of chunks."""
        return len(self.chunk_at) - 1

    def holders(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """Which chunks hold which texts: parallel (text, chunk), each pair once, sorted."""
        encoded = encode(texts)
        piece, place = self.find(encoded, encoded.first, encoded.last)
        return self.distinct(piece, place)

    def distinct(self, pieces: Ints, places: Ints) -> tuple[Ints, Ints]:
        """Parallel (piece, chunk) of places, each pair once, sorted."""
        both = np.sort(pieces << 32 | places)  # in order, neighbouring places cost little
        pieces, chunks = both >> 32, self.chunk_of(both & _LOW)
        is_new = np.ones(len(both), dtype=np.bool_)
        is_new[1:] = (pieces[1:] != pieces[:-1]) | (chunks[1:] != chunks[:-1])
        return pieces[is_new], chunks[is_new]

    def chunk_of(self, places: Ints) -> Ints:
        """The chunk in which each byte stands."""
        return np.searchsorted(self.chunk_at, places, side="right") - 1

    def around(self, chunk: int, place: int, size: int) -> tuple[str, str]:
        """The text of a chunk before the ``size`` bytes at ``place``, and behind them."""
        start, end = self.chunk_at[chunk], self.chunk_at[chunk + 1] - 1
        before, behind = self.data[start:place], self.data[place + size : end]
        return before.decode("gb18030"), behind.decode("gb18030")

    def find(self, source: Encoded, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """All places of the pieces ``source`` characters ``first[p]:last[p]``.

        Returns parallel (piece, byte of the corpus at which it begins); an empty piece is nowhere.
        """
        if not len(first) or not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        low, high, offset = self._rarest(source, first, last)
        counts = high - low
        rounds = np.flatnonzero(np.diff(np.cumsum(counts) // _AT_ONCE, prepend=-1))
        found = [
            self._compare(source, first, last, (low, counts, offset), slice(start, end))
            for start, end in zip(rounds, [*rounds[1:], len(counts)], strict=True)
        ]
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def _rarest(self, source: Encoded, first: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
        """Per piece the range in ``places`` of its rarest gram, and that gram's byte in it."""
        lead = source.lead
        whole = np.searchsorted(lead, lead[last] - GRAM, side="right") - first
        samples = np.clip(whole, 1, _SAMPLES)
        piece = np.repeat(np.arange(len(first)), samples)
        begin = np.cumsum(samples) - samples
        nth = np.arange(len(piece)) - begin[piece]
        at = lead[first[piece] + nth * np.maximum(whole, 1)[piece] // samples[piece]]
        low, high = self._ranges(windows(source.data)[at], np.minimum(GRAM, lead[last[piece]] - at))
        rank = ((high - low) << 32) | np.arange(len(piece))
        best = np.minimum.reduceat(rank, begin) & _LOW
        return low[best], high[best], (at[best] - lead[first]).astype(np.int64)

    def _ranges(self, windows: npt.NDArray[np.uint64], sizes: Ints) -> tuple[Ints, Ints]:
        """The ranges in ``places`` of those that begin with the first ``sizes`` bytes of each."""
        unused = ((GRAM - np.maximum(sizes, 1)) * 8).astype(np.uint64)
        keys = windows.astype(np.uint64) >> unused << unused
        order = np.argsort(keys)  # neighbours in the index are found much faster in order
        low = np.empty(len(keys), dtype=np.int64)
        low[order] = np.searchsorted(self.grams, keys[order])
        high = low + (self.grams[np.minimum(low, len(self.grams) - 1)] == keys)
        short = np.flatnonzero(unused)
        above = keys[short] + (np.uint64(1) << unused[short])
        high[short] = np.searchsorted(self.grams, above)
        high = np.where(sizes > 0, np.minimum(high, len(self.grams)), low)
        return self.begin[low].astype(np.int64), self.begin[high].astype(np.int64)

    def _compare(
        self,
        source: Encoded,
        first: Ints,
        last: Ints,
        rarest: tuple[Ints, Ints, Ints],
        part: slice,
    ) -> tuple[Ints, Ints]:
        """Of the places of the rarest grams of some pieces, those where the whole piece stands."""
        low, counts, offset = (column[part] for column in rarest)
        piece = np.repeat(np.arange(len(low)), counts)
        nth = np.arange(len(piece)) - (np.cumsum(counts) - counts)[piece]
        place = self.places[low[piece] + nth].astype(np.int64) - offset[piece]
        begin = source.lead[first[part]].astype(np.int64)
        size = source.lead[last[part]] - begin
        inside = (place >= 0) & (place + size[piece] < len(self.data) - GRAM + 1)
        piece, place = piece[inside], place[inside]
        ours, theirs = windows(source.data), windows(self.data)
        same = np.ones(len(place), dtype=np.bool_)
        moved = np.flatnonzero(offset[piece])
        same[moved] = self.is_lead[place[moved]]  # where the place itself is a gram's, it is known
        # One of less than 8 bytes was found whole; of others every 8 bytes are compared.
        for done in range(0, int(size.max(initial=0)) + GRAM, GRAM):
            piece, place = piece[same], place[same]
            at = np.clip(size[piece] - GRAM, 0, done)
            same = (size[piece] < GRAM) | (ours[begin[piece] + at] == theirs[place + at])
        return piece[same] + (part.start or 0), place[same]
