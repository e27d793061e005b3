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
FILLER = "foreword"
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

    @cached_property
    def of_document(self) -> dict[str, list[Chunk]]:
        """The chunks of each document."""
        found: dict[str, list[Chunk]] = {}
        for chunk in self.chunks:
            found.setdefault(chunk.doc_id, []).append(chunk)
        return found

    def matching(self, question_id: str) -> list[Chunk]:
        """The chunks that hold half of the answer or more."""
        place, doc_id = self.place(question_id), self.questions[question_id][1]
        start, end = place or (0, 0)
        return [
            chunk
            for chunk in self.of_document.get(doc_id, ())
            if place and 2 * (min(end, chunk.end) - max(start, chunk.start)) >= end - start
        ]

    def rank(self, question_id: str) -> int:
        """Of the best chunk, by brute force over what the index holds; past all for none."""
        rows = [
            self.positions[chunk.id]
            for chunk in self.matching(question_id)
            if self.held.get(chunk.id) == chunk.text
        ]
        query = HashingEmbedder().embed([self.questions[question_id][0]], "query")[0]
        scores = self.vectors @ query
        best = max((scores[row] for row in rows), default=np.inf)
        return int((scores >= best - 1e-6).sum()) if rows else len(scores) + 1


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
    limit: int
    """Tokens that the reranker reads where it has a limit: no chunk without filler has more."""

    @classmethod
    def of(
        cls, documents: Mapping[str, str], questions: Sequence[Question], *, cut_up: bool
    ) -> tuple[System, list[Question]]:
        """The system, and the questions with their answers where they are in it.

        ``cut_up``: sections of pages, none of which cuts an answer; else whole passages. Before a
        share of the answers stands filler, by which they lie beyond the limit.
        """
        borders = _sections(documents, questions) if cut_up else {}
        plain = cls(documents, borders, 0).world(questions, Planted())
        limit = max(count_tokens(chunk.text) for chunk in plain.chunks)
        draw = np.random.default_rng(20_261_202)
        texts, moved = dict(documents), {one.id: one for one in questions}
        where = {one.id: chunks[0] for one in questions if (chunks := plain.matching(one.id))}
        alone = Counter(chunk.id for chunk in where.values())
        chosen = [
            chunk for name, chunk in where.items() if alone[chunk.id] == 1 and draw.random() < SHARE
        ]
        for chunk in sorted(chosen, key=lambda one: (one.doc_id, -one.start)):
            _fill(texts, borders, moved, chunk, limit)
        return cls(texts, borders, limit), list(moved.values())

    def plant(self, questions: Sequence[Question]) -> Planted:
        """Each fault for a share of the questions, drawn without regard to the others."""
        world = self.world(questions, Planted())
        chunks = {one.id: world.matching(one.id)[0].id for one in questions}
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
        world = World(texts, asked, borders, chunks, {c.id: c.text for c in chunks}, {}, None)
        return _with_searches(world, questions, planted)

    def natural(self, told: Told, question_id: str) -> str:
        """Why a system without faults lost an item."""
        return "cut_off" if told.world.rank(question_id) <= DEPTH else "representation"

    def truth(self, planted: Planted, told: Told, question_id: str) -> str | None:
        """The first planted fault that loses an item; None where none does.

        All items are found where nothing is planted. A search fault (representation, index) loses
        what then is no candidate; one of the reranker what is a candidate.
        """
        world, chunks = told.world, told.world.matching(question_id)
        cut_up = "cut_by_chunker" if planted.hits("cut_by_chunker", question_id) else None
        if planted.hits("not_in_corpus", question_id):
            return "not_in_corpus"
        if not chunks:
            return cut_up
        if all(world.held.get(chunk.id) != chunk.text for chunk in chunks):
            return "not_indexed"
        if any(chunk.id in told.candidates[question_id] for chunk in chunks):
            return self._by_reranker(world, planted, question_id) or cut_up
        if world.rank(question_id) <= DEPTH:
            return "index_approximation" if world.effort else None
        return "representation" if planted.hits("representation", question_id) else cut_up

    def _by_reranker(self, world: World, planted: Planted, question_id: str) -> str | None:
        if "truncated" in planted.active and (_answer_end(world, question_id) or 0) > self.limit:
            return "truncated"
        return "rerank_demotion" if planted.hits("rerank_demotion", question_id) else None


