"""Orders to actions, carried out: at most once each, in their order, and written down.

An order is marked as begun before anything is done. One that was begun by a process that died may
have been carried out or not: it is written down as unknown, and never done again.
"""

from __future__ import annotations

import json
import math
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

from ragnostic.errors import UsageError, counted
from ragnostic.monitor.alerts.actions import Action, Phase
from ragnostic.monitor.alerts.outbox import Order, Orders
from ragnostic.notify.webhook import Webhook, notice_json
from ragnostic.ports import Clock, Notice

AUDIT = "actions.jsonl"
"""In a store folder: a line for every order that is done with."""
DONE, FAILED, UNKNOWN = "done", "failed", "unknown"
DRY, COOLING, SKIPPED = "dry run", "cooling down", "skipped"
_ACTED = frozenset({DONE, FAILED, UNKNOWN})
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

    Each order is written down in the book before it begins, and after it ended in the audit and in
    the book: a process that dies in between leaves a line too many there, and never one too few.
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
            others = _others(orders, action, order.notice)
            status, detail = perform(action, order.notice, setting, others=len(others))
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
    dry = action.dry_run or setting.dry_run
    if phase == "resolved":
        key = order.notice.key
        begun = {one.status for one in orders.unended(action.name) if one.notice.key == key}
        if not begun & (_ACTED | ({DRY} if dry else set())):
            return SKIPPED, "the beginning was not acted on"
    elif action.cool_down is not None:
        # A flag that another alert holds up is held up by this one too: its end must count.
        held = bool(action.flag_file) and bool(_others(orders, action, order.notice))
        since = _since_run(orders, action, setting)
        if not held and since is not None and timedelta(seconds=since) < action.cool_down:
            return COOLING, f"it ran {since:.0f} s ago"
    return (DRY, action.deed) if dry else ("", "")


def _since_run(orders: Orders, action: Action, setting: Setting) -> float | None:
    """Seconds since it last ran for a beginning."""
    last = [
        one.finished
        for one in orders.finished(action.name)
        if one.finished is not None and one.status in _ACTED and phase_of(one.notice) == "firing"
    ]
    return setting.clock.now() - max(last).timestamp() if last else None


def _others(orders: Orders, action: Action, notice: Notice) -> list[Order]:
    """What it did for other alerts that are not over."""
    return [
        one
        for one in orders.unended(action.name)
        if one.status in _ACTED and one.notice.key != notice.key
    ]


def perform(
    action: Action, notice: Notice, setting: Setting, *, others: int = 0
) -> tuple[str, str]:
    """Do it now; (status, what it said). Never raises for what the other side does. ``others``: of
    how many other alerts it has seen the beginning and not the end.
    """
    if action.command:
        return _command(action, notice, setting)
    if action.flag_file:
        return _flag(setting.folder / action.flag_file, notice, others)
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


def _flag(path: Path, notice: Notice, others: int) -> tuple[str, str]:
    try:
        if phase_of(notice) == "firing":
            path.write_text(f"{notice.rule} {notice.key}\n", encoding="utf-8")
            return DONE, f"{path.name} is there"
        if others:
            return DONE, f"{path.name} stays: {counted(others, 'other alert')} still on"
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
    notice = order.notice
    row = {
        "at": now,
        "order": order.id,
        "action": order.action,
        "rule": notice.rule,
        "severity": notice.severity,
        "kind": phase_of(notice),
        "key": notice.key,
        "slice": dict(notice.slice),
        "metric": notice.metric,
        "value": _finite(notice.value),
        "reference": _finite(notice.reference),
        "n": notice.n,
        "status": status,
        "detail": detail,
    }
    line = json.dumps(row, ensure_ascii=False) + "\n"
    with setting.audit.open("ab") as file:
        file.write(line.encode("utf-8", "replace"))
        file.flush()
        os.fsync(file.fileno())
    orders.finish(order, status, detail, now)
    return Ran(order, status, detail)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
