"""How often a channel may be used: no more than a number of messages in any span of seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``count`` messages in any ``seconds``."""

    count: int
    seconds: float


class RateLimiter:
    """Says how long to wait; knows the messages of this process only.

    >>> limiter = RateLimiter([Rate(2, 60.0)])
    >>> limiter.sent(0.0), limiter.sent(10.0), limiter.wait(20.0), limiter.wait(61.0)
    (None, None, 40.0, 0.0)
    """

    def __init__(self, rates: Sequence[Rate]) -> None:
        self._rates = tuple(rates)
        self._times: deque[float] = deque(maxlen=max(rate.count for rate in rates))
        self._closed_until = float("-inf")

    def wait(self, now: float, count: int = 1) -> float:
        """Seconds from ``now`` until so many messages may go in a row; 0 when at once.

        Of a rate that takes fewer at a time, until its first ones may.

        >>> limiter = RateLimiter([Rate(3, 60.0)])
        >>> limiter.sent(0.0), limiter.sent(10.0), limiter.wait(20.0), limiter.wait(20.0, 3)
        (None, None, 0.0, 50.0)
        """
        # A clock that was set back must not close the channel for as long as it jumped.
        times = [min(time, now) for time in self._times]
        places = ((rate, rate.count - min(count, rate.count) + 1) for rate in self._rates)
        open_at = (times[-place] + rate.seconds for rate, place in places if len(times) >= place)
        return max(0.0, max(open_at, default=now) - now, self._closed_until - now)

    def sent(self, now: float) -> None:
        """A message went, or may have gone."""
        self._times.append(now)

    def refused(self, now: float, wait_s: float) -> None:
        """The vendor says that it is too much: nothing goes for so many seconds.

        >>> limiter = RateLimiter([Rate(2, 60.0)])
        >>> limiter.refused(0.0, 30.0), limiter.wait(10.0)
        (None, 20.0)
        """
        self._closed_until = now + wait_s
