"""Evidence for every missed item: from the run, the corpus, the index, and exact search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ragnostic.diagnose.causes import APPROXIMATION, first_cause
from ragnostic.diagnose.evidence import Evidence
from ragnostic.diagnose.exact import ExactSearch, Rank, Searched
from ragnostic.diagnose.gold_places import Place
from ragnostic.diagnose.hints import hints, overlap
from ragnostic.diagnose.misses import Asked, Found, Item
from ragnostic.ports import CountTokens, Progress, no_progress
from ragnostic.records import Chunk
from ragnostic.text import count_tokens, normalise

Key = tuple[str, int]
"""A missed item: query id and place."""


@dataclass(frozen=True, slots=True)
class Stages:
    """What the stages were asked for. ``depth``: candidates a query; ``reranked``: whether the
    last stage reorders the one before; ``limit``: the tokens of a text that it reads, by
    ``count``, where it cuts longer ones off; ``cut_off``: by query id, the chunks that it cut.
    """

    depth: int
    reranked: bool
    limit: int | None = None
    count: CountTokens = count_tokens
    cut_off: Mapping[str, frozenset[str]] = field(default_factory=dict)


class Again(NamedTuple):
    """The ids that a vector index returns for one text, as it is set and with a larger effort
    (None: it has no effort to raise).
    """

    usual: frozenset[str]
    raised: frozenset[str] | None


AskAgain = Callable[[Sequence[str], int, Progress], list[Again]]
"""(texts, candidates a text, progress) → what the index returns for each."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the run. Empty fields are not known: causes that need them are not
    tested.

    ``chunks``: of the corpus as it is now, by id; ``places``: where an item is; ``index``: chunk
    ids that the index holds, with their texts (None: without), for all items; ``fresh``: id →
    whether its vector is that of its text, where that was looked at; ``search``: makes an
    exact search of the kind that the retriever approximates; ``approximate``: whether its index
    may miss what exact search finds; ``again``: asks the index itself once more.
    """

    chunks: Mapping[str, Chunk] = field(default_factory=dict)
    place_of: Callable[[Item], Place | None] = lambda _: None
    index: Mapping[str, str | None] | None = None
    fresh: Mapping[str, bool] = field(default_factory=dict)
    search: Callable[[Searched], ExactSearch] | None = None
    approximate: bool = True
    again: AskAgain | None = None


def gather(
    found: Found, stages: Stages, known: Known, progress: Progress = no_progress
) -> dict[Key, Evidence]:
    """The evidence of every missed item, by query id and place."""
    missed = found.missed
    places = {_key(item): known.place_of(item) for item in missed}
    ranks = _exact_ranks(found, missed, places, known, progress)
    evidence = {
        _key(item): _evidence(item, found, stages, known, places[_key(item)], ranks)
        for item in missed
    }
    return evidence | _asked_again(found, missed, evidence, stages, known, progress)


def _asked_again(  # noqa: PLR0917 - all that is known so far
    found: Found,
    missed: Sequence[Item],
    evidence: Mapping[Key, Evidence],
    stages: Stages,
    known: Known,
    progress: Progress,
) -> dict[Key, Evidence]:
    """The evidence of what only the index can have lost, with what it says when asked again."""
    if known.again is None or not known.approximate:
        return {}
    items = [item for item in missed if first_cause(evidence[_key(item)]) == APPROXIMATION]
    sent = {item.query_id: found.asked[item.query_id].sent for item in items}
    texts = list(dict.fromkeys(text for one in sent.values() for text in one))
    answers = dict(zip(texts, known.again(texts, stages.depth, progress), strict=True))
    told: dict[Key, Evidence] = {}
    for item in items:
        of_item = [answers[text] for text in sent[item.query_id]]
        raised = [one.raised for one in of_item if one.raised is not None]
        told[_key(item)] = replace(
            evidence[_key(item)],
            by_index=any(not one.usual.isdisjoint(item.ids) for one in of_item),
            by_effort=any(not one.isdisjoint(item.ids) for one in raised) if raised else None,
        )
    return told


def _key(item: Item) -> Key:
    return item.query_id, item.place


@dataclass(frozen=True, slots=True)
class _Ranks:
    """Exact ranks by item: of its chunks by the user's words and by what was sent, uncut."""

    user: Mapping[Key, Rank | None] = field(default_factory=dict)
    sent: Mapping[Key, Rank | None] = field(default_factory=dict)
    uncut: Mapping[Key, Rank | None] = field(default_factory=dict)


def _exact_ranks(
    found: Found,
    missed: Sequence[Item],
    places: Mapping[Key, Place | None],
    known: Known,
    progress: Progress,
) -> _Ranks:
    """Exact search for items that no retrieval stage holds, or that are cut; others need none."""
    if known.search is None or not known.chunks:
        return _Ranks()
    uncut = {
        _key(item): place.uncut
        for item in missed
        if (place := places[_key(item)]) is not None and place.uncut is not None
    }
    lost = [item for item in missed if _key(item) in uncut or not any(item.ranks)]
    passages = {chunk.id: chunk for chunk in uncut.values()}
    searched = Searched(tuple(known.chunks.values()), tuple(passages.values()))
    at = searched.positions()
    search = known.search(searched)
    words = {item.query_id: found.asked[item.query_id] for item in lost}
    wanted = [[at[id_] for id_ in item.ids if id_ in at] for item in lost]

    def by(texts: Sequence[str], targets: Sequence[Sequence[int]]) -> dict[Key, Rank | None]:
        ranks = search.ranks(texts, targets, progress)
        return {_key(item): rank for item, rank in zip(lost, ranks, strict=True)}

    user = by([words[item.query_id].query for item in lost], wanted)
    sent = {**user, **_by_sent(search, lost, words, wanted, progress)}
    whole = [[at[uncut[_key(i)].id]] if _key(i) in uncut else [] for i in lost]
    return _Ranks(user, sent, by([words[item.query_id].query for item in lost], whole))


