"""The evaluation set and the corpus of a configuration, loaded and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ragnostic.config import Configuration
from ragnostic.corpus.checks import check_ids
from ragnostic.corpus.chunking import chunk_documents
from ragnostic.corpus.documents import load_documents
from ragnostic.corpus.fingerprint import fingerprint_chunks
from ragnostic.errors import DataError, Fault
from ragnostic.evalset.loading import beir_corpus_path
from ragnostic.offline.asked_queries import fingerprint_queries, load_queries
from ragnostic.offline.bad_rows import check_share
from ragnostic.offline.memo import Memo, corpus_key, dataset_key
from ragnostic.ports import Progress, Resources
from ragnostic.records import Chunk, Document, EvalQuery

GOLD_HINT = "give each query gold ids, or a document id with a quote"
Faults = tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts that are searched."""

    path: str
    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What an evaluation starts from. ``corpus`` is None for a retriever with its own index.

    ``sets`` maps query id → name of its evaluation set where the configuration names several, in
    the order of the queries; empty otherwise.
    """

    path: str
    queries: tuple[EvalQuery, ...]
    corpus: Corpus | None
    faults: tuple[Fault, ...]
    sets: Mapping[str, str] = field(default_factory=dict)

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """The chunks of the corpus, none without one."""
        return self.corpus.chunks if self.corpus else ()

    def fingerprints(self) -> dict[str, Any]:
        """The ``data`` of run.json: what was asked and searched, by content."""
        return {
            "evaluation_set": {
                "path": self.path,
                "sha256": fingerprint_queries(self.queries),
                "queries": len(self.queries),
                "answerable": sum(query.answerable for query in self.queries),
            },
            "corpus": self.corpus
            and {
                "path": self.corpus.path,
                "sha256": fingerprint_chunks(self.corpus.chunks),
                "documents": len(self.corpus.documents),
                "chunks": len(self.corpus.chunks),
                "tokens": sum(chunk.tokens for chunk in self.corpus.chunks),
            },
        }


def load_inputs(
    configuration: Configuration, progress: Progress, memo: Memo | None = None
) -> Inputs:
    """Load what the configuration names; what ``memo`` has is not loaded again.

    Raises DataError where more than ``run.bad_rows`` of the rows of the evaluation set or of the
    corpus had to be left out, naming the first ten, and where no query is left.
    """
    dataset, memo = configuration.settings.dataset, memo or Memo()
    paths = [configuration.path(written) for written in dataset.paths]
    progress("load", 0, 1)
    queries, sets, faults = memo.once(
        "queries", dataset_key(configuration), lambda: _queries(configuration)
    )
    corpus: Corpus | None = None
    for path in _corpus_paths(configuration, paths)[:1]:
        make = partial(_corpus, configuration, path, memo)
        corpus, odd = memo.once("corpus", corpus_key(configuration), make)
        faults = (*faults, *odd)
    progress("load", 1, 1)
    shown = dataset.name or " + ".join([one.name for one in dataset.set] or dataset.path)
    return Inputs(shown, queries, corpus, faults, sets)


def _queries(
    configuration: Configuration,
) -> tuple[tuple[EvalQuery, ...], Mapping[str, str], Faults]:
    faults: list[Fault] = []
    queries, sets = load_queries(configuration, faults)
    return tuple(queries), sets, tuple(faults)


def check_gold(inputs: Inputs) -> None:
    """Raise DataError where no query can have a value, before anything is retrieved."""
    answerable = [query for query in inputs.queries if query.answerable]
    if not answerable:
        raise DataError(
            f"nothing can be scored: every query of {inputs.path} is marked unanswerable",
            hint="add queries that the corpus answers, with their gold",
        )
    spans = (span for query in answerable for item in query.gold for span in item)
    if not any(span.grade > 0 for span in spans):
        raise DataError(
            f"nothing can be scored: no query of {inputs.path} has relevant gold", hint=GOLD_HINT
        )


def _corpus_paths(configuration: Configuration, paths: Sequence[Path]) -> list[Path]:
    written = configuration.settings.dataset.corpus
    if written is not None:
        return [configuration.path(written)]
    found = (beir_corpus_path(path) for path in paths if path.is_dir())
    return [path for path in found if path is not None]


def _corpus(configuration: Configuration, path: Path, memo: Memo) -> tuple[Corpus, Faults]:
    documents, faults = memo.once(
        "documents", dataset_key(configuration), lambda: _documents(configuration, path)
    )
    choice = configuration.choices["chunk"]
    chunker = choice.plugin.build(choice.options, Resources(base_dir=configuration.base_dir))
    chunks = chunk_documents(documents, chunker)
    shown = configuration.settings.dataset.corpus or path.name
    return Corpus(shown, documents, tuple(chunks)), (*faults, *check_ids(chunks))


def _documents(configuration: Configuration, path: Path) -> tuple[tuple[Document, ...], Faults]:
    faults: list[Fault] = []
    documents = load_documents(path, faults=faults)
    limit = configuration.settings.run.bad_rows
    check_share(path, faults, good=len(documents), limit=limit, documents=True)
    return tuple(documents), tuple(faults)
