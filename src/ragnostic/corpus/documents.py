"""Documents from a folder of Markdown and text files, from JSONL, and from Parquet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ragnostic.corpus.document_rows import iter_jsonl, iter_parquet
from ragnostic.corpus.files import decode, read_bytes
from ragnostic.corpus.markdown import title_of
from ragnostic.errors import DataError, Fault, PathError, counted
from ragnostic.records import Document

_MARKDOWN = (".md", ".markdown")
_TEXT = (*_MARKDOWN, ".txt")
_ROWS = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_NAMED = 20

Placed = tuple[str, Document]
"""Where a document stands, and the document."""


def load_documents(path: Path, *, faults: list[Fault]) -> list[Document]:
    """The documents of a folder or a file, in a stable order.

    A folder gives one document for each ``.md``, ``.markdown`` and ``.txt`` below it (gzip
    accepted, hidden names left out), its id being the POSIX path below the folder. JSONL and
    Parquet files give one for each row (``_id`` or ``id``, ``title`` if there is one, ``text``);
    in a folder they are read where there are no text files. A folder that holds
    ``corpus.jsonl`` is a BEIR folder, and only that file is read.

    What cannot be read is left out with a Fault: ``quarantined`` (bad row, unreadable file, an
    id that came before), ``empty_document``, ``skipped_files``. Raises DataError where the path
    does not exist or no document is left.
    """
    found: dict[str, Document] = {}
    first_seen: dict[str, str] = {}
    for where, document in _read(path, faults):
        if document.doc_id in found:
            before = first_seen[document.doc_id]
            message = f"document id {document.doc_id!r} was given before, in {before}; left out"
            faults.append(Fault("quarantined", message, (document.doc_id,), where))
            continue
        found[document.doc_id] = document
        first_seen[document.doc_id] = where
    if not found:
        raise DataError(
            f"{path} holds no document",
            hint="a folder of .md or .txt files, JSONL with _id and text, or Parquet",
        )
    return list(found.values())


def _read(path: Path, faults: list[Fault]) -> Iterator[Placed]:
    if not path.exists():
        raise PathError(f"no such file or folder: {path}", hint="is the path right?")
    if not path.is_dir():
        yield from _read_file(path, path.name, faults)
        return
    for name in ("corpus.jsonl", "corpus.jsonl.gz"):
        if (path / name).is_file():
            yield from iter_jsonl(path / name, faults)
            return
    files = _files_below(path)
    has_text = any(_kind(name) in _TEXT for _, name in files)
    wanted = _TEXT if has_text else (*_ROWS, *_PARQUET)
    skipped: list[str] = []
    for file, name in files:
        if _kind(name) not in wanted:
            skipped.append(name)
            continue
        try:
            yield from _read_file(file, name, faults)
        except DataError as error:
            faults.append(_left_out(error.message, file, name))
    if skipped:
        shown = ", ".join(skipped[:_NAMED]) + (", …" if len(skipped) > _NAMED else "")
        found = counted(len(skipped), "file was", "files were")
        message = f"{found} not read as documents: {shown}"
        faults.append(
            Fault("skipped_files", message, tuple(skipped[:_NAMED]), path.name, len(skipped))
        )


def _left_out(problem: str, file: Path, name: str) -> Fault:
    """The fault of a file that cannot be read; its place is said in ``where``, and only there.

    >>> str(_left_out("b.md:3: not valid UTF-8", Path("x/b.md"), "b.md"))
    'b.md:3: not valid UTF-8; left out'
    >>> str(_left_out("/data/b.md is empty", Path("/data/b.md"), "b.md"))
    'b.md: is empty; left out'
    """
    names = "|".join(re.escape(place) for place in (str(file), name, file.name))
    place = re.match(rf"(?:{names})(:\d+)?(?:: | )", problem)
    line = (place and place[1]) or ""
    message = problem[place.end() :] if place else problem
    return Fault("quarantined", f"{message}; left out", (name,), f"{name}{line}")


def _files_below(folder: Path) -> list[tuple[Path, str]]:
    """All files below a folder with their POSIX paths in it, sorted by those; none hidden."""
    found: list[tuple[Path, str]] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                file = Path(parent, name)
                found.append((file, file.relative_to(folder).as_posix()))
    return sorted(found, key=lambda entry: entry[1])


def _kind(name: str) -> str:
    """The suffix that says what a file is, below ``.gz``.

    >>> _kind("a/b.MD.gz")
    '.md'
    """
    return Path(name.lower().removesuffix(".gz")).suffix


def _read_file(path: Path, name: str, faults: list[Fault]) -> Iterator[Placed]:
    kind = _kind(name)
    if kind in _ROWS:
        yield from iter_jsonl(path, faults)
    elif kind in _PARQUET:
        yield from iter_parquet(path, faults)
    else:
        yield from _read_text_file(path, name, kind, faults)


def _read_text_file(path: Path, name: str, kind: str, faults: list[Fault]) -> Iterator[Placed]:
    if not name.isprintable():
        raise DataError(f"the file name {name!r} holds characters that no id may hold")
    if path.is_file() and not path.stat().st_size:
        faults.append(Fault("empty_document", "is empty; left out", (name,), name))
        return
    text = decode(read_bytes(path), name, faults)
    if not text.strip():
        faults.append(Fault("empty_document", "is blank; left out", (name,), name))
        return
    title = title_of(text) if kind in _MARKDOWN else ""
    yield name, Document(name, text, title)
