"""The newest of each row, against a plain loop."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.store.lake_newest import newest

ROW = st.tuples(
    st.sampled_from(["a", "b", None]),
    st.sampled_from(["g", "h", None]),
    st.sampled_from(["retrieve", None]),
    st.one_of(st.none(), st.integers(-1, 2)),
)


@given(st.lists(ROW, max_size=12))
def test_it_is_what_a_loop_finds(rows):
    """Highest revision, then the last; a null id stands for itself."""
    names = ("record_id", "judge", "stage", "revision")
    types = (pa.string(), pa.string(), pa.string(), pa.int64())
    table = pa.table(
        {
            name: pa.array([row[place] for row in rows], kind)
            for place, (name, kind) in enumerate(zip(names, types, strict=True))
        }
    )
    best: dict[object, tuple[int, int]] = {}
    for place, row in enumerate(rows):
        key = row[:3] if row[0] is not None else place
        best[key] = max(best.get(key, (-9, -1)), (row[3] or 0, place))
    expected = {place for _, place in best.values()}
    assert {place for place, stays in enumerate(newest(table, "scores")) if stays} == expected


def test_a_table_without_the_key_keeps_all(tmp_path):
    """Nothing says that rows are the same."""
    assert newest(pa.table({"x": [1, 1]}), "records").tolist() == [True, True]
