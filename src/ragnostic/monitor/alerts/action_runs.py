"""Orders to actions, carried out: at most once each, in their order, and written down.

An order is marked as begun before anything is done. One that was begun by a process that died may
have been carried out or not: it is written down as unknown, and never done again.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from ragnostic.errors import UsageError
from ragnostic.monitor.alerts.actions import Action, Phase
from ragnostic.monitor.alerts.outbox import Order, Orders
from ragnostic.notify.webhook import Webhook, notice_json
from ragnostic.ports import Clock, Notice

AUDIT = "actions.jsonl"
"""In a store folder: a line for every order that is done with."""
DONE, FAILED, UNKNOWN = "done", "failed", "unknown"
DRY, COOLING, SKIPPED = "dry run", "cooling down", "skipped"
RAN = frozenset({DONE, FAILED, UNKNOWN, DRY})
_OUTPUT = 1024


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of an order. ``detail``: what it said, or why nothing was done."""

    order: Order
    status: str
    detail: str


@dataclass(frozen=True, slots=True)
class Setting:
    """Where actions run. ``folder``: of the rules' file; ``audit``: the file that is appended to;
    ``dry_run``: nothing is done.
    """

    folder: Path
    audit: Path
    environment: Mapping[str, str]
    clock: Clock
    dry_run: bool = False


def run_orders(orders: Orders, actions: Iterable[Action], setting: Setting) -> list[Ran]:
    """Carry out what waits. Only one process may do this at a time.

    Each order is written down before it begins and after it ended, in the book and in the audit.
    """
    known = {action.name: action for action in actions}
    found = [
        _finish(orders, order, UNKNOWN, "it was begun by a process that died", setting)
        for order in orders.begun()
    ]
    for order in orders.waiting():
        action = known.get(order.action)
        status, detail = (
            (SKIPPED, "there is no such action any more")
            if action is None
            else _refused(orders, order, action, setting)
        )
        if action is not None and not status:
            orders.begin(order)
            status, detail = perform(action, order.notice, setting)
        found.append(_finish(orders, order, status, detail, setting))
    return found


def phase_of(notice: Notice) -> Phase:
    """Whether a notice is of a beginning or an end."""
    return "firing" if notice.kind in {"firing", "test"} else "resolved"


def _refused(orders: Orders, order: Order, action: Action, setting: Setting) -> tuple[str, str]:
    """Why nothing is done, as (status, detail); two empty texts where it is to be done."""
    phase = phase_of(order.notice)
    if phase not in action.phases:
        return SKIPPED, f"it does not act on {phase}"
    past = orders.finished(order.action)
    if phase == "resolved":
        begun = [one for one in past if one.notice.key == order.notice.key and one.status in RAN]
        if not any(phase_of(one.notice) == "firing" for one in begun):
            return SKIPPED, "the beginning was not acted on"
    elif action.cool_down is not None:
        last = [one.finished for one in past if _counts(one) and one.finished is not None]
        since = setting.clock.now() - max(last).timestamp() if last else None
        if since is not None and timedelta(seconds=since) < action.cool_down:
            return COOLING, f"it ran {since:.0f} s ago"
    if action.dry_run or setting.dry_run:
        return DRY, action.deed
    return "", ""


def _counts(order: Order) -> bool:
    return order.status in {DONE, FAILED, UNKNOWN} and phase_of(order.notice) == "firing"


def perform(action: Action, notice: Notice, setting: Setting) -> tuple[str, str]:
    """Do it now; (status, what it said). Never raises for what the other side does."""
    if action.command:
        return _command(action, notice, setting)
    if action.flag_file:
        return _flag(setting.folder / action.flag_file, notice)
    return _call(action, notice, setting)


def _command(action: Action, notice: Notice, setting: Setting) -> tuple[str, str]:
    """Without a shell: values of an alert are data, wherever they come from."""
    body = json.dumps(notice_json(notice, "en"), ensure_ascii=False).encode("utf-8", "replace")
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as told:
        told.write(body)
        told.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own program, without a shell
                action.command,
                cwd=setting.folder,
                env={**setting.environment, **_variables(action, notice)},
                stdin=told,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return FAILED, f"{action.command[0]}: {error}"
        try:
            code = process.wait(action.timeout_s)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return FAILED, f"ended after {action.timeout_s:g} s: {_beginning(said)}"
        output = _beginning(said)
    return (DONE, output) if code == 0 else (FAILED, f"exit code {code}: {output}")


def _beginning(file: Any) -> str:
    file.seek(0)
    text: str = file.read(_OUTPUT).decode("utf-8", "replace").strip()
    return text


def _variables(action: Action, notice: Notice) -> dict[str, str]:
    known: dict[str, Any] = {
        "ACTION": action.name,
        "KIND": phase_of(notice),
        "KEY": notice.key,
        "RULE": notice.rule,
        "SEVERITY": notice.severity,
        "METRIC": notice.metric,
        "VALUE": notice.value,
        "REFERENCE": notice.reference,
        "N": notice.n,
        "SLICE": json.dumps(dict(notice.slice), ensure_ascii=False),
        "SINCE": notice.since.isoformat(),
    }
    texts = {name: "" if value is None else str(value) for name, value in known.items()}
    return {f"RAGNOSTIC_{name}": text.replace("\0", "") for name, text in texts.items()}


def _flag(path: Path, notice: Notice) -> tuple[str, str]:
    try:
        if phase_of(notice) == "firing":
            path.write_text(f"{notice.rule} {notice.key}\n", encoding="utf-8")
            return DONE, f"{path.name} is there"
        path.unlink(missing_ok=True)
    except OSError as error:
        return FAILED, str(error)
    return DONE, f"{path.name} is gone"


def _call(action: Action, notice: Notice, setting: Setting) -> tuple[str, str]:
    options = action.webhook
    assert options is not None  # noqa: S101 - Action has exactly one deed
    try:
        hook = Webhook(action.name, options, setting.environment, setting.clock)
    except UsageError as error:
        return FAILED, str(error)
    delivery = hook.send([notice])
    return (DONE, "") if delivery.delivered else (FAILED, delivery.reason)


def _finish(orders: Orders, order: Order, status: str, detail: str, setting: Setting) -> Ran:
    now = setting.clock.now()
    orders.finish(order, status, detail, now)
    notice = order.notice
    row = {
        "at": now,
        "action": order.action,
        "rule": notice.rule,
        "kind": phase_of(notice),
        "key": notice.key,
        "slice": dict(notice.slice),
        "status": status,
        "detail": detail,
    }
    line = json.dumps(row, ensure_ascii=False) + "\n"
    with setting.audit.open("ab") as file:
        file.write(line.encode("utf-8", "replace"))
        file.flush()
        os.fsync(file.fileno())
    return Ran(order, status, detail)
