"""Made-up traffic for the answer_span judge: chunks, and answers that hold pieces of them.

Words come from the demo corpus, drawn by their frequency, so that sentences mean nothing but look
like text to an index. Of the answers 40 % hold a sentence of a chunk as it is, 20 % one with 1 or
2 edits, 40 % only its words in another order.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from importlib.resources import files

import pyarrow as pa

UNITS = {
    "zh": ["天", "个月", "元", "%", "小时", "公里"],
    "en": [" days", " months", " dollars", "%"],
}
VERBATIM, EDITED = 0.4, 0.2


class Writer:
    """Sentences of one language."""

    def __init__(self, language: str, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - made-up data
        self.language = language
        self.gap = "" if language == "zh" else " "
        self.words, self.weights = vocabulary(language)
        self.drawn: list[str] = []

    def sentence(self) -> str:
        """A sentence of about 40 characters in Chinese and 80 in English."""
        count = (
            self.random.randrange(12, 24) if self.language == "zh" else self.random.randrange(9, 18)
        )
        words = self.take(count)
        if self.random.random() < 0.4:
            number = self.random.choice((str(self.random.randrange(2, 3000)), "1,000", "十五"))
            number = number if self.language == "zh" else str(self.random.randrange(2, 3000))
            words[count // 2] = number + self.random.choice(UNITS[self.language])
        words[count // 3] += "，" if self.language == "zh" else ","
        return self.gap.join(words) + ("。" if self.language == "zh" else ".")

    def take(self, count: int) -> list[str]:
        """Words drawn by their frequency."""
        if len(self.drawn) < count:
            self.drawn = self.random.choices(self.words, self.weights, k=1 << 16)
        taken, self.drawn = self.drawn[:count], self.drawn[count:]
        return taken

    def text(self, sentences: list[str]) -> str:
        """Sentences joined."""
        return self.gap.join(sentences)

    def changed(self, sentence: str) -> str:
        """A sentence with one or two letters replaced, away from numbers."""
        letters = list(sentence)
        places = [place for place, letter in enumerate(letters) if letter.isalpha() and place > 2]
        for place in self.random.sample(places, self.random.randrange(1, 3)):
            letters[place] = self.random.choice("的这那其" if self.language == "zh" else "aeio")
        return "".join(letters)

    def reworded(self, sentence: str) -> str:
        """The words of a sentence in another order."""
        found = re.findall(r"[\w,%]{1,3}" if self.language == "zh" else r"\S+", sentence)
        self.random.shuffle(found)
        return self.gap.join(found)


def vocabulary(language: str) -> tuple[list[str], list[float]]:
    """Words of the demo corpus and how often they come."""
    import rjieba  # noqa: PLC0415 - as the product does

    folder = files("ragnostic.evalset") / "demo/corpus" / language
    texts = [
        path.read_text(encoding="utf-8") for part in folder.iterdir() for path in part.iterdir()
    ]
    text = "\n".join(texts)
    found = rjieba.cut(text) if language == "zh" else text.split()
    counts = Counter(word for word in found if word.isalpha())
    return list(counts), [float(count) for count in counts.values()]


def make(chunks: int, answers: int, queries: int, seed: int = 7) -> tuple[pa.Table, pa.Table]:
    """A corpus (id, text) of about 300 characters a chunk, and records (record_id, query, answer);
    7 of 10 in Chinese. Each answer is given about queries / answers times.
    """
    writers = [Writer("zh", seed), Writer("en", seed)]
    draw = random.Random(seed)  # noqa: S311 - made-up data
    made: list[list[str]] = []
    for number in range(chunks):
        writer = writers[number % 10 >= 7]
        made.append([writer.sentence() for _ in range(7 if writer.language == "zh" else 4)])
    texts = [writers[n % 10 >= 7].text(sentences) for n, sentences in enumerate(made)]
    corpus = pa.table({"id": [f"c{number}" for number in range(chunks)], "text": texts})
    said: list[str] = []
    asked: list[str] = []
    for _ in range(answers):
        number = draw.randrange(chunks)
        writer = writers[number % 10 >= 7]
        sentence = draw.choice(made[number])
        kind = draw.random()
        if kind >= VERBATIM + EDITED:
            sentence = writer.reworded(sentence)
        elif kind >= VERBATIM:
            sentence = writer.changed(sentence)
        filler = [writer.sentence() for _ in range(4 if writer.language == "zh" else 2)]
        filler.insert(draw.randrange(len(filler)), sentence)
        said.append(writer.text(filler))
        asked.append(writer.gap.join(writer.take(6)) + "？")
    rows = [number % answers for number in range(queries)]
    draw.shuffle(rows)
    records = pa.table(
        {
            "record_id": [f"r{number}" for number in range(queries)],
            "query": [asked[row] for row in rows],
            "answer": pa.array(said).take(pa.array(rows)),
        }
    )
    return corpus, records
