"""What causes of misses are called, what to try about them, and the hints beside them."""

from __future__ import annotations

from gettext import NullTranslations

from ragnostic.report.catalogue import N_
from ragnostic.report.visible import visible

TITLES = {
    "not_in_corpus": N_("not in the corpus"),
    "not_indexed": N_("not indexed, or an old text"),
    "cut_by_chunker": N_("cut by the chunker"),
    "representation": N_("the search does not see it"),
    "rewriting": N_("lost by rewriting"),
    "index_approximation": N_("skipped by the index"),
    "fusion": N_("lost in fusion"),
    "truncated": N_("beyond what the reranker reads"),
    "rerank_demotion": N_("pushed down by the reranker"),
    "cut_off": N_("just beyond the cut-off"),
    "dropped_before_generator": N_("not given to the generator"),
    "unexplained": N_("unexplained"),
}
"""What each cause is called, in pipeline order."""
ADVICE = {
    "not_in_corpus": N_("index the documents that are missing, or label the set again"),
    "not_indexed": N_("build the index anew; `ragnostic index check` says what of it is stale"),
    "cut_by_chunker": N_("larger chunks, an overlap or another chunker: [chunk]"),
    "representation": N_(
        "a hybrid or dense search, another embedder, or more candidates: [retrieve]"
    ),
    "rewriting": N_("send the user's own words, too"),
    "index_approximation": N_("a larger ef or nprobe; `ragnostic index check` shows what it costs"),
    "fusion": N_("more candidates of each search, or other weights"),
    "truncated": N_('rerank.long = "max_over_segments", or smaller chunks'),
    "rerank_demotion": N_("another reranker; compare with rerank.use = none"),
    "cut_off": N_("give the generator more chunks"),
    "dropped_before_generator": N_("a larger budget of context"),
}
"""What to try, by cause."""
HINTS = {
    "abbreviation_number_symbol": N_("abbreviation, number or symbol"),
    "language": N_("another language"),
    "long_query": N_("long query"),
    "long_passage": N_("long passage"),
    "no_shared_word": N_("no shared word"),
}


RANKS = {
    "exact": N_("exact rank"),
    "uncut": N_("rank if uncut"),
    "candidate": N_("candidate"),
    "final": N_("last stage"),
}


def cause_title(cause: str, words: NullTranslations) -> str:
    """A cause in words.

    >>> cause_title("fusion", NullTranslations())
    'lost in fusion'
    """
    return words.gettext(TITLES[cause]) if cause in TITLES else visible(cause)


def advice(cause: str, words: NullTranslations) -> str:
    """What to try about a cause; empty where nothing is known."""
    return words.gettext(ADVICE[cause]) if cause in ADVICE else ""


def rank_label(name: str, words: NullTranslations) -> str:
    """Which rank it is."""
    return words.gettext(RANKS[name]) if name in RANKS else visible(name)


def hint_label(hint: str, words: NullTranslations) -> str:
    """A hint in words."""
    return words.gettext(HINTS[hint]) if hint in HINTS else visible(hint.replace("_", " "))
