"""The evaluation set and the corpus of a configuration, loaded and checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from ragnostic.config import Configuration
from ragnostic.corpus.checks import check_ids
from ragnostic.corpus.chunking import chunk_documents
from ragnostic.corpus.documents import load_documents
from ragnostic.corpus.fingerprint import fingerprint_chunks
from ragnostic.errors import DataError, Fault
from ragnostic.evalset.loading import beir_corpus_path, load_evaluation_set
from ragnostic.offline.bad_rows import check_share
from ragnostic.ports import Progress, Resources
from ragnostic.records import Chunk, Document, EvalQuery

GOLD_HINT = "give each query gold ids, or a document id with a quote"


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts that are searched."""

    path: str
    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What an evaluation starts from. ``corpus`` is None for a retriever with its own index."""

    path: str
    queries: tuple[EvalQuery, ...]
    corpus: Corpus | None
    faults: tuple[Fault, ...]

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


def load_inputs(configuration: Configuration, progress: Progress) -> Inputs:
    """Load what the configuration names.

    Raises DataError where more than ``run.bad_rows`` of the rows of the evaluation set or of the
    corpus had to be left out, naming the first ten, and where no query is left.
    """
    dataset = configuration.settings.dataset
    paths = [configuration.path(written) for written in dataset.path]
    faults: list[Fault] = []
    progress("load", 0, 1)
    queries = _queries(configuration, paths, faults)
    corpus_path = next(iter(_corpus_paths(configuration, paths)), None)
    corpus = None if corpus_path is None else _corpus(configuration, corpus_path, faults)
    progress("load", 1, 1)
    return Inputs(dataset.name or " + ".join(dataset.path), tuple(queries), corpus, tuple(faults))


def _queries(
    configuration: Configuration, paths: Sequence[Path], faults: list[Fault]
) -> list[EvalQuery]:
    dataset, limit = configuration.settings.dataset, configuration.settings.run.bad_rows
    queries: dict[str, EvalQuery] = {}
    homes: dict[str, str] = {}
    for path in paths:
        own: list[Fault] = []
        loaded = load_evaluation_set(
            path,
            split=dataset.split,
            mapping=cast("Mapping[str, str] | None", dataset.mapping),
            graded=dataset.graded,
            faults=own,
        )
        for query in loaded:
            if query.query_id in queries:
                before = homes[query.query_id]
                message = f"query id {query.query_id!r} was given before, in {before}; left out"
                own.append(Fault("quarantined", message, (query.query_id,), path.name))
            queries.setdefault(query.query_id, query)
            homes.setdefault(query.query_id, path.name)
        check_share(path, own, good=len(loaded), limit=limit)
        faults += own
    if not queries:
        raise DataError(f"{paths[0]} holds no query")
    return list(queries.values())


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


def _corpus(configuration: Configuration, path: Path, faults: list[Fault]) -> Corpus:
    own: list[Fault] = []
    documents = load_documents(path, faults=own)
    limit = configuration.settings.run.bad_rows
    check_share(path, own, good=len(documents), limit=limit, documents=True)
    choice = configuration.choices["chunk"]
    chunker = choice.plugin.build(choice.options, Resources(base_dir=configuration.base_dir))
    chunks = chunk_documents(documents, chunker)
    faults += own
    faults += check_ids(chunks)
    shown = configuration.settings.dataset.corpus or path.name
    return Corpus(shown, tuple(documents), tuple(chunks))


def fingerprint_queries(queries: Sequence[EvalQuery]) -> str:
    """SHA-256 (hex) of queries and gold by content; their order and the file's layout are no part.

    >>> a, b = EvalQuery("1", "x"), EvalQuery("2", "y")
    >>> fingerprint_queries([a, b]) == fingerprint_queries([b, a])
    True
    """
    lines = sorted(
        json.dumps(asdict(query), sort_keys=True, ensure_ascii=False, default=dict)
        for query in queries
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
