"""What the findings about a vector index are called, and what to do, in the page's language."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations

from ragnostic.report.catalogue import N_

TITLES: Mapping[str, str] = {
    "foreign_ids": N_("No id of the index is an id of the corpus"),
    "missing": N_("Not in the index"),
    "orphan": N_("In the index, not in the corpus any more"),
    "duplicate_id": N_("The same id more than once"),
    "duplicate_text": N_("The same text under several ids"),
    "several_versions": N_("Documents in several versions"),
    "stale_text": N_("An older text than the corpus has"),
    "stale_vector": N_("The vector is not that of the text"),
    "other_model": N_("The vectors were made by something else"),
    "dimension": N_("Vectors of another dimension than the embedder's"),
    "no_vector": N_("Rows without a vector"),
    "not_finite": N_("Vectors with NaN or infinity"),
    "zero_vector": N_("Vectors of length 0"),
    "not_unit": N_("Vectors whose length is not 1"),
    "direction": N_("The wrong way round"),
    "low_recall": N_("The index misses near neighbours"),
    "unstable_ids": N_("Texts that changed their id since the build before"),
    "reused_ids": N_("Ids that stand for another text than before"),
}
ADVICE: Mapping[str, str] = {
    "foreign_ids": N_(
        "Name what the index was filled with in index.chunks, or compare documents: "
        'index.match = "document".'
    ),
    "missing": N_("Index them again; then find out why the last indexing left them out."),
    "orphan": N_("Delete them: they answer with what is not true any more."),
    "duplicate_id": N_(
        "Delete before adding, or write with upsert; they take places in the top k."
    ),
    "duplicate_text": N_(
        "Leave repeated passages out when indexing; they take places in the top k."
    ),
    "several_versions": N_("Delete the older version when a newer one is indexed."),
    "stale_text": N_("Index these chunks again, text and vector."),
    "stale_vector": N_("Embed these chunks again: the text was changed and the vector was not."),
    "other_model": N_(
        "Check model, prefix and version of the embedder that filled the index against [embed]; "
        "then embed all of it again."
    ),
    "dimension": N_("Name the embedder that filled the index in [embed], or build it again."),
    "no_vector": N_("Embed and index them again."),
    "not_finite": N_("Embed them again; such a vector is never found or always."),
    "zero_vector": N_("Leave empty texts out; a vector without a direction is near to nothing."),
    "not_unit": N_(
        "Make vectors unit length before adding, or search by cosine: long vectors win otherwise."
    ),
    "direction": N_(
        "Check what is sorted and cut: of distances the smaller is better, of similarities "
        "the larger."
    ),
    "low_recall": N_("Raise the effort as the curve says, or build the index with more links."),
    "unstable_ids": N_("Make ids from document and text, not by counting."),
    "reused_ids": N_("Make ids from document and text: judgments and caches point to wrong texts."),
}


def index_title(kind: str, words: NullTranslations) -> str:
    """What a finding is called."""
    return words.gettext(TITLES[kind])


def index_advice(kind: str, words: NullTranslations) -> str:
    """What to do about it."""
    return words.gettext(ADVICE[kind])


def index_fact(facts: Mapping[str, float | str], kind: str, words: NullTranslations) -> str:
    """What was measured, in one sentence; empty where there is nothing more to say."""
    messages = {
        "several_versions": N_(
            "In %(both_returned).0f results with more than one version the newest came first in "
            "%(newest_first).0f, the oldest in %(oldest_first).0f."
        ),
        "stale_vector": N_(
            "Cosine with the text down to %(lowest).4f; below %(limit).4f is stale."
        ),
        "other_model": N_("The median cosine with the text is %(cosine).4f."),
        "dimension": N_("The index has %(index).0f, the embedder %(embedder).0f."),
        "not_unit": N_("Lengths from %(shortest).4g to %(longest).4g."),
        "low_recall": N_(
            "Recall against exact search %(recall).3f [%(low).3f, %(high).3f]; "
            "%(target).2f is wanted."
        ),
        "negated": N_("The vectors point away from their texts: median cosine %(cosine).4f."),
        "farthest": N_("Results are less like the query than an average row of the index."),
        "scores": N_("The index gives a %(is)s, your program takes it for a %(taken)s."),
    }
    message = messages.get(str(facts.get("how", kind)))
    if message is None:
        return ""
    shown = {
        name: words.gettext(value) if isinstance(value, str) else value
        for name, value in facts.items()
    }
    return words.gettext(message) % shown


KINDS_OF_SCORES = (N_("similarity"), N_("distance"))
