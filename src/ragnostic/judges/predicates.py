"""Verb–object pairs of a text: by part of speech in Chinese, by a parser in English where there is
one (METRICS 12, ``entity_predicate``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

_CLAUSE = re.compile(r"[,，。.;；:：!！?？\n…]+(?![0-9])")
_REACH = 8  # words behind a verb among which its object is
_VERB_TAGS = ("v", "vn", "vg", "vi")
_NOUN_TAGS = ("n", "j", "l", "i", "eng", "an", "vn")
_BEFORE_TAGS = ("uj", "a", "b", "m", "q", "r", "d", "f", "ul", "uz", "p", "x")
_INSIDE_TAGS = ("uj",)
_LIGHT_VERBS = (
    "是 为 有 无 没有 可 可以 能 能够 应 应当 应该 须 必须 需 需要 要 会 想 请 让 使 将 把"
    " 被 给 属于 成为 包括 包含 进行 作为 位于 来自 根据 按照 关于 存在 具有 如 即 指 称"
    " 叫 到 去 来 在 做"
)
_LIGHT = frozenset(_LIGHT_VERBS.split())
_OBJECTS = ("dobj", "obj", "nsubjpass", "nsubj:pass")


class Predicate(NamedTuple):
    """A verb and its object, as they are looked for."""

    verb: str
    object: str


class English(NamedTuple):
    """A parser of English, by its name; it gives tokens as spaCy does."""

    name: str
    parse: Callable[[str], Any]


def chinese_predicates(text: str) -> list[Predicate]:
    """Each verb with the last noun of the group of nouns behind it, in the same clause; once each.

    By segmentation and part of speech, no parse: a heuristic. Verbs that say little (是, 可以) and
    verbs without an object make no pair.

    >>> [
    ...     tuple(pair)
    ...     for pair in chinese_predicates("员工可申请育儿假，该药物能够抑制肿瘤细胞的生长。")
    ... ]
    [('申请', '育儿假'), ('抑制', '生长')]
    """
    found: dict[Predicate, None] = {}
    for clause in _CLAUSE.split(text):
        words = _tagger().tag(clause)
        for place, (word, tag) in enumerate(words):
            if tag in _VERB_TAGS and word not in _LIGHT:
                noun = _object(words[place + 1 :])
                if noun and len(word + noun) > 2:
                    found[Predicate(word, noun)] = None
    return list(found)


def _object(words: list[tuple[str, str]]) -> str:
    """The last noun of the first group of nouns, with the noun before it where it is one letter."""
    group: list[str] = []
    for place, (word, tag) in enumerate(words):
        if tag.startswith(_NOUN_TAGS):
            group.append(word)
        elif tag not in (_INSIDE_TAGS if group else _BEFORE_TAGS) or place >= _REACH:
            break
    return "".join(group[-2:] if group and len(group[-1]) == 1 else group[-1:])


def english_predicates(tokens: Iterable[Any]) -> Iterator[Predicate]:
    """The verbs with an object, or with the subject of a passive, of a dependency parse."""
    for token in tokens:
        if token.dep_ in _OBJECTS and token.head.pos_ == "VERB":
            yield Predicate(token.head.text, token.text)


@cache
def english_parser() -> English | None:
    """An English model of spaCy, the first by name; None where spaCy or a model is missing."""
    try:
        spacy = import_module("spacy")  # heavy, and optional
    except ImportError:
        return None
    models = sorted(name for name in spacy.util.get_installed_models() if name.startswith("en_"))
    if not models:
        return None
    model = spacy.load(models[0])
    return English(f"spaCy {models[0]} {model.meta.get('version', '')}".strip(), model)


def _tagger() -> Any:
    import rjieba  # noqa: PLC0415 - heavy, loaded on use

    return rjieba
