"""The diagnosis of a run: its records, and as much of its corpus and searches as is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from ragnostic.adapters.bm25 import Bm25Retriever
from ragnostic.config import Configuration, needs
from ragnostic.corpus.chunk_rows import chunk_rows
from ragnostic.diagnose.diagnosis import Diagnosis, diagnose
from ragnostic.diagnose.exact import BestOf, DenseSearch, ExactSearch, LexicalSearch, Searched
from ragnostic.diagnose.gathering import Known, Stages, cut_by_reranker, gather
from ragnostic.diagnose.gold_places import GoldPlaces, Place
from ragnostic.diagnose.misses import Item, read_items
from ragnostic.diagnose.of_index import ask_again, held_by_index
from ragnostic.errors import DataError, Fault, UsageError
from ragnostic.judges.gold_resolving import Resolved, Resolver
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.inputs import Inputs, load_inputs
from ragnostic.ports import CountTokens, Progress, no_progress
from ragnostic.report.run import RunData
from ragnostic.text import count_tokens

Exact = Literal["auto", "bm25", "dense", "hybrid", "none"]
MakeSearch = Callable[[Searched], ExactSearch]
DEFAULT_K = 5
_OWN = ("bm25", "dense", "hybrid")
"""Retrievers that search exactly."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a run can be diagnosed with, beside itself.

    ``configuration``: that of the run; its corpus, evaluation set and embedder are read. ``index``
    lists what a service's index holds (a row a chunk). ``exact``: which exact search stands for
    the retriever's; ``auto`` is the retriever's own kind, and for a service the configured
    embedder, if there is one.
    """

    configuration: Configuration | None = None
    index: Path | None = None
    exact: Exact = "auto"
    progress: Progress = no_progress


def diagnose_run(run: RunData, means: Means, *, k: int = DEFAULT_K) -> tuple[Diagnosis, list[str]]:
    """The diagnosis, and remarks on what could not be tested and what has changed since the run.

    Raises DataError where nothing can be scored, UsageError where the means do not fit.
    """
    found = read_items(run.records, run.stages, k)
    if not found.asked:
        raise DataError("no query of the run has anything relevant to find")
    remarks: list[str] = []
    if means.configuration is None:
        known = Known(index=_listed(means.index, remarks))
        remarks.append(
            "without --config the corpus and its searches are not at hand: what was never "
            "retrieved stays unexplained"
        )
        stages = _stages(run, None)
    else:
        missed = frozenset(id_ for item in found.missed for id_ in item.ids)
        known, stages = _with_configuration(run, means, means.configuration, missed, remarks)
    evidence = gather(found, stages, known, means.progress)
    return diagnose(found, evidence), remarks


def _with_configuration(
    run: RunData,
    means: Means,
    configuration: Configuration,
    missed: frozenset[str],
    remarks: list[str],
) -> tuple[Known, Stages]:
    inputs = load_inputs(configuration, means.progress)
    remarks += _changed(run, inputs)
    workshop = Workshop(configuration, inputs.chunks, means.progress)
    has_index = "index" in configuration.choices
    index: Mapping[str, str | None] | None
    index = _listed(means.index, remarks) or _own_index(inputs, configuration)
    fresh: Mapping[str, bool] = {}
    if index is None and has_index:
        held = held_by_index(workshop, missed)
        if held.texts.keys().isdisjoint(chunk.id for chunk in inputs.chunks):
            remarks.append("no id of the index is one of the corpus; what it holds is not known")
        else:
            index, fresh = held.texts, held.fresh
    known = Known(
        chunks={chunk.id: chunk for chunk in inputs.chunks},
        place_of=_places(inputs, configuration) if inputs.corpus else lambda _: None,
        index=index,
        fresh=fresh,
        search=_search(means.exact, workshop, remarks),
        approximate=configuration.choices["retrieve"].name not in _OWN,
        again=ask_again(workshop) if has_index and inputs.chunks else None,
    )
    return known, _stages(run, workshop)


def _changed(run: RunData, inputs: Inputs) -> Iterator[str]:
    """What is not any more what the run saw."""
    then, now = run.meta.get("data") or {}, inputs.fingerprints()
    for name, said in (("corpus", "corpus"), ("evaluation_set", "evaluation set")):
        one, two = (data.get(name) or {} for data in (then, now))
        if one and two and one.get("sha256") != two.get("sha256"):
            yield f"the {said} has changed since the run; what is said of it is of today's"


def _places(inputs: Inputs, configuration: Configuration) -> Callable[[Item], Place | None]:
    """Where the gold of each item is, by the numbers that the run's judgments have."""
    corpus = inputs.corpus
    if corpus is None:
        return lambda _: None
    places = GoldPlaces(corpus.documents, corpus.chunks)
    resolver = Resolver(places.corpus, configuration.settings.score.overlap, has_corpus=True)
    queries = {query.query_id: query for query in inputs.queries}
    resolved: dict[str, list[Resolved]] = {}

    def place_of(item: Item) -> Place | None:
        query = queries.get(item.query_id)
        if query is None or item.number is None:
            return None
        if item.query_id not in resolved:
            resolved[item.query_id] = resolver.resolve(query)
        of_query = resolved[item.query_id]
        return places.of(of_query[item.number]) if item.number < len(of_query) else None

    return place_of


