"""Requests looked at before the service sees them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from ragnostic.gateway.screening import Screen
from ragnostic.gateway.settings import FilterSettings


def look(settings: FilterSettings, body: bytes, *, target=b"/", headers=None, classifier=None):
    """What becomes of a request, and what was counted."""
    counts: Counter[str] = Counter()

    def query_of(sides):
        return sides["request"]["query"] if sides["request"] else sides["params"].get("q")

    screen = Screen(settings, query_of, classifier, lambda name: counts.update([name]))
    return asyncio.run(screen.look(target, headers or {}, body)), counts


SHORT = FilterSettings(on=True, min_chars=3, action="reject")


def test_the_query_is_found_by_the_expression_or_in_the_address():
    """In JSON, in parameters, or nowhere."""
    assert look(SHORT, b'{"query": "ab"}')[0].reason == "too_short"
    assert look(SHORT, b"", target=b"/s?q=ab")[0].reply == SHORT.reject
    for body in (b'{"query": 7}', b"{", b'["x"]', b""):
        screened, counts = look(SHORT, body)
        assert screened.reply is None
        assert counts == {"filter_without_query": 1}


def test_a_field_goes_before_the_expression():
    """Where both name a query."""
    settings = FilterSettings(on=True, min_chars=3, field="messages.-1.content")
    screened, _ = look(settings, b'{"query": "long enough", "messages": [{"content": "ab"}]}')
    assert screened.reason == "too_short"


def test_packed_bodies_are_not_looked_into():
    """They pass, and are counted."""
    screened, counts = look(SHORT, b'{"query": "a"}', headers={"content-encoding": "gzip"})
    assert (screened.reason, counts["filter_unread"]) == (None, 1)


def test_what_is_stripped_goes_to_the_service_only_where_it_can_be_written():
    """A query that an address holds stays as it is."""
    settings = FilterSettings(on=True, field="query", strip_punctuation=True)
    screened, _ = look(settings, b'{"query": "a?"}')
    assert (screened.body, screened.searched) == (b'{"query": "a"}', "a")
    screened, _ = look(settings, b"", target=b"/?q=a?")
    assert (screened.body, screened.searched) == (b"", None)


def test_a_classifier_may_say_why_or_only_that():
    """Anything else is nothing."""
    settings = FilterSettings(on=True)
    for said, reason in (
        (True, "classifier"),
        ("spam", "spam"),
        (None, None),
        ("", None),
        (1, None),
    ):
        screened, _ = look(settings, b'{"query": "q"}', classifier=lambda _, said=said: said)
        assert screened.reason == reason


def test_a_slow_classifier_is_not_waited_for():
    """And is counted."""
    settings = FilterSettings(on=True, classifier_timeout_ms=20)
    screened, counts = look(settings, b'{"query": "q"}', classifier=lambda _: time.sleep(0.2))
    assert (screened.reason, counts["classifier_failures"]) == (None, 1)
