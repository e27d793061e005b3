"""Names and one-sentence readings of metrics, places, faults, columns and headings."""

from __future__ import annotations

from gettext import NullTranslations

from ragnostic.report.catalogue import N_
from ragnostic.report.outcomes import Place
from ragnostic.report.scorebook import MetricName

_MEANS = {"RR": "MRR", "AP": "MAP"}

_METRICS = {
    "Success": (
        N_("Hit rate"),
        N_("Share of queries with at least one relevant passage in the top %(k)s."),
    ),
    "RR": (
        N_("Mean reciprocal rank"),
        N_(
            "1 divided by the rank of the first relevant passage, 0 below the cutoff; 0.5 = rank 2."
        ),
    ),
    "R": (N_("Recall"), N_("Share of all relevant passages that are in the top %(k)s.")),
    "P": (N_("Precision"), N_("Share of the top %(k)s that is relevant.")),
    "F1": (N_("F1"), N_("Harmonic mean of precision and recall in the top %(k)s.")),
    "AP": (
        N_("Mean average precision"),
        N_("Precision at the rank of each relevant passage, averaged over all relevant ones."),
    ),
    "nDCG": (
        N_("Ranking quality"),
        N_("Grades weighted by rank, against the best possible order; 1 = could not be better."),
    ),
    "Rprec": (
        N_("R-precision"),
        N_("Precision at the rank that equals the number of relevant passages."),
    ),
    "bpref": (
        N_("Binary preference"),
        N_("How seldom passages judged irrelevant stand above relevant ones; unjudged left out."),
    ),
    "Judged": (N_("Judged share"), N_("Share of the top %(k)s that has a judgment.")),
    "coverage": (N_("Facet coverage"), N_("Share of the facets that are found in the top %(k)s.")),
    "TokenPrecision": (
        N_("Token precision"),
        N_("Share of the retrieved tokens that lie inside gold."),
    ),
    "FalseRetrieval": (
        N_("False retrieval"),
        N_("Share of the unanswerable queries with a result in the top %(k)s; lower is better."),
    ),
    "AUROC": (
        N_("Answerable against unanswerable"),
        N_("Chance that an answerable query has the higher best score; 0.5 tells nothing."),
    ),
}
_VARIANTS = {
    ("FalseRetrieval", "t="): (
        N_("False retrieval at a threshold"),
        N_("Share of the unanswerable queries with a result of the top %(k)s that reaches it."),
    ),
    ("R", "budget="): (
        N_("Recall at a token budget"),
        N_("Share of the relevant passages that fit in before the token budget is used up."),
    ),
    ("RR", "weight=soft"): (
        N_("Weighted reciprocal rank"),
        N_("Reciprocal rank in which a partly relevant passage counts in part."),
    ),
}

_PLACES: dict[Place, tuple[str, str]] = {
    "found": (N_("found"), N_("within the top %(k)s")),
    "pushed_down": (
        N_("pushed down by the reranker"),
        N_("in the top %(k)s before reranking; check the reranker and its input length"),
    ),
    "below_cutoff": (
        N_("below the cutoff"),
        N_("retrieved below rank %(k)s; a better reranker or a larger cutoff would find it"),
    ),
    "not_retrieved": (
        N_("not retrieved"),
        N_("not among the candidates; check chunking, the embedder, query wording and top_k"),
    ),
    "not_in_corpus": (
        N_("not in the corpus"),
        N_("no chunk of the corpus matches this gold; check the evaluation set and the index"),
    ),
}