def _own_index(inputs: Inputs, configuration: Configuration) -> dict[str, str | None] | None:
    """A retriever that indexes the corpus itself holds all of it."""
    if not configuration.choices["retrieve"].plugin.needs_corpus:
        return None
    return {chunk.id: None for chunk in inputs.chunks}


def _listed(path: Path | None, remarks: list[str]) -> dict[str, str | None] | None:
    """What a file lists as the contents of an index."""
    if path is None:
        return None
    faults: list[Fault] = []
    listed: dict[str, str | None] = {chunk.id: chunk.text for chunk, _ in chunk_rows(path, faults)}
    if not listed:
        raise DataError(f"{path} lists no chunk", hint="a row a chunk: chunk_id and text")
    remarks += map(str, faults)
    return listed


def _search(exact: Exact, workshop: Workshop, remarks: list[str]) -> MakeSearch | None:
    choices = workshop.configuration.choices
    retriever = choices["retrieve"]
    kind: str = exact
    if exact == "auto":
        own = retriever.name if retriever.name in _OWN else None
        kind = own or ("dense" if "embed" in choices and workshop.chunks else "none")
    if kind == "none" or not workshop.chunks:
        remarks.append(
            "there is no exact search for this retriever, so that its index and its embedding "
            'cannot be told apart: name dataset.corpus and [embed] use = "…", or --exact bm25'
        )
        return None
    if kind in ("dense", "hybrid") and "embed" not in choices:
        raise UsageError(
            f"--exact {kind} needs an embedder", hint='set [embed] use = "e5-small" in --config'
        )
    options = getattr(retriever.options, "bm25", retriever.options)
    bm25 = options if isinstance(options, Bm25Retriever.Options) else None

    def lexical(searched: Searched) -> ExactSearch:
        return LexicalSearch(searched, bm25, workshop.progress)

    def dense(searched: Searched) -> ExactSearch:
        return DenseSearch(searched, workshop.embedder(), workshop.progress)

    made: dict[str, MakeSearch] = {
        "bm25": lexical,
        "dense": dense,
        "hybrid": lambda searched: BestOf(lexical(searched), dense(searched)),
    }
    return made[kind]


def _stages(run: RunData, workshop: Workshop | None) -> Stages:
    """Depth, and what is known of the reranker."""
    stages = run.stages
    reranked = len(stages) > 1 and _reorders(run.records, stages[-2], stages[-1])
    last = stages[-2] if reranked else stages[-1]
    asked = [hits.get("top_k") or len(hits.get("ids") or ()) for hits in _hits(run.records, last)]
    choice = None if workshop is None else workshop.configuration.choices.get("rerank")
    counting: CountTokens = count_tokens
    if workshop is not None and choice is not None and needs(choice, "embedder"):
        counting = workshop.embedder().count_tokens
    rows = run.rows(("record_id", stages[-1])) if reranked else iter(())
    return Stages(
        depth=max(asked, default=0),
        reranked=reranked,
        limit=None if choice is None else getattr(choice.options, "max_tokens", None),
        count=counting,
        cut_off=cut_by_reranker(iter(rows), stages[-1]),
    )


def _hits(records: pa.Table, stage: str) -> Iterator[Mapping[str, Any]]:
    for hits in records[stage].to_pylist():
        if hits is not None:
            yield hits


def _reorders(records: pa.Table, before: str, after: str) -> bool:
    """Whether a stage only holds what the one before it gave, in every record."""
    pairs = zip(records[before].to_pylist(), records[after].to_pylist(), strict=True)
    return all(
        set((two or {}).get("ids") or ()) <= set((one or {}).get("ids") or ()) for one, two in pairs
    )
