"""Questions with one gold span each, from the real sets, for benchmarks/diagnosis.py."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragnostic.text import sentence_spans

Set = tuple[dict[str, str], list["Question"]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the place that answers it."""

    id: str
    text: str
    doc_id: str
    start: int
    end: int


def _rows(path: Path) -> list[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def _unique(documents: Mapping[str, str], question: Question) -> bool:
    """Whether the quote stands in one document once: then removing it removes the answer."""
    text = documents[question.doc_id]
    return text.count(text[question.start : question.end]) == 1


def read_rgb(folder: Path) -> Set:
    """Each relevant passage that has the answer's words: the sentence that holds them."""
    documents = {row["_id"]: row["text"] for row in _rows(folder / "corpus.jsonl.gz")}
    queries = {row["_id"]: row for row in _rows(folder / "queries.jsonl")}
    found = []
    for line in (folder / "qrels" / "test.tsv").read_text("utf-8").split("\n")[1:]:
        if not line:
            continue
        query_id, doc_id, _ = line.split("\t")
        text = documents[doc_id]
        answers = [w for part in queries[query_id]["metadata"]["answer"] for w in _wordings(part)]
        at = next((text.find(answer) for answer in answers if answer in text), None)
        if at is None:
            continue
        start, end = next(span for span in sentence_spans(text) if span[0] <= at < span[1])
        name = f"{query_id}.{doc_id}"
        found.append(Question(name, queries[query_id]["text"], doc_id, start, end))
    return documents, [one for one in found if _unique(documents, one)]


def _wordings(part: Any) -> list[str]:
    return list(part) if isinstance(part, list) else [part]


def read_handbook(folder: Path) -> Set:
    """Each quote that stands in its page word for word."""
    root = folder / "corpus_md"
    documents = {
        path.relative_to(root).as_posix(): path.read_bytes().decode("utf-8")
        for path in sorted(root.rglob("*.md"))
    }
    texts = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    found = [
        Question(
            f"{row['query_id']}.{n}",
            texts[row["query_id"]],
            row["doc_id"],
            row["start"],
            row["end"],
        )
        for n, row in enumerate(_rows(folder / "spans.jsonl"))
    ]
    return documents, [one for one in found if _unique(documents, one)]


READERS: dict[str, Callable[[Path], Set]] = {
    "rgb-zh": read_rgb,
    "gitlab-handbook": read_handbook,
}