def _by_sent(
    search: ExactSearch,
    lost: Sequence[Item],
    words: Mapping[str, Asked],
    wanted: Sequence[Sequence[int]],
    progress: Progress,
) -> dict[Key, Rank | None]:
    """Ranks where something else was sent than the user's words: the best of what was sent."""
    rows = [
        (item, text, positions)
        for item, positions in zip(lost, wanted, strict=True)
        for text in words[item.query_id].sent
        if words[item.query_id].sent != (words[item.query_id].query,)
    ]
    ranks = search.ranks([row[1] for row in rows], [row[2] for row in rows], progress)
    best: dict[Key, Rank | None] = {}
    for (item, *_), rank in zip(rows, ranks, strict=True):
        earlier = best.get(_key(item))
        known = [one for one in (earlier, rank) if one is not None]
        best[_key(item)] = min(known, key=lambda one: one.rank or 1 << 62, default=None)
    return best


def _evidence(  # noqa: PLR0917 - all that is known of one item
    item: Item, found: Found, stages: Stages, known: Known, place: Place | None, ranks: _Ranks
) -> Evidence:
    asked = found.asked[item.query_id]
    candidates = item.ranks[:-1] if stages.reranked else item.ranks
    user = ranks.user.get(_key(item))
    return Evidence(
        k=found.k,
        depth=stages.depth,
        approximate=known.approximate,
        in_corpus=None if place is None else place.in_corpus,
        elsewhere=None if place is None else place.elsewhere,
        halves=() if place is None else place.halves,
        has_chunk=bool(item.ids),
        exact=_number(user),
        sent_exact=_number(ranks.sent.get(_key(item))),
        uncut=_number(ranks.uncut.get(_key(item))),
        retrieved=min((rank for rank in candidates if rank is not None), default=None),
        candidate=candidates[-1] if candidates else None,
        final=item.ranks[-1] if item.ranks else None,
        reranked=stages.reranked,
        beyond_limit=_beyond(item, asked, stages, known, place) if stages.reranked else None,
        given=item.given,
        similarity=None if user is None else user.score,
        **_index_facts(item, known),
        **_likeness(item, asked, known, stages),
    )


def _number(rank: Rank | None) -> int | None:
    return None if rank is None else rank.rank


def _index_facts(item: Item, known: Known) -> dict[str, Any]:
    """Whether the index holds a chunk of the item, and with the text that it has now."""
    if known.index is None or not item.ids:
        return {"indexed": None, "same_text": None, "same_vector": None}
    held = [id_ for id_ in item.ids if id_ in known.index]
    same = [_same(known.index[id_], known.chunks.get(id_)) for id_ in held]
    told = [one for one in same if one is not None]
    fresh = [known.fresh[id_] for id_ in held if id_ in known.fresh]
    return {
        "indexed": bool(held),
        "same_text": any(told) if told else None,
        "same_vector": any(fresh) if fresh else None,
    }


def _same(text: str | None, chunk: Chunk | None) -> bool | None:
    if text is None or chunk is None:
        return None
    return normalise(text) in (normalise(chunk.text), normalise(chunk.searchable))


def _beyond(
    item: Item, asked: Asked, stages: Stages, known: Known, place: Place | None
) -> bool | None:
    """Whether the reranker cut every chunk of the item before the words that answer."""
    cut = stages.cut_off.get(item.query_id, frozenset())
    if not cut.intersection(item.ids):
        return False
    if not cut.issuperset(id_ for id_ in item.ids if id_ in known.chunks):
        return False
    if stages.limit is None:
        return None
    known_chunks = [known.chunks[id_] for id_ in item.ids if id_ in known.chunks]
    ends = [end for chunk in known_chunks if (end := _answer_end(chunk, asked, place)) is not None]
    read = stages.limit
    told = [stages.count(text) > read for text in ends]
    return all(told) if told else None


def _answer_end(chunk: Chunk, asked: Asked, place: Place | None) -> str | None:
    """The chunk's text up to the end of what answers; None where nothing says what that is."""
    if place is not None and place.span is not None and place.document == chunk.doc_id:
        end = min(place.span[1], chunk.end) - chunk.start
        return chunk.searchable[: len(chunk.searchable) - len(chunk.text) + max(0, end)]
    answer = (asked.answer or "").strip()
    at = chunk.searchable.find(answer) if answer else -1
    return chunk.searchable[: at + len(answer)] if at >= 0 else None


def _likeness(item: Item, asked: Asked, known: Known, stages: Stages) -> dict[str, Any]:
    """How far query and passage are alike, of the chunk that is most so."""
    texts = [known.chunks[id_].searchable for id_ in item.ids if id_ in known.chunks]
    if not texts:
        return {}
    shared = {text: overlap(asked.query, text) for text in texts}
    best = max(texts, key=lambda text: shared[text] or 0.0)
    return {"overlap": shared[best], "hints": hints(asked.query, best, stages.count)}


def cut_by_reranker(rows: Iterator[Mapping[str, Any]], stage: str) -> dict[str, frozenset[str]]:
    """By record id, the chunks whose text the reranker cut (``truncated`` of the stage)."""
    found = {}
    for row in rows:
        hits = row.get(stage) or {}
        marks = hits.get("truncated") or ()
        ids = frozenset(id_ for id_, cut in zip(hits.get("ids") or (), marks, strict=False) if cut)
        if ids:
            found[str(row["record_id"])] = ids
    return found
