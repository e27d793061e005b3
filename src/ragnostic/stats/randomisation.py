"""Two-sided paired randomisation test: how often chance alone does as much (METRICS 11)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ragnostic.metrics.inputs import Floats

EXACT_LIMIT = 12
"""Pairs up to which all sign patterns are counted."""
_SEED = 20_030_912
_BLOCK = 1 << 18


def randomisation_p(differences: Floats, flips: int) -> tuple[float, bool]:
    """p, and whether it is exact, of differences whose signs chance might have turned.

    ``differences``: (n >= 1,) finite. All 2^n sign patterns for n <= 12; above it ``flips``
    random ones, with p = (b + 1) / (m + 1). The order of the differences and the direction of
    the comparison do not matter. Source: Fisher 1935; Phipson & Smyth 2010; METRICS 11.

    >>> randomisation_p(np.array([0.5, 0.5, 0.5]), 10_000)
    (0.25, True)
    """
    sizes = np.sort(np.abs(differences))
    # Sums of the same numbers in another order differ in their last bits.
    bound = abs(float(differences.sum())) - 1e-12 * float(sizes.sum())
    if differences.size <= EXACT_LIMIT:
        patterns = np.arange(2**sizes.size)[:, None] >> np.arange(sizes.size) & 1
        return float(np.mean(_sums(patterns, sizes) >= bound)), True
    # A tie adds nothing to a sum, whatever its sign.
    moved = sizes[sizes > 0]
    draw = np.random.default_rng(_SEED)
    rows = max(1, _BLOCK // max(1, moved.size))
    reached = 0
    for start in range(0, flips, rows):
        shape = (min(rows, flips - start), math.ceil(moved.size / 8))
        packed = np.frombuffer(draw.bytes(shape[0] * shape[1]), np.uint8).reshape(shape)
        signs = np.unpackbits(packed, axis=1, count=moved.size)
        reached += int((_sums(signs, moved) >= bound).sum())
    return (reached + 1) / (flips + 1), False


def normal_p(differences: Floats) -> float:
    """The same by its normal approximation: a random sum has variance sum(d^2).

    >>> round(normal_p(np.array([1.0] * 60 + [-1.0] * 40)), 4), normal_p(np.zeros(3))
    (0.0455, 1.0)
    """
    power = float((differences**2).sum())
    if not power:
        return 1.0
    return math.erfc(abs(float(differences.sum())) / math.sqrt(2 * power))


def _sums(patterns: npt.NDArray[np.integer], sizes: Floats) -> Floats:
    """Absolute sum under each row of signs; 1 keeps a sign, 0 turns it."""
    found: Floats = np.abs(2 * (patterns.astype(np.float64) @ sizes) - sizes.sum())
    return found
