"""SQLite's write-ahead log read as bytes: SQLite itself ends at the first frame that does not
check and says nothing of those behind it, which were acknowledged.

Format: https://www.sqlite.org/fileformat2.html#walformat
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

PAGE = 4096
"""Bytes of a page in every file of ours."""
_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_INDEX = 48
"""Bytes of the header of the log's index, which stands there twice."""
_MAGIC = 0x377F0682
_LIMIT = 1 << 32

Words = npt.NDArray[np.uint32]


class Frame(NamedTuple):
    """The image of a page in the log."""

    page: int
    image: bytes


@dataclass(frozen=True, slots=True)
class Wal:
    """All frames of a log in file order; ``fault`` is empty where it is as a crash leaves it."""

    frames: tuple[Frame, ...] = ()
    fault: str = ""
    short: bool = False
    """Committed frames are not in it any more, so that nobody can say what they held."""


def wal_path(path: Path) -> Path:
    """Where SQLite keeps the write-ahead log of a file."""
    return path.with_name(f"{path.name}-wal")


def read_wal(path: Path) -> Wal:
    """The log beside the SQLite file ``path``, and what is wrong with it.

    A crash leaves frames behind the last commit, the last of them cut short, and then frames of
    an earlier turn of the log (other salts). A header that does not check is damage. How many
    frames were committed stands in the index beside the log, which outlives a killed process;
    where there is none (the machine went down), a commit of this turn that does not check is
    taken for damage.
    """
    log = wal_path(path)
    data = log.read_bytes() if log.exists() else b""
    if len(data) < _HEADER.size:
        return Wal(fault="its log is cut short", short=True) if data else Wal()
    first = _header(data)
    size = _FRAME.size + PAGE
    count = (len(data) - _HEADER.size) // size
    frames: list[Frame] = []
    settled, last_commit, checks = 0, 0, first is not None
    for number in range(count):
        start = _HEADER.size + number * size
        page, commit, *rest = _FRAME.unpack_from(data, start)
        image = data[start + _FRAME.size : start + size]
        frames.append(Frame(page, image))
        if first is None or tuple(rest[:2]) != first.salts:
            checks = False
            continue
        if checks:
            sums = _sums(data[start : start + 8] + image, first.sums)
            checks = sums == tuple(rest[2:])
            first = first._replace(sums=sums)
        last_commit = number + 1 if commit else last_commit
        settled = number + 1 if commit and checks else settled
    committed = _committed(path, data, last_commit)
    fault = ""
    if first is None:
        fault = "the header of its log does not check"
    elif committed > settled:
        fault = f"its log ends or does not check behind frame {settled}"
    return Wal(tuple(frames), fault, short=committed > count)


def _committed(path: Path, log: bytes, otherwise: int) -> int:
    """Frames of this turn that SQLite's index of the log knows, if it is of this turn."""
    index = path.with_name(f"{path.name}-shm")
    data = index.read_bytes()[: 2 * _INDEX] if index.exists() else b""
    if len(data) < 2 * _INDEX or data[:_INDEX] != data[_INDEX:] or data[32:40] != log[16:24]:
        return otherwise
    return int.from_bytes(data[16:20], "little")


class _Start(NamedTuple):
    """What the frames of a log begin from."""

    salts: tuple[int, int]
    sums: tuple[int, int]


def _header(data: bytes) -> _Start | None:
    magic, _, page, _, salt1, salt2, sum1, sum2 = _HEADER.unpack_from(data)
    # Only the order of bytes of the machine that wrote it: ours are little-endian.
    if magic != _MAGIC or page != PAGE or _sums(data[:24], (0, 0)) != (sum1, sum2):
        return None
    return _Start((salt1, salt2), (sum1, sum2))


def _sums(data: bytes, start: tuple[int, int]) -> tuple[int, int]:
    """SQLite's running checksum: for each pair of words a += x + b, then b += y + a, modulo 2^32.

    The step is linear, so the sums are products with powers of its matrix.
    """
    words = np.frombuffer(data, "<u4")
    left, right = words[0::2], words[1::2]
    power, weights = _powers(len(left))
    sums = power @ np.array(start, np.uint32) + weights[0] @ left + weights[1] @ right
    return int(sums[0]), int(sums[1])


@cache
def _powers(pairs: int) -> tuple[Words, Words]:
    """The step's matrix to the power of ``pairs``, and [left|right, 2, pairs] weights of words."""
    step, enter = ((1, 1), (1, 2)), ((1, 0), (1, 1))
    power: tuple[tuple[int, int], ...] = ((1, 0), (0, 1))
    weights = np.zeros((2, 2, pairs), np.uint32)
    for place in reversed(range(pairs)):
        for word in (0, 1):
            for row in (0, 1):
                value = power[row][0] * enter[0][word] + power[row][1] * enter[1][word]
                weights[word, row, place] = value % _LIMIT
        power = tuple(
            (
                (row[0] * step[0][0] + row[1] * step[1][0]) % _LIMIT,
                (row[0] * step[0][1] + row[1] * step[1][1]) % _LIMIT,
            )
            for row in power
        )
    return np.array(power, np.uint32), weights
