"""How good a judge is: what it covers, how far it agrees with labels, how far its means are off
(METRICS 12).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError
from ragnostic.stats.agreement import JudgeAgreement, Part, judge_agreement
from ragnostic.stats.prediction_powered import CorrectedMean, Interval, corrected_mean

Grades = dict[str, dict[str, float]]
"""Query or record → chunk → grade."""

_KEYS = ("query_id", "record_id")
_ANSWERED = ("judged", "abstained")
_RANGE = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Records by what became of them; ``found`` is the share of those that the judge could speak
    of (``judged`` and ``abstained``, refusals and failures left out) with any relevant chunk.
    """

    judged: int
    abstained: int
    refused: int
    failed: int
    found: Part


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """A judge held against a labelled sample.

    ``agreement`` is over the labelled pairs of query and chunk that the judge spoke of, of
    ``labelled`` queries; None without one. ``unjudged`` counts the labelled pairs that it did not
    speak of. ``means``: metric → the judge's mean, corrected.
    """

    coverage: Coverage
    labelled: int
    unjudged: int
    agreement: JudgeAgreement | None
    means: Mapping[str, CorrectedMean] = field(default_factory=dict)

    def against(self, truth: Mapping[str, float]) -> dict[str, dict[str, Any]]:
        """Metric → how far the means are from the truth, where gold is known for all queries:
        ``before`` and ``after`` the correction, and whether the interval ``holds`` it.
        """
        return {
            metric: {
                "before": mean.judge - truth[metric],
                "after": mean.mean - truth[metric],
                "holds": mean.interval is not None
                and mean.interval[0] <= truth[metric] <= mean.interval[1],
            }
            for metric, mean in self.means.items()
            if metric in truth
        }

    def as_json(self) -> dict[str, Any]:
        """For strict JSON; null where undefined."""
        return {
            "coverage": asdict(self.coverage),
            "labelled_queries": self.labelled,
            "unjudged_pairs": self.unjudged,
            "agreement": None if self.agreement is None else self.agreement.as_json(),
            "means": {metric: mean.as_json() for metric, mean in self.means.items()},
        }


def judge_quality(
    judged: pa.Table,
    labelled: pa.Table,
    *,
    rel: float = 1.0,
    whole_corpus: bool = True,
    retrieved: pa.Table | None = None,
    scores: pa.Table | None = None,
    labelled_scores: pa.Table | None = None,
) -> JudgeQuality:
    """Quality of the judgments ``judged`` (``records.JUDGMENT_SCHEMA``) by the sample ``labelled``.

    Labels are rows of ``query_id`` or ``record_id`` with ``chunk_id`` and ``grade``, or with the
    lists ``ids`` and ``grades``. Only labelled pairs are compared. Where the labels name all that
    is relevant, ``retrieved`` (the same key, and ``ids``) adds pairs that they call irrelevant by
    not naming them. ``whole_corpus``: the judge looked at every chunk, so that one that it does not
    name is irrelevant to it; False for one that speaks only of what it names (``grader``).

    ``scores`` and ``labelled_scores`` (the key, a column a metric) are the values of all queries by
    the judge and of the labelled ones by the labels; see :func:`corrected_means`. Raises DataError
    for tables without a common key or the columns above.

    >>> judged = pa.table(
    ...     {"record_id": ["r1"], "status": ["judged"], "ids": [["a"]], "grades": [[1.0]]}
    ... )
    >>> labels = {"record_id": ["r1", "r1"], "chunk_id": ["a", "b"], "grade": [1, 0]}
    >>> found = judge_quality(judged, pa.table(labels))
    >>> found.coverage.found.share, found.agreement.relevant.kappa
    (1.0, 1.0)
    """
    key = _common_key(judged, labelled)
    judged = _graded(judged)
    labels = _grades(labelled, key)
    if retrieved is not None:
        for query, chunks in _grades(retrieved, key).items():
            if query in labels:
                labels[query] = dict.fromkeys(chunks, 0.0) | labels[query]
    spoken = judged.filter(pc.is_in(judged["status"], pa.array(_ANSWERED)))
    verdicts = _grades(_only(spoken, key, labels), key)
    pairs, missing = _pairs(labels, verdicts, whole_corpus=whole_corpus)
    both = judge_agreement(*zip(*pairs, strict=True), rel=rel) if pairs else None
    has_scores = scores is not None and labelled_scores is not None
    means = corrected_means(scores, labelled_scores) if has_scores else {}
    return JudgeQuality(_coverage(judged, spoken, rel), len(labels), missing, both, means)