_FAULTS = {
    "candidate_without_text": N_("Candidates without a text"),
    "dangling_gold": N_("Gold that is not in the corpus"),
    "dimension_mismatch": N_("Vectors of different sizes"),
    "duplicate_chunk_id": N_("Chunk ids given twice"),
    "duplicate_gold": N_("Gold given twice"),
    "duplicate_retrieved": N_("Chunks retrieved twice"),
    "empty_document": N_("Empty documents"),
    "empty_retrieved_id": N_("Empty ids among the results"),
    "encoding": N_("Files in another encoding"),
    "junk_after_tag": N_("Junk at the end of run lines"),
    "large_grade": N_("Grades above 3"),
    "line_too_long": N_("Lines that are too long"),
    "missing_query": N_("Judged queries without results"),
    "more_results_than_top_k": N_("More results than asked for"),
    "near_match": N_("Ids that match only nearly"),
    "negative_duration": N_("Ends before it starts"),
    "negative_grade": N_("Grades below 0"),
    "no_end": N_("Without an end"),
    "no_overlap": N_("No gold among any results"),
    "no_results": N_("Stages without any result"),
    "no_shared_query": N_("No query in common"),
    "no_start": N_("Without a start"),
    "null_gold_id": N_("Gold without an id"),
    "null_retrieved_id": N_("Results without an id"),
    "number_ids": N_("Ids given as numbers"),
    "ordinal_ids": N_("Ids that look like ordinals"),
    "other": N_("Other remarks"),
    "over_budget": N_("First chunk exceeds the budget"),
    "quarantined": N_("Rows left out"),
    "quote_not_found": N_("Quotes not found in their document"),
    "quote_repeated": N_("Quotes found several times"),
    "rank_disagrees_with_score": N_("Ranks that disagree with the scores"),
    "rerank_cannot_change_order": N_("A reranker that cannot change the order"),
    "rerank_left_out": N_("Candidates that the reranker left out"),
    "skipped_files": N_("Files skipped"),
    "span_moved": N_("Quotes that have moved"),
    "span_not_covered": N_("Gold spans that no chunk covers"),
    "span_outside": N_("Gold spans that end after their document"),
    "span_without_words": N_("Gold spans without words"),
    "stages_differ": N_("Stages differ between answers"),
    "unanswerable_with_gold": N_("Unanswerable queries with gold"),
    "unjudged_query": N_("Queries without a judgment"),
    "unknown_key": N_("Unknown keys"),
    "vector_cache": N_("Vector cache"),
    "verdict_cache": N_("Cache of grades"),
    "zero_vector": N_("Vectors without a direction"),
}

_HEADINGS = {
    "category": N_("Category"),
    "language": N_("Language"),
    "source": N_("Source"),
    "length": N_("Query length"),
    "traffic": N_("Query frequency"),
    "set": N_("Evaluation set"),
    "data": N_("Data and fingerprints"),
    "durations": N_("Durations"),
    "git": N_("Git"),
    "judge": N_("Judge"),
    "rerank": N_("Reranker input"),
    "versions": N_("Versions"),
    "head": N_("frequent"),
    "tail": N_("rare"),
    "human": N_("written by people"),
    "synthetic": N_("synthetic"),
    "log": N_("from logs"),
    "zh": N_("Chinese"),
    "en": N_("English"),
}


def canonical(metric: str) -> str:
    """The full name as its mean is shown: RR as MRR, AP as MAP (METRICS 1.1).

    >>> canonical("RR@5"), canonical("nDCG(gain=exp)@10")
    ('MRR@5', 'nDCG(gain=exp)@10')
    """
    name = MetricName.of(metric)
    return _MEANS.get(name.family, name.family) + metric[len(name.family) :]


def _entry(metric: str) -> tuple[str, str] | None:
    name = MetricName.of(metric)
    for (family, parameter), entry in _VARIANTS.items():
        if name.family == family and parameter in name.parameters:
            return entry
    return _METRICS.get(name.family)


def metric_label(metric: str, words: NullTranslations) -> str:
    """The metric's name in the language of the page; its own name where it has no other.

    >>> metric_label("RR@5", NullTranslations())
    'Mean reciprocal rank'
    """
    entry = _entry(metric)
    return words.gettext(entry[0]) if entry else metric


def metric_reading(metric: str, words: NullTranslations) -> str:
    """How to read a metric, in one sentence; empty for one that is not known here."""
    entry = _entry(metric)
    cutoff = MetricName.of(metric).cutoff
    if entry is None:
        return ""
    whole = words.gettext("whole list")
    return words.gettext(entry[1]) % {"k": whole if cutoff is None else cutoff}


def place_label(place: Place, words: NullTranslations) -> str:
    """A fate of gold in words."""
    return words.gettext(_PLACES[place][0])


def place_advice(place: Place, cutoff: int, words: NullTranslations) -> str:
    """What a fate means and where to look."""
    return words.gettext(_PLACES[place][1]) % {"k": cutoff}


def fault_label(kind: str, words: NullTranslations) -> str:
    """A kind of fault in words; the bare kind where there are none."""
    return words.gettext(_FAULTS[kind]) if kind in _FAULTS else kind.replace("_", " ")


def heading(name: str, words: NullTranslations) -> str:
    """A column, a language or a heading of the small print in words."""
    if name.startswith("settings."):
        return words.gettext("Settings: %(section)s") % {"section": name.removeprefix("settings.")}
    return words.gettext(_HEADINGS[name]) if name in _HEADINGS else name
