"""Run folders: written aside and renamed, so one that exists is complete; found and read again."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragnostic.errors import DataError, UsageError
from ragnostic.offline.answer_files import read_answer_tables
from ragnostic.offline.partial_folders import make_partial
from ragnostic.offline.run_schema import RUN_SCHEMA, upgraded_meta, upgraded_records
from ragnostic.offline.tags import LATEST, read_tags
from ragnostic.records import stages_of
from ragnostic.report.run import RunData

META, RECORDS, CHUNKS, SCORES = "run.json", "records.parquet", "chunks.parquet", "scores.parquet"
REPORT = "report.html"

Render = Callable[[RunData], str]


def run_name(created: datetime, commit: str | None, settings: Mapping[str, Any]) -> str:
    """``<UTC time>-<short commit or nogit>-<8 hex of settings>``.

    >>> from datetime import UTC
    >>> run_name(datetime(2025, 3, 1, 9, 5, 7, tzinfo=UTC), None, {})
    '20250301-090507-nogit-44136fa3'
    """
    canonical = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(canonical.encode()).hexdigest()[:8]
    return f"{created:%Y%m%d-%H%M%S}-{(commit or 'nogit')[:7]}-{digest}"


def write_run(out: Path, name: str, run: RunData, render: Render) -> Path:
    """Write a run below ``out`` and return its folder; ``-2``, ``-3``, … is added to a taken name.

    ``render`` makes the report. Nothing is left behind when it, or the writing, is interrupted.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        aside = make_partial(out)
    except OSError as error:
        raise _not_writable(out, error) from error
    try:
        aside.chmod(0o777 & ~_umask())
        for table, file in ((run.records, RECORDS), (run.chunks, CHUNKS), (run.scores, SCORES)):
            pq.write_table(table, aside / file, compression="zstd")
        for free in _free_names(out, name):
            named = RunData({**run.meta, "run": free}, run.records, run.chunks, run.scores)
            (aside / META).write_text(to_json(named.meta), encoding="utf-8")
            (aside / REPORT).write_text(render(named), encoding="utf-8")
            if _renamed(aside, out / free):
                return out / free
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    raise AssertionError("names do not end")  # pragma: no cover - they are endless


def check_out(out: Path) -> None:
    """Raise UsageError where no run folder can be made below ``out``; nothing is left there."""
    try:
        there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
        make_partial(there).rmdir()
    except OSError as error:
        raise _not_writable(out, error) from error


def _not_writable(out: Path, error: OSError) -> UsageError:
    return UsageError(
        f"cannot write run folders to {out}: {error.strerror}", hint="choose another --out"
    )


def to_json(value: Any) -> str:
    """JSON for a file: keys sorted, Chinese as it is, no NaN, ending in a line feed."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2, allow_nan=False)
    return f"{text}\n"


def _umask() -> int:
    import os  # noqa: PLC0415 - only here

    mask = os.umask(0)
    os.umask(mask)
    return mask


def _free_names(out: Path, name: str) -> Iterator[str]:
    number = 1
    while True:
        free = name if number == 1 else f"{name}-{number}"
        if not (out / free).exists():
            yield free
        number += 1


def _renamed(aside: Path, target: Path) -> bool:
    """Whether the folder now has this name; False where another run took it meanwhile."""
    try:
        aside.rename(target)
    except OSError as error:
        if error.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
            return False
        raise
    return True


def read_meta(path: Path) -> dict[str, Any]:
    """run.json of a run folder, in the shape of the present version; raises DataError where it is
    none or of a newer version.
    """
    return upgraded_meta(_written_meta(path))


def _written_meta(path: Path) -> dict[str, Any]:
    """run.json as it stands there."""
    file = path / META
    if not file.is_file():
        raise DataError(f"{path} is no run folder: it has no {META}")
    try:
        meta = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{file}: not valid JSON: {error}") from error
    version = meta.get("schema") if isinstance(meta, dict) else None
    if not isinstance(version, int):
        raise DataError(f"{file}: no schema version")
    if version > RUN_SCHEMA:
        raise DataError(
            f"{file}: schema {version} is newer than this ragnostic knows ({RUN_SCHEMA})",
            hint="upgrade ragnostic",
        )
    return dict(meta)


def read_run(path: Path) -> RunData:
    """A run folder of this or an older version, in memory and in the shape of the present one;
    raises DataError naming the file that cannot be read.
    """
    meta = _written_meta(path)
    records, chunks, scores = (_read_table(path / file) for file in (RECORDS, CHUNKS, SCORES))
    records = upgraded_records(records, meta["schema"])
    return RunData(upgraded_meta(meta), records, chunks, scores, read_answer_tables(path))


def last_stage(path: Path) -> str:
    """The final stage of a run folder, from the schema of its records; '' where there is none.

    Raises DataError where the records cannot be read.
    """
    try:
        stages = stages_of(pq.read_schema(path / RECORDS))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path / RECORDS}: not a readable Parquet file: {error}") from error
    return stages[-1] if stages else ""


def _read_table(file: Path) -> pa.Table:
    try:
        return pq.read_table(file)
    except FileNotFoundError as error:
        raise DataError(f"{file} is missing: the run folder is not complete") from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: not a readable Parquet file: {error}") from error


def list_runs(out: Path) -> list[Path]:
    """The run folders below ``out``, oldest first; empty where there is none."""
    if not out.is_dir():
        return []
    found = (path for path in out.iterdir() if not path.name.startswith("."))
    return sorted(path for path in found if (path / META).is_file())


def find_run(out: Path, run: str) -> Path:
    """A run folder by path, by id, by tag, by the beginning of an id that only one run below
    ``out`` has, or as ``latest``. Raises UsageError where there is none, or several.
    """
    if (Path(run) / META).is_file():
        return Path(run)
    known = {path.name: path for path in list_runs(out)}
    if run == LATEST and known:
        return known[next(reversed(known))]
    tags = read_tags(out)
    named = tags.get(run, run)
    if named in known:
        return known[named]
    if run in tags:
        raise UsageError(
            f"tag {run!r} stands for run {named}, which is not in {out}",
            hint=f"ragnostic runs tag RUN {run} moves it",
        )
    matching = [name for name in known if run and name.startswith(run)]
    if len(matching) == 1:
        return known[matching[0]]
    if matching:
        raise UsageError(f"{run!r} fits {len(matching)} runs: {', '.join(matching[:5])}")
    if Path(run).exists():
        raise UsageError(f"{run} is no run folder: it has no {META}")
    newest = f"the newest is {next(reversed(known))}" if known else f"{out} holds no runs"
    tagged = f"; tags: {', '.join(tags)}" if tags else ""
    raise UsageError(f"no run {run!r} in {out}", hint=f"{newest}{tagged}")
