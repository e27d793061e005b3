"""The normal form of a span: ids, kinds, times."""

from __future__ import annotations

import pytest

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.spans import SpanEvent, SpanStatus, duration_ms, make_span

TRACE, SPAN = "4BF92F3577B34DA6A3CE929D0E0E4736", "00F067AA0BA902B7"


def test_ids_become_lower_case():
    """One form for each id, so that equal ones are equal."""
    span = make_span(TRACE, SPAN, "AA" * 8)
    assert (span.trace_id, span.span_id, span.parent_id) == (
        TRACE.lower(),
        SPAN.lower(),
        "aa" * 8,
    )


@pytest.mark.parametrize(
    ("trace", "own", "parent", "named"),
    [
        ("", SPAN, "", "trace id ''"),
        ("0" * 32, SPAN, "", "trace id"),
        (TRACE[:-1], SPAN, "", "trace id"),
        (TRACE + "0", SPAN, "", "trace id"),
        ("g" * 32, SPAN, "", "trace id"),
        (TRACE, "", "", "span id ''"),
        (TRACE, "0" * 16, "", "span id"),
        (TRACE, "x" * 900, "", "…"),
        (TRACE, SPAN, "12", "parent span id '12'"),
    ],
)
def test_ids_that_are_none_are_refused(trace, own, parent, named):
    """With the id in the reason, shortened."""
    with pytest.raises(RowError, match=named) as error:
        make_span(trace, own, parent)
    assert len(str(error.value)) < 80


def test_a_span_is_not_its_own_parent():
    """It becomes a root."""
    assert make_span(TRACE, SPAN, SPAN).parent_id is None


def test_numbers_of_kind_and_status_have_names():
    """Unknown ones are unspecified and unset."""
    span = make_span(TRACE, SPAN, kind=3, status=2, message="time-out")
    assert (span.kind, span.status) == ("client", SpanStatus("error", "time-out"))
    odd = make_span(TRACE, SPAN, kind=99, status=-1)
    assert (odd.kind, odd.status.code) == ("unspecified", "unset")


def test_times_that_no_clock_shows_are_none():
    """The span stays."""
    span = make_span(TRACE, SPAN, start_ns=-5, end_ns=2**64 - 1)
    assert (span.start_ns, span.end_ns) == (0, 0)


def test_events_are_kept_with_their_attributes():
    """In order."""
    span = make_span(TRACE, SPAN, events=[("e", 5, [("k", 1)])])
    assert span.events == (SpanEvent("e", 5, {"k": 1}),)


@pytest.mark.parametrize(
    ("start", "end", "took", "kind"),
    [
        (1_000_000, 3_500_000, 2.5, None),
        (5, 5, 0.0, None),
        (5, 4, None, "negative_duration"),
        (5, 0, None, "no_end"),
        (0, 5, None, "no_start"),
    ],
)
def test_a_duration_or_the_reason_for_none(start, end, took, kind):
    """Never a negative, a wrapped or a made-up one (METRICS 6)."""
    found, fault = duration_ms("s1", start, end)
    assert found == took
    assert (fault and fault.kind) == kind
    assert fault is None or "s1" in fault.message
