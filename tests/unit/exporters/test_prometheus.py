"""The exposition format, whatever stands in names and values."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from ragnostic.exporters.prometheus import exposition
from ragnostic.exporters.samples import Family, Histogram, Sample

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(TEXT, unique=True, min_size=1), st.floats(-1e9, 1e9))
def test_label_values_come_back_as_they_were(values, number):
    """Quotes, line breaks, backslashes, and lines that look like samples."""
    samples = [Sample(number, {"category": value}) for value in values]
    text = exposition([Family("ragnostic_a_ratio", "About.", "gauge", samples)])
    (family,) = text_string_to_metric_families(text)
    assert [(s.labels["category"], s.value) for s in family.samples] == [
        (sample.labels["category"], sample.value) for sample in samples
    ]


def test_counters_have_their_ending_and_buckets_their_bounds():
    """As the format wants them."""
    text = exposition(
        [
            Family("ragnostic_rows", "Rows.", "counter", [Sample(3.0)]),
            Histogram(
                "ragnostic_wait_seconds", "Wait.", [0.1, 1.0], [({"s": "a"}, [1, 2, 4], 9.5)]
            ),
        ]
    )
    assert "ragnostic_rows_total 3.0" in text
    assert [line for line in text.splitlines() if line.startswith("ragnostic_wait")] == [
        'ragnostic_wait_seconds_bucket{le="0.1",s="a"} 1.0',
        'ragnostic_wait_seconds_bucket{le="1",s="a"} 2.0',
        'ragnostic_wait_seconds_bucket{le="+Inf",s="a"} 4.0',
        'ragnostic_wait_seconds_count{s="a"} 4.0',
        'ragnostic_wait_seconds_sum{s="a"} 9.5',
    ]


def test_what_is_empty_is_left_out():
    """No data is no sample."""
    nothing = Histogram("ragnostic_b_seconds", "B.", [1.0], [])
    assert exposition([Family("ragnostic_a_ratio", "A.", "gauge", []), nothing]) == ""
