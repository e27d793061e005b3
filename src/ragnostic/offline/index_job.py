"""The index of a configuration, checked with its corpus, evaluation set and embedder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from ragnostic.config import Configuration
from ragnostic.corpus.chunk_rows import chunk_rows
from ragnostic.corpus.index_check import IndexCheck, Wanted, check_index
from ragnostic.corpus.index_expected import Expected
from ragnostic.errors import DataError, Fault, PathError, UsageError
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.inputs import Inputs, load_inputs
from ragnostic.ports import Progress, VectorStore, no_progress

_PACKAGES = {"chroma": "chromadb", "faiss": "faiss-cpu"}
"""What an index library is called where packages are installed from, if otherwise."""


@dataclass(frozen=True, slots=True)
class IndexJob:
    """How the check is run. ``before``: id → digest of an earlier build."""

    progress: Progress = no_progress
    before: Mapping[str, int] | None = None
    listing: bool = False
    fresh: bool = False


@contextmanager
def open_store(workshop: Workshop) -> Iterator[VectorStore]:
    """The index that the configuration names; raises UsageError where it names none."""
    name = named_index(workshop.configuration)
    try:
        store = workshop.store()
    except ModuleNotFoundError as error:
        raise UsageError(
            f"index.use = {name!r} needs a package that is not installed: {error.name}",
            hint=f"pip install {_PACKAGES.get(name, error.name)}",
        ) from error
    try:
        yield store
    finally:
        store.close()


def named_index(configuration: Configuration) -> str:
    """The library of the index; raises UsageError where the configuration names none."""
    if "index" not in configuration.choices:
        raise UsageError(
            "the configuration names no index",
            hint='add [index] use = "faiss" and [index.faiss] with path and rows',
        )
    return configuration.choices["index"].name


def run_index_check(configuration: Configuration, job: IndexJob) -> tuple[IndexCheck, list[Fault]]:
    """The check, and the faults of the corpus and of the evaluation set."""
    settings = configuration.settings.index
    named_index(configuration)
    inputs = load_inputs(configuration, job.progress)
    faults = list(inputs.faults)
    workshop = Workshop(configuration, inputs.chunks, job.progress, fresh=job.fresh)
    expected = _expected(configuration, inputs, faults)
    with open_store(workshop) as store:
        wanted = Wanted(
            expected=expected,
            queries=_queries(inputs, settings.queries),
            k=settings.top_k,
            efforts=settings.efforts,
            sample=settings.sample,
            stale_below=settings.stale_below,
            target=settings.recall,
            taken=settings.scores,
            before=job.before,
            listing=job.listing,
        )
        embedder = workshop.embedder() if "embed" in configuration.choices else None
        return check_index(store, wanted, embedder, job.progress), faults


def _queries(inputs: Inputs, most: int) -> list[str]:
    """Spread over the set, so that no part of it is left out; each text once."""
    texts = list(dict.fromkeys(query.query for query in inputs.queries))
    if len(texts) <= most:
        return texts
    return [texts[number * len(texts) // most] for number in range(most)]


def _expected(configuration: Configuration, inputs: Inputs, faults: list[Fault]) -> Expected | None:
    settings = configuration.settings.index
    if settings.chunks is None:
        if not inputs.chunks:
            return None
        return Expected({chunk.id: chunk for chunk in inputs.chunks}, settings.match)
    path = configuration.path(settings.chunks)
    if not path.is_file():
        raise PathError(
            f"index.chunks: no such file: {settings.chunks}",
            hint=f"paths are relative to {configuration.base_dir}",
        )
    chunks = {chunk.id: chunk for chunk, _ in chunk_rows(path, faults)}
    if not chunks:
        raise DataError(f"{settings.chunks} lists no chunk", hint="a row a chunk: chunk_id, text")
    return Expected(chunks, settings.match)
