"""Live judges held against a labelled sample."""

from __future__ import annotations

import runpy
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.errors import DataError
from ragnostic.evalset.grouping import judged_table
from ragnostic.monitor.label_sample import label_sample
from ragnostic.monitor.signals import score_records
from ragnostic.monitor.windows import Window
from ragnostic.store.lake import ParquetLake

ROWS = runpy.run_path(str(Path(__file__).parent / "live_rows.py"))
NOON = ROWS["NOON"]
DAY = Window(NOON - timedelta(hours=12), NOON + timedelta(hours=12))


def labels(*rows):
    """A table of qrels: (record or query, chunk, grade)."""
    names, chunks, grades = zip(*rows, strict=True)
    return judged_table(pa.array(names), pa.array(chunks), np.array(grades, dtype=np.float64))[0]


@pytest.fixture
def lake(tmp_path):
    """Four records: the judge is right on the first, wrong on the second, finds nothing on the
    third, and the fourth is a refusal.
    """
    records = ROWS["records"](
        ROWS["record"]("r1", ["a", "b"]),
        ROWS["record"]("r2", ["a", "b"]),
        ROWS["record"]("r3", ["a", "b"], query_id="shared"),
        ROWS["record"]("r4", ["a", "b"]),
    )
    judgments = ROWS["judgments"](
        ROWS["judgment"]("r1", ["a"]),
        ROWS["judgment"]("r2", ["a"]),
        ROWS["judgment"]("r3", []),
        ROWS["judgment"]("r4", None, status="refused"),
    )
    lake = ParquetLake(tmp_path, "Asia/Shanghai")
    scores = score_records(records, judgments)
    day = scores["day"].slice(0, 4)
    for kind, table in (("records", records), ("judgments", judgments)):
        lake.write(kind, table.append_column("day", day), name="part-0")
    lake.write("scores", scores, name="part-0")
    return lake


def test_the_judge_is_held_against_the_labels(lake):
    """By record id and by query id; nothing found counts 0; the refusal is left out."""
    given = labels(("r1", "a", 1), ("r2", "b", 1), ("shared", "b", 1), ("r4", "a", 1))
    (found,) = label_sample(lake, DAY, given)
    assert (found.judge, found.stage) == ("answer_span", "retrieve")
    quality = found.quality
    assert quality.labelled == 4
    mean = quality.means["RR@5"]
    assert (mean.labelled, mean.judge) == (3, pytest.approx((1 + 1 + 0) / 3))
    assert mean.gold == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert mean.bias == pytest.approx((0 + 0.5 - 0.5) / 3)
    assert quality.coverage.refused == 1


def test_what_labels_do_not_name_is_irrelevant_unless_a_label_is_0(lake):
    """Without zeros the other retrieved chunks are pairs too; with zeros only what is labelled."""
    (all_named,) = label_sample(lake, DAY, labels(("r1", "a", 1)))
    assert all_named.quality.agreement.relevant.n == 2
    (explicit,) = label_sample(lake, DAY, labels(("r1", "a", 1), ("r2", "a", 0)))
    assert explicit.quality.agreement.relevant.n == 2
    assert explicit.quality.agreement.precision.share == 0.5


def test_labels_of_nothing_in_the_window_are_refused(lake):
    """The message says how many ids were looked for."""
    with pytest.raises(DataError, match="none of the 1 labelled ids is a record of the window"):
        label_sample(lake, DAY, labels(("elsewhere", "a", 1)))


def test_an_empty_window_has_no_labelled_record(lake):
    """Not a crash."""
    later = Window(NOON + timedelta(days=3), NOON + timedelta(days=4))
    with pytest.raises(DataError, match="none of the 1 labelled ids"):
        label_sample(lake, later, labels(("r1", "a", 1)))
