"""Changes to a query that must not change what is relevant to it (METRICS 8). Pure and seeded."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Mapping

from ragnostic.errors import UsageError
from ragnostic.plugins import nearest
from ragnostic.text import CJK, language, normalise

MASK = "[MASK]"
MASKED_SHARE = 0.1

_ENDS = "？?。."
_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")


def repeated(query: str, seed: int) -> str:  # noqa: ARG001 - one shape for all
    """The query itself: only the call is repeated.

    >>> repeated("年假几天？", 0)
    '年假几天？'
    """
    return query


def punctuated(query: str, seed: int) -> str:  # noqa: ARG001 - one shape for all
    """Without its trailing ？?。. or, where it has none, with a question mark.

    >>> punctuated("年假几天？？", 0), punctuated("annual leave", 0), punctuated("年假", 0)
    ('年假几天', 'annual leave?', '年假？')
    """
    bare = query.rstrip().rstrip(_ENDS).rstrip()
    if bare != query.rstrip():
        return bare or query
    return f"{bare}{'？' if language(query) == 'zh' else '?'}"


def masked(query: str, seed: int) -> str:
    """With a tenth of its tokens (one at least) masked; a token is a Chinese character or a word.

    Which ones is drawn from ``seed`` and the query. A query of one token stays as it is.

    >>> masked("reset my vpn password now", 0)
    'reset my vpn [MASK] now'
    """
    tokens = list(_TOKEN.finditer(query))
    if len(tokens) < 2:
        return query
    count = max(1, round(MASKED_SHARE * len(tokens)))
    told = f"{seed}:{query}".encode("utf-8", "surrogatepass")
    draw = random.Random(hashlib.sha256(told).digest())  # noqa: S311 - repeatable, no secret
    pieces, end = [], 0
    for place in sorted(draw.sample(range(len(tokens)), count)):
        pieces += [query[end : tokens[place].start()], MASK]
        end = tokens[place].end()
    return "".join([*pieces, query[end:]])


def folded(query: str, seed: int) -> str:  # noqa: ARG001 - one shape for all
    """In one width and case: NFKC, case folded, white space tidied.

    >>> folded("ＶＰＮ　Login", 0)
    'vpn login'
    """
    return normalise(query)


PERTURBATIONS: Mapping[str, Callable[[str, int], str]] = {
    "seed": repeated,
    "punctuation": punctuated,
    "mask": masked,
    "case": folded,
}


def perturb(kind: str, query: str, seed: int) -> str | None:
    """The query after a perturbation; None where it changes nothing, so that there is nothing to
    compare. ``seed`` is the repeated call and always changes nothing but the call.

    >>> perturb("case", "vpn", 0) is None, perturb("seed", "vpn", 0)
    (True, 'vpn')
    """
    changed = PERTURBATIONS[kind](query, seed)
    return None if changed == query and kind != "seed" else changed


def parse_perturbations(text: str) -> list[str]:
    """Names from a comma-separated list, each once; raises UsageError for others.

    >>> parse_perturbations("mask, seed,mask")
    ['mask', 'seed']
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = list(PERTURBATIONS)
    for name in names:
        if name not in PERTURBATIONS:
            hint = nearest(name, known) or f"there are: {', '.join(known)}"
            raise UsageError(f"{name!r} is no perturbation", hint=hint)
    if not names:
        raise UsageError("no perturbation is named", hint=f"there are: {', '.join(known)}")
    return list(dict.fromkeys(names))
