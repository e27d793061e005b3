"""Exact search: ranks as sorting all scores gives them."""

from __future__ import annotations

import numpy as np
import pytest

from ragnostic.adapters.bm25 import Bm25Retriever
from ragnostic.diagnose.exact import BestOf, DenseSearch, LexicalSearch, Rank, Searched
from ragnostic.ports import no_progress
from ragnostic.records import Chunk

WORDS = ["vpn", "leave", "salary", "desk", "年假", "报销", "car", "lunch"]


class HashEmbedder:
    """Unit vectors from the words of a text: the same text, the same vector."""

    name = "words"

    def embed(self, texts, role, progress=no_progress):
        """One axis a word, and a little of the text's length."""
        rows = []
        for text in texts:
            row = np.array([text.count(word) for word in WORDS] + [len(text) / 1000])
            rows.append(row / np.linalg.norm(row))
        return np.array(rows, dtype=np.float32)

    def count_tokens(self, text):
        """Words."""
        return len(text.split())


def chunk(number, text):
    """A chunk."""
    return Chunk(f"c{number}", "d", 0, len(text), 1, text)


def corpus(size=60):
    """Texts of a few words, none equal."""
    rng = np.random.default_rng(3)
    return tuple(chunk(n, " ".join([*rng.choice(WORDS, 4), f"number{n}"])) for n in range(size))


def test_ranks_are_those_of_the_retriever():
    """BM25: the place in its whole ranking, behind chunks of equal score; 0 without a word."""
    chunks = corpus()
    retriever = Bm25Retriever(Bm25Retriever.Options(), chunks)
    search = LexicalSearch(Searched(chunks))
    queries = ["vpn leave", "年假 报销 desk", "nothing"]
    for query in queries:
        hits = retriever.retrieve(query, 60)["retrieve"]
        ranks = search.ranks([query] * 60, [[n] for n in range(60)], no_progress)
        scores = dict(zip(hits.ids, hits.scores, strict=True))
        for one, rank in zip(chunks, ranks, strict=True):
            score = scores.get(one.id)
            expected = 0 if score is None else sum(s >= score for s in scores.values())
            assert rank.rank == expected


def test_the_best_of_several_chunks_counts():
    """An item may be found as any of its chunks; without one there is no rank."""
    search = DenseSearch(Searched(corpus()), HashEmbedder())
    single = search.ranks(["vpn"] * 3, [[4], [9], [31]], no_progress)
    together, nothing = search.ranks(["vpn", "vpn"], [[4, 9, 31], []], no_progress)
    assert together.rank == min(one.rank for one in single)
    assert nothing is None


def test_a_passage_beside_the_corpus_is_no_competition():
    """It is ranked among the chunks, and takes no chunk's place."""
    chunks = corpus()
    passage = chunk("new", "vpn vpn vpn")
    for make in (LexicalSearch, lambda s: DenseSearch(s, HashEmbedder())):
        alone = make(Searched(chunks)).ranks(["vpn"], [[5]], no_progress)
        beside = make(Searched(chunks, (passage,)))
        assert beside.ranks(["vpn"], [[60]], no_progress)[0].rank == 1
        if make is not LexicalSearch:  # BM25 weighs words by how many texts hold them
            assert beside.ranks(["vpn"], [[5]], no_progress)[0].rank == alone[0].rank


def test_of_two_searches_the_better_counts():
    """As in a hybrid retriever."""
    chunks = corpus()
    parts = [LexicalSearch(Searched(chunks)), DenseSearch(Searched(chunks), HashEmbedder())]
    wanted = [[n] for n in range(60)]
    both = BestOf(*parts).ranks(["lunch car"] * 60, wanted, no_progress)
    single = [part.ranks(["lunch car"] * 60, wanted, no_progress) for part in parts]
    for found, *ranks in zip(both, *single, strict=True):
        assert found.rank == min((one.rank for one in ranks if one.rank), default=0)


@pytest.mark.parametrize("wanted", [[], [[]]])
def test_nothing_wanted_is_nothing_found(wanted):
    """No query, or one without a target."""
    search = BestOf(LexicalSearch(Searched(corpus(3))))
    assert search.ranks(["x"] * len(wanted), wanted, no_progress) == [None] * len(wanted)
    assert Rank(1, 0.5) == Rank(1, 0.5)
