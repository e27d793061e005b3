"""Faults put into a system on purpose, and what is then the true cause of each miss."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from planted_sets import Question
from planted_system import ENTRY_POINTS, HashingEmbedder, cut
from ragnostic.corpus.chunkers import MarkdownChunker
from ragnostic.offline.run_folder import read_run
from ragnostic.records import Chunk, Document
from ragnostic.text import count_tokens, words

FAULTS = (
    "not_in_corpus",
    "not_indexed",
    "cut_by_chunker",
    "representation",
    "index_approximation",
    "truncated",
    "rerank_demotion",
)
"""What is planted, in pipeline order."""
_OWN_CHUNK = FAULTS[:3]
"""Faults of a chunk: their items share it with no other."""
K, DEPTH, CHUNK_TOKENS, SHARE = 10, 20, 300, 1 / 7
CONFIG = """\
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[chunk]
by = "planted"
[embed]
use = "hashing"
cache = false
[retrieve]
use = "python"
top_k = {depth}
[retrieve.python]
target = "planted_system:retrieve"
workers = 1
[rerank]
use = "planted"
long = "truncate"
max_tokens = {limit}
[score]
metrics = ["R@{k}"]
[run]
out = "runs"
bad_rows = 1.0
"""


@dataclass(frozen=True)
class Planted:
    """Which faults are there, and the questions that each is meant for."""

    active: frozenset[str] = frozenset()
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def only(self, faults: Iterable[str]) -> Planted:
        """The same with these alone."""
        return replace(self, active=frozenset(faults))

    def hits(self, fault: str, question_id: str) -> bool:
        """Whether a fault that is there is meant for a question."""
        return fault in self.active and question_id in self.groups[fault]


@dataclass(frozen=True)
class World:
    """What a system with faults consists of."""

    texts: Mapping[str, str]
    questions: Mapping[str, tuple[str, str, str]]
    """By id: what is asked, the document, the quote that answers."""
    borders: Mapping[str, Sequence[int]]
    chunks: Sequence[Chunk]
    held: Mapping[str, str]
    """By chunk id: the text that the index holds."""
    demoted: Mapping[str, list[str]]
    effort: int | None
    limit: int

    @cached_property
    def vectors(self) -> Any:
        """Of what the index holds, in order."""
        return HashingEmbedder().embed(list(self.held.values()), "passage")

    @cached_property
    def positions(self) -> dict[str, int]:
        """By chunk id, its row of the vectors."""
        return {name: n for n, name in enumerate(self.held)}

    def place(self, question_id: str) -> tuple[int, int] | None:
        """Where the answer stands in its document now."""
        _, doc_id, quote = self.questions[question_id]
        at = self.texts[doc_id].find(quote)
        return None if at < 0 else (at, at + len(quote))

    def chunk(self, question_id: str) -> Chunk | None:
        """The chunk that holds half of the answer or more."""
        place, doc_id = self.place(question_id), self.questions[question_id][1]
        for chunk in self.chunks if place else ():
            start, end = place or (0, 0)
            shared = min(end, chunk.end) - max(start, chunk.start)
            if chunk.doc_id == doc_id and 2 * shared >= end - start:
                return chunk
        return None

    def rank(self, question_id: str, chunk: Chunk) -> int:
        """By brute force over what the index holds; 0 for what it does not hold."""
        if chunk.id not in self.positions:
            return 0
        scores = (
            self.vectors @ HashingEmbedder().embed([self.questions[question_id][0]], "query")[0]
        )
        return int((scores >= scores[self.positions[chunk.id]] - 1e-6).sum())


@dataclass(frozen=True)
class Told:
    """What the product said: causes by question, gains by cause with interval; and the run."""

    world: World
    recall: float
    causes: Mapping[str, str]
    gains: Mapping[str, tuple[float, float, float]]
    candidates: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class System:
    """A clean system over a set."""

    documents: Mapping[str, str]
    borders: Mapping[str, Sequence[int]]
    kind: str

    @classmethod
    def of(cls, documents: Mapping[str, str], questions: Sequence[Question], name: str) -> System:
        """Whole passages over HNSW; sections of pages, none of which cuts an answer, over IVF."""
        if name == "rgb-zh":
            return cls(documents, {}, "hnsw")
        spans: dict[str, list[tuple[int, int]]] = {}
        for one in questions:
            spans.setdefault(one.doc_id, []).append((one.start, one.end))
        chunker = MarkdownChunker(CHUNK_TOKENS, 0)
        borders = {
            doc_id: [
                chunk.start
                for chunk in chunker.chunk(Document(doc_id, text))[1:]
                if not any(s < chunk.start < e for s, e in spans.get(doc_id, ()))
            ]
            for doc_id, text in documents.items()
        }
        return cls(documents, borders, "ivf")

    def plant(self, questions: Sequence[Question]) -> Planted:
        """Each fault for a share of the questions, drawn without regard to the others."""
        world = self.world(questions, Planted())
        chunks = {one.id: chunk.id for one in questions if (chunk := world.chunk(one.id))}
        shared = Counter(chunks.values())
        draw = np.random.default_rng(20_261_201)
        groups = {
            fault: frozenset(
                one.id
                for one in questions
                if draw.random() < SHARE
                and not (fault in _OWN_CHUNK and shared[chunks[one.id]] > 1)
            )
            for fault in FAULTS
        }
        return Planted(frozenset(FAULTS), groups)

    def world(self, questions: Sequence[Question], planted: Planted) -> World:
        """Documents, chunks, index and questions with the faults that are planted."""
        texts, borders = dict(self.documents), {d: list(b) for d, b in self.borders.items()}
        asked = {}
        for one in questions:
            quote = self.documents[one.doc_id][one.start : one.end]
            asked[one.id] = (one.text, one.doc_id, quote)
            if planted.hits("not_in_corpus", one.id):
                _remove(texts, borders, one.doc_id, quote)
        for one in questions:
            if planted.hits("cut_by_chunker", one.id):
                _cut(texts, borders, one.doc_id, asked[one.id][2], parts=2 + len(one.id) % 2)
        chunks = [
            chunk
            for doc_id, text in texts.items()
            for chunk in cut(Document(doc_id, text), borders.get(doc_id, ()))
        ]
        world = World(texts, asked, borders, chunks, {c.id: c.text for c in chunks}, {}, None, 0)
        return self._with_searches(world, questions, planted)

    def _with_searches(
        self, world: World, questions: Sequence[Question], planted: Planted
    ) -> World:
        held, asked = dict(world.held), dict(world.questions)
        demoted: dict[str, list[str]] = {}
        shifted = [*world.chunks[len(world.chunks) // 2 :], *world.chunks]
        for number, one in enumerate(questions):
            chunk = world.chunk(one.id)
            if chunk is None:
                continue
            if planted.hits("not_indexed", one.id):
                if number % 2:
                    held.pop(chunk.id, None)
                else:
                    held[chunk.id] = shifted[world.chunks.index(chunk)].text
            if planted.hits("representation", one.id):
                asked[one.id] = (_abbreviated(one.text, chunk.text), *asked[one.id][1:])
            if planted.hits("rerank_demotion", one.id):
                demoted.setdefault(asked[one.id][0], []).append(chunk.id)
        ends = [count for one in questions if (count := _answer_end(world, one.id)) is not None]
        limit = max(16, int(np.quantile(ends, 0.7)))
        effort = 1 if "index_approximation" in planted.active else None
        return replace(
            world, held=held, questions=asked, demoted=demoted, effort=effort, limit=limit
        )

    def natural(self, told: Told, question_id: str) -> str:
        """Why a system without faults lost an item."""
        chunk = told.world.chunk(question_id)
        rank = 0 if chunk is None else told.world.rank(question_id, chunk)
        return "cut_off" if rank <= DEPTH else "representation"

    def truth(self, planted: Planted, told: Told, question_id: str) -> str | None:
        """The first planted fault that loses an item; None where none does.

        All items are found where nothing is planted. A search fault (representation, index) loses
        what then is no candidate; one of the reranker what is a candidate.
        """
        world, chunk = told.world, told.world.chunk(question_id)
        cut_up = "cut_by_chunker" if planted.hits("cut_by_chunker", question_id) else None
        if planted.hits("not_in_corpus", question_id):
            return "not_in_corpus"
        if chunk is None:
            return cut_up
        if world.held.get(chunk.id) != chunk.text:
            return "not_indexed"
        if chunk.id in told.candidates[question_id]:
            return _by_reranker(world, planted, question_id) or cut_up
        if world.rank(question_id, chunk) <= DEPTH:
            return "index_approximation" if world.effort else None
        return "representation" if planted.hits("representation", question_id) else cut_up


def _by_reranker(world: World, planted: Planted, question_id: str) -> str | None:
    if "truncated" in planted.active and _beyond(world, question_id, world.limit):
        return "truncated"
    return "rerank_demotion" if planted.hits("rerank_demotion", question_id) else None


def _remove(texts: dict[str, str], borders: dict[str, list[int]], doc_id: str, quote: str) -> None:
    at = texts[doc_id].find(quote)
    if at < 0:
        return
    texts[doc_id] = texts[doc_id][:at] + texts[doc_id][at + len(quote) :]
    kept = borders.get(doc_id, [])
    borders[doc_id] = [b if b <= at else max(at, b - len(quote)) for b in kept]


def _cut(
    texts: Mapping[str, str], borders: dict[str, list[int]], doc_id: str, quote: str, *, parts: int
) -> None:
    at = texts[doc_id].find(quote)
    if at < 0:
        return
    new = [at + len(quote) * n // parts for n in range(1, parts)]
    borders[doc_id] = sorted({*borders.get(doc_id, ()), *new})


def _abbreviated(question: str, passage: str) -> str:
    """The words that question and passage share, as letters that mean nothing elsewhere."""
    shared = set(words(passage))
    return " ".join(
        f"{word[0].upper()}{len(word)}X{ord(word[-1]) % 97}Q" if word in shared else word
        for word in words(question)
    )


def _answer_end(world: World, question_id: str) -> int | None:
    """Tokens of the chunk up to the end of the answer."""
    place, chunk = world.place(question_id), world.chunk(question_id)
    if place is None or chunk is None:
        return None
    return count_tokens(chunk.text[: place[1] - chunk.start])


def _beyond(world: World, question_id: str, limit: int) -> bool:
    return (_answer_end(world, question_id) or 0) > limit


def run(system: System, questions: Sequence[Question], planted: Planted, folder: Path) -> Told:
    """Evaluate and diagnose by the commands that a user runs."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = _environment(system, folder)
    world = system.world(questions, planted)
    _write(system, world, planted, folder)
    command = [sys.executable, "-m", "ragnostic"]
    config = str(folder / "c.toml")
    evaluated = _json([*command, "eval", config, "--json"], environment)
    run_folder = Path(evaluated["run"])
    index = str(folder / "index.jsonl")
    means = ["--config", config, "--index", index, "--k", str(K)]
    told = _json([*command, "diagnose", str(run_folder), *means, "--json"], environment)
    rows = read_run(run_folder).rows(("query_id", "retrieve"))
    return Told(
        world,
        told["value"],
        {miss["query_id"]: miss["cause"] for miss in told["misses"]},
        {one["cause"]: (one["gain"], one["low"], one["high"]) for one in told["causes"]},
        {row["query_id"]: frozenset(row["retrieve"]["ids"]) for row in rows},
    )


