"""Ids whose 64-bit hashes are equal, made by running the mixing of scoring.strings backwards."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyarrow as pa
import pytest

from ragnostic.scoring.strings import Strings

_MASK = 2**64 - 1
_MULTIPLIER = 0x9E3779B97F4A7C15
_INVERSE = pow(_MULTIPLIER, -1, 2**64)
_PRINTABLE = bytes(range(0x21, 0x7F))

Forge = Callable[..., list[str]]


def _mix(value: int) -> int:
    value = value * _MULTIPLIER & _MASK
    return value ^ value >> 32


def _unmix(value: int) -> int:
    return (value ^ value >> 32) * _INVERSE & _MASK


def forged(target: int, count: int = 1, *, bits: int = 64, seed: int = 0) -> list[str]:
    """Different ids of 16 printable ASCII marks whose hash ends in the ``bits`` of ``target``."""
    draw, found = random.Random(seed), []
    while len(found) < count:
        first = bytes(draw.choices(_PRINTABLE, k=8))
        high = draw.getrandbits(64) >> bits << bits if bits < 64 else 0
        wanted = high | target & (1 << bits) - 1
        state = _mix(16 * _MULTIPLIER & _MASK ^ int.from_bytes(first, "little"))
        last = (_unmix(wanted) ^ state).to_bytes(8, "little")
        if set(last) <= set(_PRINTABLE):
            found.append((first + last).decode("ascii"))
    return found


@pytest.fixture(scope="session")
def forge() -> Forge:
    """``forge(target, count)``: ids with that hash; proven against the real hash."""
    ids = forged(0xDEADBEEF, 3)
    assert len(set(ids)) == 3
    assert set(Strings.of(pa.array(ids)).hashes().tolist()) == {0xDEADBEEF}
    return forged
