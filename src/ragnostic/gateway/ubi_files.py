"""Files of User Behavior Insights into the intake: an event may stand in any of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragnostic.gateway import ubi
from ragnostic.gateway.balance import Unreadable, Where
from ragnostic.gateway.file_result import FINGERPRINT, FileResult
from ragnostic.gateway.intake import Intake
from ragnostic.gateway.lines import LineReader
from ragnostic.gateway.log_lines import Block, read_blocks


def ingest_ubi(paths: Sequence[Path], intake: Intake) -> list[FileResult]:
    """Queries and events of all files together, as an event may stand in any of them.

    All is read each time: what is known counts as duplicate, and a query with more events than
    before comes as a new revision.
    """
    spool = ubi.EventSpool()
    results = [FileResult(path, "ubi") for path in paths]
    try:
        for path in paths:
            for block in read_blocks(path, LineReader(path, [])):
                for row, where, raw in block.rows:
                    if not isinstance(row, Unreadable) and ubi.is_event(ubi.unwrapped(row)):
                        spool.add(ubi.unwrapped(row), where, raw)
        for result in results:
            reader = LineReader(result.path, result.faults)
            own = reader.fingerprint()[:FINGERPRINT]
            for block in read_blocks(result.path, reader):
                rows = _ubi_rows(block, spool)
                result.balance += intake.accept(rows, batch=f"{own}-{block.offset}-queries")
        for result in results:
            own = LineReader(result.path, []).fingerprint()[:FINGERPRINT]
            rows = spool.left_over(str(result.path))
            result.balance += intake.accept(rows, batch=f"{own}-events")
            result.joined = spool.joined(str(result.path))
    finally:
        spool.close()
    return results


def _ubi_rows(
    block: Block, spool: ubi.EventSpool
) -> Iterator[tuple[Mapping[str, Any] | Unreadable, Where]]:
    for row, where, raw in block.rows:
        if isinstance(row, Unreadable):
            yield row, where
            continue
        document = ubi.unwrapped(row)
        if ubi.is_event(document):
            continue
        if document.get("query_id") is None:
            yield Unreadable("a query without a query_id", raw), where
        else:
            yield ubi.query_row(document, spool.of(document["query_id"])), where
