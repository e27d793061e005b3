"""Ids that are probably meant to be equal but are not (METRICS 1.6)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"


def near_matches(gold: Iterable[str], known: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs (gold id, known id) that differ, but are equal after trimming, NFC or NFKC.

    A gold id that is known exactly has no near match. Pairs come in the order of ``gold``, then
    of the known ids by code point.

    >>> near_matches(["guide#2 ", "a"], ["guide#2", "a", "a "])
    [('guide#2 ', 'guide#2')]
    """
    known_ids = known if isinstance(known, (set, frozenset)) else set(known)
    missing = [identity for identity in dict.fromkeys(gold) if identity not in known_ids]
    if not missing:
        return []
    wanted = {_folded(identity) for identity in missing}
    by_fold: dict[str, list[str]] = {}
    for identity in known_ids:
        folded = _folded(identity)
        if folded in wanted:
            by_fold.setdefault(folded, []).append(identity)
    return [
        (identity, match)
        for identity in missing
        for match in sorted(by_fold.get(_folded(identity), ()))
    ]


def _folded(identity: str) -> str:
    if not identity.isascii():
        identity = unicodedata.normalize("NFKC", identity).strip(_INVISIBLE)
    return identity.strip()
