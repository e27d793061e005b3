"""The rate of a channel."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.notify.limiter import Rate, RateLimiter


@given(st.lists(st.floats(0, 30), max_size=60))
def test_no_span_holds_more_than_its_count(pauses):
    """Whoever waits as long as told keeps both rates, and does not wait longer than needed."""
    rates = [Rate(3, 5.0), Rate(8, 60.0)]
    limiter = RateLimiter(rates)
    now, times = 0.0, []
    for pause in pauses:
        now += pause
        wait = limiter.wait(now)
        now += wait
        for rate in rates:
            inside = [time for time in times if time > now - rate.seconds + 1e-9]
            assert len(inside) < rate.count
        if wait:
            early = now - 1e-3
            assert any(
                len([time for time in times if time > early - rate.seconds]) >= rate.count
                for rate in rates
            )
        limiter.sent(now)
        times.append(now)


def test_a_refusal_closes_it_for_as_long_as_the_vendor_says():
    """However few were sent."""
    limiter = RateLimiter([Rate(20, 60.0)])
    limiter.refused(100.0, 600.0)
    assert limiter.wait(100.0) == 600.0
    assert limiter.wait(700.0) == 0.0


def test_a_clock_that_was_set_back_does_not_close_it_for_long():
    """No longer than the span of the rate."""
    limiter = RateLimiter([Rate(1, 60.0)])
    limiter.sent(1_000_000.0)
    assert limiter.wait(0.0) == 60.0