def _environment(system: System, folder: Path) -> dict[str, str]:
    """PLANTS and the plugins, for this process and those it starts."""
    info = folder / "planted-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    counts = Counter(word for text in system.documents.values() for word in set(words(text)))
    base = {"counts": counts, "texts": len(system.documents)}
    (folder / "plants.json").write_text(json.dumps(base), encoding="utf-8")
    os.environ["PLANTS"] = str(folder / "plants.json")
    paths = (str(folder), str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _write(system: System, world: World, planted: Planted, folder: Path) -> None:
    def lines(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")

    lines("corpus.jsonl", ({"_id": d, "text": t} for d, t in world.texts.items()))
    lines("index.jsonl", ({"chunk_id": c, "text": t} for c, t in world.held.items()))
    asked = world.questions.items()
    lines(
        "eval.jsonl",
        (
            {"query_id": name, "query": text, "gold": [{"doc_id": doc_id, "quote": quote}]}
            for name, (text, doc_id, quote) in asked
        ),
    )
    said = json.loads((folder / "plants.json").read_text(encoding="utf-8"))
    said |= {"borders": world.borders, "demoted": world.demoted, "kind": system.kind}
    said["trained"] = [
        chunk.text
        for doc_id, text in system.documents.items()
        for chunk in cut(Document(doc_id, text), system.borders.get(doc_id, ()))
    ]
    said |= {"effort": world.effort, "index": str(folder / "index.jsonl")}
    (folder / "plants.json").write_text(json.dumps(said), encoding="utf-8")
    limit = world.limit if "truncated" in planted.active else 100_000
    (folder / "c.toml").write_text(CONFIG.format(depth=DEPTH, k=K, limit=limit))


def _json(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
