"""Numbers as people read them; the same in both languages."""

from __future__ import annotations

import math

NOTHING = "–"
_ZERO = 1e-9
"""Below this a difference is rounding of the machine."""


def decimal(value: float | None, places: int = 4) -> str:
    """Fixed places, or a dash for what is undefined.

    >>> decimal(0.5), decimal(None), decimal(0.61234, 3)
    ('0.5000', '–', '0.612')
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{value + 0.0:.{places}f}"


def signed(value: float | None, places: int = 4) -> str:
    """A difference with its sign; the minus is U+2212, as wide as the plus.

    >>> signed(0.128, 3), signed(-0.02, 3), signed(0.0, 3), signed(-0.00001, 3)
    ('+0.128', '−0.020', '±0.000', '±0.000')
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    digits = f"{abs(value):.{places}f}"
    if not digits.strip("0."):
        return f"±{digits}"
    return f"{'+' if value > 0 else '−'}{digits}"


def bound(value: float | None, places: int = 4) -> str:
    """An end of a difference's interval: as :func:`signed`, with more places where it would look
    like 0 without being it, since the side of 0 is what it is read for.

    >>> bound(-0.0253, 3), bound(0.00004, 3), bound(-0.0000004, 3), bound(0.0, 3)
    ('−0.025', '+0.00004', '−0.0000004', '±0.000')
    """
    if value is None or not math.isfinite(value) or abs(value) < _ZERO:
        return signed(0.0 if value is not None and math.isfinite(value) else None, places)
    while not f"{abs(value):.{places}f}".strip("0."):
        places += 1
    return signed(value, places)


def percent(part: float, whole: float) -> str:
    """``part`` of ``whole`` as a whole percentage that never rounds to 0 or 100 by itself.

    >>> percent(49, 60), percent(1, 1000), percent(999, 1000), percent(0, 5), percent(1, 0)
    ('82%', '<1%', '>99%', '0%', '–')
    """
    if not whole:
        return NOTHING
    share = 100 * part / whole
    if 0 < share < 0.5:
        return "<1%"
    if 99.5 < share < 100:
        return ">99%"
    return f"{share:.0f}%"


def score(value: float | None) -> str:
    """A retriever's score: 4 significant digits, whatever its scale.

    >>> score(12.34567), score(0.8712345), score(None), score(12345678.0), score(3.0)
    ('12.35', '0.8712', '', '1.235e+07', '3.000')
    """
    if value is None:
        return ""
    return f"{value:#.4g}"


def grade(value: float | None) -> str:
    """A grade without a needless fraction.

    >>> grade(3.0), grade(0.5), grade(None)
    ('3', '0.5', '')
    """
    return "" if value is None else f"{value:g}"


def whole(value: object) -> str:
    """A count with thousands set apart.

    >>> whole(1234567), whole(None)
    ('1,234,567', '–')
    """
    return f"{value:,}" if isinstance(value, int) else NOTHING


def milliseconds(value: float | None) -> str:
    """A latency in the unit that a person would use.

    >>> [milliseconds(value) for value in (0.4321, 12.6, 845.2, 1234.0, 75000.0, None)]
    ['0.43 ms', '12.6 ms', '845 ms', '1.23 s', '1 min 15 s', '–']
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    if value < 1:
        return f"{value:.2f} ms"
    if value < 100:
        return f"{value:.1f} ms"
    if value < 1000:
        return f"{value:.0f} ms"
    return seconds(value / 1000)


def seconds(value: float | None) -> str:
    """A duration in the unit that a person would use.

    >>> [seconds(value) for value in (0.0123, 5.2, 75, 3725)]
    ['12.3 ms', '5.20 s', '1 min 15 s', '1 h 2 min']
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    if value < 1:
        return milliseconds(value * 1000)
    if value < 60:
        return f"{value:.2f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