def corrected_means(
    scores: pa.Table,
    labelled_scores: pa.Table,
    *,
    metrics: Sequence[str] | None = None,
    bounds: Interval | None = _RANGE,
) -> dict[str, CorrectedMean]:
    """Metric → the judge's mean over all queries, corrected by the labelled ones.

    Both tables have ``query_id`` or ``record_id``, and a column of numbers a metric, null where it
    is undefined. ``metrics``: which ones; all that both have if None. One without a query that both
    have scored is left out. A query that comes twice counts with its mean. ``bounds`` is the range
    of the metrics, None for those without one.

    >>> judge = pa.table({"query_id": ["a", "b", "c", "d"], "RR@5": [1.0, 0.5, 1.0, 0.5]})
    >>> gold = pa.table({"query_id": ["a", "b"], "RR@5": [0.5, 0.0]})
    >>> round(corrected_means(judge, gold)["RR@5"].mean, 3)
    0.25
    """
    key = _common_key(scores, labelled_scores)
    found = {}
    for metric in _shared_metrics(scores, labelled_scores) if metrics is None else metrics:
        ours, theirs = _values(scores, key, metric), _values(labelled_scores, key, metric)
        shared = [query for query in theirs if query in ours]
        mean = corrected_mean(
            _array([theirs[query] for query in shared]),
            _array([ours[query] for query in shared]),
            _array([value for query, value in ours.items() if query not in theirs]),
            bounds=bounds,
        )
        if mean is not None:
            found[metric] = mean
    return found


def _shared_metrics(scores: pa.Table, labelled_scores: pa.Table) -> list[str]:
    both = set(labelled_scores.column_names)
    return [
        column.name for column in scores.schema if column.name in both and _is_number(column.type)
    ]


def _common_key(first: pa.Table, second: pa.Table) -> str:
    for key in _KEYS:
        if key in first.column_names and key in second.column_names:
            return key
    raise DataError(
        "the labels have no key in common with what they are held against",
        hint=f"both need {' or '.join(_KEYS)}",
    )


def _grades(table: pa.Table, key: str) -> Grades:
    """Of each query the highest grade of each chunk; facets and items without a chunk left out."""
    found: Grades = {}
    for row in _listed(table, key).to_pylist():
        own = found.setdefault(row[key], {})
        size = len(row["ids"] or ())
        columns = (row.get(name) or [None] * size for name in ("grades", "facets"))
        for chunk, grade, facet in zip(row["ids"] or (), *columns, strict=True):
            if chunk is not None and facet is None:
                own[chunk] = max(own.get(chunk, 0.0), 1.0 if grade is None else float(grade))
    return found


def _graded(table: pa.Table) -> pa.Table:
    """Lists of grades that are left out are 1 for every id, as everywhere in a record."""
    ids, grades = (table[name].combine_chunks() for name in ("ids", "grades"))
    if not grades.null_count:
        return table
    ones = pa.array(np.ones(len(ids.values)), grades.type.value_type)
    ones = pa.ListArray.from_arrays(ids.offsets, ones, type=grades.type, mask=ids.is_null())
    place = table.schema.get_field_index("grades")
    return table.set_column(place, "grades", pc.if_else(grades.is_null(), ones, grades))


def _listed(table: pa.Table, key: str) -> pa.Table:
    """The table in its form with lists."""
    names = set(table.column_names)
    if "ids" in names:
        return table.select([key, *({"ids", "grades", "facets"} & names)])
    if not {"chunk_id", "grade"} <= names:
        raise DataError(
            f"labels need the columns chunk_id and grade; there are {', '.join(sorted(names))}",
            hint="or the lists ids and grades",
        )
    one = {"ids": table["chunk_id"].to_pylist(), "grades": table["grade"].to_pylist()}
    return pa.table({key: table[key], **{name: [[v] for v in rows] for name, rows in one.items()}})


def _only(table: pa.Table, key: str, queries: Mapping[str, Any]) -> pa.Table:
    return table.filter(pc.is_in(table[key], pa.array(list(queries), table[key].type)))


def _pairs(
    labels: Grades, verdicts: Grades, *, whole_corpus: bool
) -> tuple[list[tuple[float, float]], int]:
    """(label, judge's grade) of each pair, and how many the judge did not speak of."""
    pairs, missing = [], 0
    for query, chunks in labels.items():
        said = verdicts.get(query)
        for chunk, grade in chunks.items():
            if said is None or not (whole_corpus or chunk in said):
                missing += 1
            else:
                pairs.append((grade, said.get(chunk, 0.0)))
    return pairs, missing


def _coverage(judged: pa.Table, spoken: pa.Table, rel: float) -> Coverage:
    counts = {row["values"]: row["counts"] for row in pc.value_counts(judged["status"]).to_pylist()}
    grades, ids = (spoken[name].combine_chunks() for name in ("grades", "ids"))
    relevant = pc.and_(pc.greater_equal(grades.flatten(), rel), ids.flatten().is_valid())
    rows = pc.list_parent_indices(grades).filter(pc.fill_null(relevant, fill_value=False))
    found = Part.of_count(len(rows.unique()), spoken.num_rows)
    said, abstained, refused, failed = (
        counts.get(name, 0) for name in (*_ANSWERED, "refused", "failed")
    )
    return Coverage(said, abstained, refused, failed, found)


def _values(table: pa.Table, key: str, metric: str) -> dict[str, float]:
    """Query → its value, the mean where it comes several times; undefined ones left out."""
    known = table.filter(pc.is_valid(pc.cast(table[metric], pa.float64())))
    means = known.group_by(key).aggregate([(metric, "mean")])
    return dict(zip(means[key].to_pylist(), means[f"{metric}_mean"].to_pylist(), strict=True))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _array(values: Sequence[float]) -> npt.NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
