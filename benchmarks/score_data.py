"""Makes the benchmark's data: n queries x 20 results x about 3 judged, as two Parquet layouts."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ragnostic.records import JUDGED_TYPE, STAGE_TYPE

DEPTH = 20
CHUNKS = 5_000_000
BLOCK = 50_000


def _ids(numbers: np.ndarray) -> pa.Array:
    return pa.array([f"doc{number:07d}" for number in numbers.tolist()])


def make(folder: Path, queries: int, seed: int = 7) -> None:
    """Write records.parquet, run.parquet and qrels.parquet for ``queries`` queries."""
    draw = np.random.default_rng(seed)
    record_schema = pa.schema(
        [("query_id", pa.string()), ("retrieve", STAGE_TYPE), ("judged", JUDGED_TYPE)]
    )
    run_schema = pa.schema(
        [("query_id", pa.string()), ("chunk_id", pa.string()), ("score", pa.float64())]
    )
    qrels_schema = pa.schema(
        [("query_id", pa.string()), ("chunk_id", pa.string()), ("grade", pa.int32())]
    )
    with (
        pq.ParquetWriter(folder / "records.parquet", record_schema) as records,
        pq.ParquetWriter(folder / "run.parquet", run_schema) as run,
        pq.ParquetWriter(folder / "qrels.parquet", qrels_schema) as qrels,
    ):
        for start in range(0, queries, BLOCK):
            size = min(BLOCK, queries - start)
            names = pa.array([f"q{number:07d}" for number in range(start, start + size)])
            # Distinct ids within a query: a random start and stride through the chunk numbers.
            first = draw.integers(0, CHUNKS, size)[:, None]
            stride = draw.integers(1, CHUNKS // 40, size)[:, None]
            results = (first + stride * np.arange(DEPTH)) % CHUNKS
            scores = np.sort(draw.random((size, DEPTH)), axis=1)[:, ::-1]
            counts = draw.integers(1, 6, size)
            # About half of the judged chunks were retrieved; no id twice, so stride 40 apart.
            place = np.argsort(draw.random((size, 2 * DEPTH)), axis=1)[:, :5]
            judged = (first + stride * place) % CHUNKS
            grades = draw.integers(0, 4, (size, 5))
            grades[:, 0] = np.maximum(grades[:, 0], 1)
            kept = np.arange(5) < counts[:, None]
            hits, gold = _ids(results.ravel()), _ids(judged[kept])
            bounds = pa.array(np.arange(size + 1) * DEPTH, pa.int32())
            gold_bounds = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
            grade = pa.array(grades[kept].astype(np.int32))
            flat_scores = pa.array(scores.ravel())
            records.write_table(
                pa.table(
                    {
                        "query_id": names,
                        "retrieve": _struct(
                            STAGE_TYPE,
                            size,
                            ids=pa.ListArray.from_arrays(bounds, hits),
                            scores=pa.ListArray.from_arrays(bounds, flat_scores),
                        ),
                        "judged": _struct(
                            JUDGED_TYPE,
                            size,
                            ids=pa.ListArray.from_arrays(gold_bounds, gold),
                            grades=pa.ListArray.from_arrays(gold_bounds, grade.cast(pa.float32())),
                        ),
                    },
                    schema=record_schema,
                )
            )
            rows = np.repeat(np.arange(size), DEPTH)
            run.write_table(pa.table([names.take(rows), hits, flat_scores], schema=run_schema))
            rows = np.repeat(np.arange(size), counts)
            qrels.write_table(pa.table([names.take(rows), gold, grade], schema=qrels_schema))


def _struct(kind: pa.StructType, size: int, **members: pa.Array) -> pa.StructArray:
    columns = [members.get(field.name, pa.nulls(size, field.type)) for field in kind]
    return pa.StructArray.from_arrays(columns, fields=list(kind))


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]))
