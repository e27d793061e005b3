"""Files of exported spans into the intake: put together by trace, also across files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.balance import Unreadable, Where
from ragnostic.gateway.file_result import FINGERPRINT, FileResult
from ragnostic.gateway.intake import Intake
from ragnostic.gateway.lines import MAX_LINE, Line, LineReader
from ragnostic.gateway.openinference_lines import read_span_line
from ragnostic.gateway.span_assembler import SpanAssembler
from ragnostic.gateway.span_places import SpanPlaces
from ragnostic.gateway.span_store import SpanStore
from ragnostic.gateway.spans import Span

_BATCH = 500


def is_span(row: Mapping[str, Any]) -> bool:
    """Whether an object is an exported span, or an OTLP request.

    >>> is_span({"context": {"trace_id": "0x1"}, "attributes": {}}), is_span({"query": "q"})
    (True, False)
    """
    if "resourceSpans" in row or "context.trace_id" in row:
        return True
    context = row.get("context", row)
    has_ids = isinstance(context, Mapping) and "trace_id" in context
    return has_ids and isinstance(row.get("attributes"), Mapping)


def ingest_spans(
    paths: Sequence[Path],
    intake: Intake,
    spans: SpanStore,
    mask: Callable[[str], str] | None = None,
) -> list[FileResult]:
    """The retrievals in the traces of all files. ``spans`` is where they wait for their trace, for
    this call only; ``mask`` is laid over their texts before they wait.

    All is read each time: a retrieval that is known counts as duplicate, one of which more is
    known than before comes as a later revision. A record counts for the file whose end it was
    complete at; ``joined`` are the spans read.
    """
    results = [FileResult(path, "openinference") for path in paths]
    if not results:
        return results
    current, own = results[0], ""
    places = SpanPlaces(paths)

    def emit(rows: Iterable[tuple[Mapping[str, Any], Where]]) -> None:
        placed = ((row, places.of(row["trace_id"], row["span_id"]) or where) for row, where in rows)
        name = f"{own}-{current.balance.received}-records"
        current.balance += intake.accept(placed, batch=name)

    assembler = SpanAssembler(
        spans, emit, settle_s=0, keep_s=math.inf, mask=mask, source="openinference"
    )
    for number, current in enumerate(results):
        reader = LineReader(current.path, current.faults)
        own = reader.fingerprint()[:FINGERPRINT]
        for good, bad, offset in _batches(current.path, reader):
            for span, line, at in good:
                places.add(span.trace_id, span.span_id, file=number, line=line, offset=at)
            assembler.add([span for span, _, _ in good])
            current.joined += len(good)
            current.balance += intake.accept(bad, batch=f"{own}-{offset}-spans")
        assembler.settle()
    assembler.flush()
    return results


def _batches(
    path: Path, reader: LineReader
) -> Iterator[tuple[list[tuple[Span, int, int]], list[tuple[Unreadable, Where]], int]]:
    """Spans with line and offset, what is none, and the offset at which they begin."""
    good: list[tuple[Span, int, int]] = []
    bad: list[tuple[Unreadable, Where]] = []
    offset = 0
    for line in reader.lines():
        if not line.raw.strip():
            continue
        where = Where(str(path), line.number, line.offset)
        try:
            found, refused = _read(reader, line)
        except RowError as error:
            found, refused = (), (str(error),)
        good += [(span, line.number, line.offset) for span in found]
        bad += [(Unreadable(reason, line.raw), where) for reason in refused]
        if len(good) + len(bad) >= _BATCH:
            yield good, bad, offset
            good, bad, offset = [], [], line.offset + line.size
    yield good, bad, offset


def _read(reader: LineReader, line: Line) -> tuple[tuple[Span, ...], tuple[str, ...]]:
    if line.size > MAX_LINE:
        raise RowError(f"a line of {line.size:,} bytes, more than {MAX_LINE:,}")
    try:
        text = reader.text(line)
    except UnicodeDecodeError as error:
        raise RowError(f"not valid {error.encoding.upper()}") from error
    return read_span_line(text)
