"""What holds for any items, groups, grades, duplicates and batches."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.metrics import Metric
from ragnostic.records import record_schema
from ragnostic.scoring import Plan, score

PLAIN = [
    *("Success@3", "P@3", "F1@3", "Rprec", "RR", "RR@3", "R@3", "R", "AP", "AP@3"),
    *("AP(norm=min)@3", "AP(norm=hits)@3", "nDCG", "nDCG@3", "nDCG(gain=exp)@3", "bpref"),
]
BOUNDS = ["Success", "P", "RR"]
EXTRA = [
    *("RR(weight=soft)@3", "P(rel=2)@3", "AP(rel=2)", "bpref(rel=2)"),
    *("coverage@3", "Judged@3", "nDCG(facet=f)@3"),
]


def with_params(name, params):
    """A metric name with parameters added."""
    bare, _, cutoff = name.partition("@")
    bare, _, own = bare.removesuffix(")").partition("(")
    return f"{bare}({own + ',' if own else ''}{params}){'@' + cutoff if cutoff else ''}"


CONDENSED = [with_params(name, "judged_only=True") for name in PLAIN]
BEST = [with_params(name, "unjudged=relevant") for name in PLAIN]
IDS = [f"c{i}" for i in range(9)]

rankings = st.lists(st.sampled_from([*IDS, None, ""]), max_size=9)
entries = st.lists(
    st.tuples(
        st.sampled_from([*IDS, None]),
        st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0, 0.5, 200.0]),
        st.none() | st.integers(0, 3),
        st.sampled_from([None, None, "f", "g"]),
        st.sampled_from([None, 0.3, 1.0]),
    ),
    max_size=8,
)


def row(query, ranking, judged):
    """A record; ``judged`` as tuples of id, grade, item, facet, weight."""
    names = ("ids", "grades", "items", "facets", "weights")
    columns = [list(column) for column in zip(*judged, strict=True)] or [[]] * 5
    return {
        "query_id": query,
        "retrieve": {"ids": ranking},
        "judged": dict(zip(names, columns, strict=True)),
    }


def table(rows):
    """Records with one stage."""
    return pa.Table.from_pylist(rows, record_schema(["retrieve"]))


def plan(names, **options):
    """A plan of metrics by name."""
    return Plan(tuple(Metric.parse(name) for name in names), **options)


def values(rows, names):
    """The values of each query."""
    return score(table(rows), plan(names)).table.select(names).to_pylist()


def chunk_gold(grades):
    """Judgments without items."""
    return [(chunk, grade, None, None, None) for chunk, grade in grades.items()]


grades_by_id = st.dictionaries(st.sampled_from(IDS), st.sampled_from([0.0, 1.0, 2.0, 3.0]))
distinct = st.lists(st.sampled_from(IDS), unique=True)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(rankings, entries), min_size=1, max_size=4))
def test_every_metric_stays_between_nought_and_one_or_is_null(given_rows):
    """Whatever is duplicated, grouped, shared or missing."""
    rows = [row(f"q{i}", *data) for i, data in enumerate(given_rows)]
    for found in values(rows, [*PLAIN, *EXTRA, *CONDENSED, *BEST]):
        for name, value in found.items():
            assert value is None or -1e-12 <= value <= 1 + 1e-12, name


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(rankings, entries), min_size=1, max_size=12), st.integers(1, 5))
def test_any_batch_size_gives_the_same_bytes(given_rows, size):
    """Streaming is scoring; a curve too."""
    rows = [row(f"q{i}", *data) for i, data in enumerate(given_rows)]
    wanted = plan([*PLAIN, *EXTRA, *CONDENSED[:4], *BEST[:4]], curve_depth=5)
    whole = score(table(rows), wanted)
    parts = score(table(rows).to_batches(max_chunksize=size), wanted)
    assert parts.table.combine_chunks() == whole.table.combine_chunks()
    assert parts.counts == whole.counts
    assert parts.faults == whole.faults


def test_deep_rankings_give_the_same_bytes_one_by_one_and_together():
    """Sums are added rank by rank, so the width of a block does not matter."""
    draw = random.Random(5)
    rows = []
    for number in range(40):
        pool = [f"d{number}.{i}" for i in range(200)]
        ranking = draw.sample(pool, draw.randint(0, 150))
        judged = [(c, draw.choice([0.0, 1.0, 2.0, 3.0]), None, None, None)
                  for c in draw.sample(pool, draw.randint(1, 60))]  # fmt: skip
        if number % 3 == 0:
            judged = [(c, g, i // 2, None, None) for i, (c, g, *_) in enumerate(judged)]
        rows.append(row(f"q{number}", ranking, judged))
    wanted = plan([*PLAIN, *CONDENSED, *BEST], curve_depth=100)
    whole = score(table(rows), wanted).table.combine_chunks()
    for size in (1, 7):
        parts = score(table(rows).to_batches(max_chunksize=size), wanted)
        assert parts.table.combine_chunks() == whole


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(rankings, entries), min_size=1, max_size=8), st.randoms())
def test_the_order_of_queries_changes_no_value(given_rows, draw):
    """Each query is scored by itself."""
    rows = [row(f"q{i}", *data) for i, data in enumerate(given_rows)]
    mixed = draw.sample(rows, len(rows))
    names = [*PLAIN, *EXTRA]
    expected = {r["query_id"]: v for r, v in zip(rows, values(rows, names), strict=True)}
    found = {r["query_id"]: v for r, v in zip(mixed, values(mixed, names), strict=True)}
    assert found == expected


@settings(deadline=None, max_examples=80)
@given(distinct, grades_by_id)
def test_on_fully_judged_data_the_variants_are_the_plain_metric(ranking, grades):
    """Nothing to condense, nothing to assume."""
    judged = chunk_gold({**dict.fromkeys(ranking, 0.0), **grades})
    (found,) = values([row("q", ranking, judged)], [*PLAIN, *CONDENSED, *BEST])
    for plain, condensed, best in zip(PLAIN, CONDENSED, BEST, strict=True):
        assert found[condensed] == found[plain]
        assert found[best] == found[plain]


@settings(deadline=None, max_examples=80)
@given(distinct, entries)
def test_the_best_bound_is_no_less_than_the_plain_value(ranking, judged):
    """Success, P and RR only gain where unjudged results are taken for relevant."""
    plain = [f"{name}@3" for name in BOUNDS]
    best = [with_params(name, "unjudged=relevant") for name in plain]
    (found,) = values([row("q", ranking, judged)], [*plain, *best])
    for low, high in zip(plain, best, strict=True):
        assert found[low] is None or found[high] >= found[low]


@settings(deadline=None, max_examples=80)
@given(st.lists(st.sampled_from(IDS)), entries)
def test_a_ranking_with_duplicates_scores_as_the_one_without(ranking, judged):
    """METRICS 1.3."""
    clean = list(dict.fromkeys(ranking))
    names = [*PLAIN, *EXTRA, *CONDENSED, *BEST]
    assert values([row("q", ranking, judged)], names) == values([row("q", clean, judged)], names)


@settings(deadline=None, max_examples=80)
@given(distinct, grades_by_id)
def test_a_gold_id_given_twice_counts_once_with_its_highest_grade(ranking, grades):
    """METRICS 1.3."""
    once = chunk_gold(grades)
    twice = [*once, *chunk_gold(dict.fromkeys(grades, 0.0))]
    assert values([row("q", ranking, twice)], PLAIN) == values([row("q", ranking, once)], PLAIN)


@settings(deadline=None, max_examples=80)
@given(distinct, grades_by_id)
def test_items_of_one_chunk_each_give_exactly_the_plain_values(ranking, grades):
    """Bit for bit, with a second query that makes the block need places."""
    plain = row("q", ranking, chunk_gold(grades))
    items = row("q", ranking, [(c, g, i, None, None) for i, (c, g) in enumerate(grades.items())])
    shared = row("r", IDS[:3], [(IDS[0], 1, 0, None, None), (IDS[1], 1, 0, None, None)])
    names = [*PLAIN, *CONDENSED, *BEST]
    expected = values([plain], names)[0]
    assert values([items], names)[0] == expected
    with_places = values([items, shared], names)[0]
    assert with_places == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.sampled_from("ABC"), max_size=8), st.sets(st.sampled_from("ABC"), min_size=1),
       st.randoms())  # fmt: skip
def test_of_a_documents_chunks_only_the_first_place_matters(documents, gold, draw):
    """Document gold: swapping two chunks of one document changes nothing (METRICS 1.8)."""
    chunks = [f"{document}{i}" for i, document in enumerate(documents)]
    items = [
        (chunk, 1.0, "ABC".index(chunk[0]), None, None) for chunk in chunks if chunk[0] in gold
    ]
    present = {item for _, _, item, _, _ in items}
    items += [(None, 1.0, i, None, None) for i, d in enumerate("ABC") if d in gold and
              i not in present]  # fmt: skip
    swapped = list(chunks)
    for document in set(documents):
        places = [i for i, d in enumerate(documents) if d == document]
        names = draw.sample([chunks[i] for i in places], len(places))
        for place, name in zip(places, names, strict=True):
            swapped[place] = name
    found = values([row("q", chunks, items)], PLAIN)
    assert values([row("q", swapped, items)], PLAIN) == found
    if set(documents) >= gold:
        assert found[0]["R"] == 1