def _sections(documents: Mapping[str, str], questions: Sequence[Question]) -> dict[str, list[int]]:
    """Borders of sections, without those inside of an answer."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for one in questions:
        spans.setdefault(one.doc_id, []).append((one.start, one.end))
    chunker = MarkdownChunker(CHUNK_TOKENS, 0)
    return {
        doc_id: [
            chunk.start
            for chunk in chunker.chunk(Document(doc_id, text))[1:]
            if not any(s < chunk.start < e for s, e in spans.get(doc_id, ()))
        ]
        for doc_id, text in documents.items()
    }


def _fill(
    texts: dict[str, str],
    borders: Mapping[str, list[int]],
    questions: dict[str, Question],
    chunk: Chunk,
    limit: int,
) -> None:
    """Filler at the beginning of a chunk; what stands behind it moves."""
    filler = f"{FILLER} " * limit
    text = texts[chunk.doc_id]
    texts[chunk.doc_id] = text[: chunk.start] + filler + text[chunk.start :]
    for place, border in enumerate(borders.get(chunk.doc_id, ())):
        borders[chunk.doc_id][place] = border + len(filler) * (border > chunk.start)
    for name, one in questions.items():
        if one.doc_id == chunk.doc_id and one.start >= chunk.start:
            moved = replace(one, start=one.start + len(filler), end=one.end + len(filler))
            questions[name] = moved


def _with_searches(world: World, questions: Sequence[Question], planted: Planted) -> World:
    held, asked = dict(world.held), dict(world.questions)
    demoted: dict[str, list[str]] = {}
    texts = [chunk.text for chunk in world.chunks]
    for number, one in enumerate(questions):
        chunks = world.matching(one.id)
        for place, chunk in enumerate(chunks):
            if planted.hits("not_indexed", one.id):
                held[chunk.id] = texts[(number * 37 + place) % len(texts)]  # stale …
                if number % 2:
                    del held[chunk.id]  # … or gone
            if planted.hits("rerank_demotion", one.id):
                demoted.setdefault(one.id, []).append(chunk.id)
        if chunks and planted.hits("representation", one.id):
            asked[one.id] = (_abbreviated(one.text, chunks[0].text), *asked[one.id][1:])
    by_text: dict[str, list[str]] = {}
    for name, ids in demoted.items():
        by_text.setdefault(asked[name][0], []).extend(ids)
    effort = 1 if "index_approximation" in planted.active else None
    return replace(world, held=held, questions=asked, demoted=by_text, effort=effort)


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
    place, chunks = world.place(question_id), world.matching(question_id)
    if place is None or not chunks:
        return None
    return min(count_tokens(chunk.text[: place[1] - chunk.start]) for chunk in chunks)


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
    counts[FILLER] = len(system.documents)
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
    said |= {"borders": world.borders, "demoted": world.demoted}
    # Small changes of what is indexed change a graph everywhere: with it, one fault at a time.
    said["kind"] = "hnsw" if planted.active == {"index_approximation"} else "ivf"
    said["trained"] = [
        chunk.text
        for doc_id, text in system.documents.items()
        for chunk in cut(Document(doc_id, text), system.borders.get(doc_id, ()))
    ]
    said |= {"effort": world.effort, "index": str(folder / "index.jsonl")}
    (folder / "plants.json").write_text(json.dumps(said), encoding="utf-8")
    limit = system.limit if "truncated" in planted.active else 100_000
    (folder / "c.toml").write_text(CONFIG.format(depth=DEPTH, k=K, limit=limit))


def _json(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
