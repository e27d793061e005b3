"""``ragnostic forget``: a user, a session or a record out of everything that a store keeps."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ragnostic.cli.console import print_json, print_table
from ragnostic.cli.live_options import Store
from ragnostic.cli.work import warn
from ragnostic.errors import UsageError
from ragnostic.monitor.forget import finish_forgetting
from ragnostic.monitor.forget import forget as forget_rows
from ragnostic.monitor.forgotten_rows import By, Whom
from ragnostic.monitor.live_store import open_store


def forget(
    *,
    store: Store,
    user: Annotated[str | None, typer.Option(help="User id, as the service sends it.")] = None,
    session: Annotated[str | None, typer.Option(help="Session id.")] = None,
    record: Annotated[str | None, typer.Option(help="Record id.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Remove every row of a user, a session or a record: records, judgments, scores, probes,
    what waits in the queue, and the quarantine. Workers pause meanwhile.
    """
    given: dict[By, str | None] = {"user": user, "session": session, "record": record}
    chosen = [Whom(by, id_) for by, id_ in given.items() if id_]
    if len(chosen) != 1:
        raise UsageError(
            "give one of --user, --session and --record", hint="ragnostic forget --help"
        )
    with open_store(store, os.environ) as opened:
        finish_forgetting(opened, report=warn)
        removed = forget_rows(opened, chosen[0], report=warn)
    if not any(removed.values()):
        warn(
            f"nothing is kept of {chosen[0].by} {chosen[0].id}; ids are those that the service "
            "sent, record ids the column record_id of the store's records"
        )
    if as_json:
        print_json({"by": chosen[0].by, "removed": removed})
        return
    print_table(["place", "rows removed"], [(place, str(n)) for place, n in removed.items()])
