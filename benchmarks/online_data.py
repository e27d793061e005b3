"""Made-up traffic of a question-answering service, seeded: a corpus, and logged queries over it.

Words have two or three Chinese characters and come with the frequencies of a language (Zipf).
Of the answers, of about 200 characters, 40 % hold a sentence of the corpus word for word, 20 %
one with one or two characters changed, and 40 % are reworded. Each answer is given twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from ragnostic.ports import Event

RESULTS = 20
DAYS = 7
_START = datetime(2026, 3, 1, tzinfo=UTC)
_WORDS = 30_000
_SENTENCES = 9
_IN_ANSWER = 5
_VERBATIM, _EDITED = 0.4, 0.6


@dataclass(frozen=True)
class Corpus:
    """Chunks, and the sentences that they are made of: ``sentences[i]`` of chunk i."""

    ids: list[str]
    sentences: list[list[str]]

    def table(self) -> pa.Table:
        """``id`` and ``text``."""
        texts = ["".join(parts) for parts in self.sentences]
        return pa.table({"chunk_id": self.ids, "text": texts})


class Writer:
    """Writes sentences by chance."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        marks = np.random.default_rng(7).integers(0x4E00, 0x9000, size=(_WORDS, 3))
        self.words = np.array(
            ["".join(map(chr, row[: 2 + index % 2])) for index, row in enumerate(marks.tolist())]
        )
        chance = 1 / (np.arange(_WORDS) + 10.0)
        self._sum = np.cumsum(chance / chance.sum())

    def sentences(self, count: int) -> list[str]:
        """Sentences of 22 to 37 characters; every tenth names a number of days."""
        sizes = self.draw.integers(9, 15, size=count)
        places = np.searchsorted(self._sum, self.draw.random(int(sizes.sum())))
        words = self.words[np.minimum(places, _WORDS - 1)].tolist()
        days = self.draw.integers(2, 400, size=count).tolist()
        found, at = [], 0
        for index, size in enumerate(sizes.tolist()):
            number = f"{days[index]}天" if index % 10 == 0 else ""
            found.append(f"{''.join(words[at : at + size])}{number}。")
            at += size
        return found


def make_corpus(chunks: int) -> Corpus:
    """A corpus of about 270 characters a chunk."""
    lines = Writer(1).sentences(chunks * _SENTENCES)
    parts = [lines[at : at + _SENTENCES] for at in range(0, len(lines), _SENTENCES)]
    return Corpus([f"c{index:07d}" for index in range(chunks)], parts)


def make_events(corpus: Corpus, queries: int, block: int = 20_000) -> Iterator[list[Event]]:
    """The logged queries as events of the queue, block by block."""
    writer = Writer(2)
    for start in range(0, queries, block):
        yield _block(corpus, writer, start, min(block, queries - start), queries)


def _block(corpus: Corpus, writer: Writer, start: int, size: int, queries: int) -> list[Event]:
    draw = writer.draw
    half = (size + 1) // 2
    sources = draw.integers(len(corpus.ids), size=half)
    answers = _answers(corpus, writer, sources)
    asked = writer.sentences(size)
    others = draw.integers(len(corpus.ids), size=(size, RESULTS))
    ranks = draw.integers(0, RESULTS * 5 // 4, size=size)  # one in five is not found
    events = []
    for index in range(size):
        found = [corpus.ids[other] for other in others[index].tolist()]
        if ranks[index] < RESULTS:
            found[ranks[index]] = corpus.ids[sources[index // 2]]
        moment = _START + timedelta(days=DAYS) * ((start + index) / queries)
        number = start + index
        row = {
            "record_id": f"r{number:08d}",
            "query_id": f"q{number % 50_000:05d}",
            "ts": moment.isoformat(),
            "service": f"s{number % 3}",
            "language": "zh",
            "query": asked[index][:12],
            "answer": answers[index // 2],
            "stages": {
                "retrieve": {
                    "ids": found,
                    "top_k": RESULTS,
                    "took_ms": 20.0 + number % 97,
                    "status": "ok",
                }
            },
        }
        events.append(Event(row["record_id"], json.dumps(row, ensure_ascii=False).encode()))
    return events


def _answers(corpus: Corpus, writer: Writer, sources: np.ndarray) -> list[str]:
    draw = writer.draw
    kinds = draw.random(len(sources))
    picks = draw.integers(_SENTENCES, size=len(sources))
    filler = writer.sentences(len(sources) * _IN_ANSWER)
    answers = []
    for index, source in enumerate(sources.tolist()):
        own = filler[index * _IN_ANSWER : (index + 1) * _IN_ANSWER]
        quoted = corpus.sentences[source][picks[index]]
        if kinds[index] >= _EDITED:
            quoted = "".join(draw.permutation(list(quoted[:-1]))) + "。"
        elif kinds[index] >= _VERBATIM:
            quoted = _edited(quoted, draw)
        answers.append("".join([own[0], own[1], quoted, *own[2:]]))
    return answers


def _edited(sentence: str, draw: np.random.Generator) -> str:
    """One or two characters of it changed, none of them a digit."""
    marks = list(sentence)
    for place in draw.integers(0, 18, size=int(draw.integers(1, 3))).tolist():
        marks[place] = chr(int(draw.integers(0x4E00, 0x9000)))
    return "".join(marks)
