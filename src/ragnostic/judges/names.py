"""Names in a text, and the words a query is about (METRICS 12, *entity*)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ragnostic.judges.word_lists import listed
from ragnostic.text import HAN, has_han

_QUOTED = re.compile(
    r"“([^“”\n]{1,60})”|「([^「」\n]{1,60})」|『([^『』\n]{1,60})』|《([^《》\n]{1,60})》"
    r"|\"([^\"\n]{1,60})\""
)
# A word with a capital or a digit: iPhone15, VPN, O'Neill; numbers with units are facts, not names.
_LATIN = re.compile(r"[A-Za-z](?<![A-Za-z0-9_].)[A-Za-z0-9]*(?:['’&.-][A-Za-z0-9]+)*")
_PLAIN_WORD = re.compile(r"[A-Z]?[a-z'’-]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;。！？：；\n])[\s\"'“‘(（-]*$")
_GOES_ON = re.compile(r",|\s[a-z]")
_NAME_TAGS = frozenset(listed("nr nrfg nrt ns nt nz"))
_NO_NAME_BEGINS = frozenset("之的了在是为為和与與及等其该該本各每将把被从")
_NO_NAMES = frozenset(
    listed(
        "jan january feb february mar march apr april may jun june jul july aug august sep sept"
        " september oct october nov november dec december monday tuesday wednesday thursday friday"
        " saturday sunday usd cny rmb eur gbp hkd jpy am pm"
    )
)
_CONTENT_TAGS = ("n", "v", "a", "eng", "i", "j", "l", "x", "z")
_STOP = frozenset(
    listed(
        "a an the of in on at to for from by with and or not no is are was were be been do does did"
        " has have had can could will would should may might must shall i you he she it we they me"
        " my your his her its our their this that these those there here what which who whom whose"
        " when where why how many much long if as so than then about into over under per any all"
        " each ok yes n/a none null nil tbd please tell need want get also only just more most"
        " other some such"
        " 是 有 要 会 可以 能 能够 应该 需要 请 请问 想 说 做 到 去 来 让 使 给 为 知道 问 告诉"
        " 怎么样 如何 多少 什么 哪些 哪个 是否 问题 时候 情况 东西 进行 包括 属于 没有 成为 关于"
        " 多大 多长 多久 多高 多远 有没有"
    )
)
_ASKING = re.compile(
    "多少|多[久长大高远]|几[天年月个位次种条项]?|什么|什麼|哪[里儿些个种家位]?|怎么样?|怎样|如何"
    "|为什么|是否|能否|可否|可以|有没有|请问|告诉|需要|应该|[谁吗呢吧啊的是有在和与及要会能了我你您他]"
)
_HAN_RUN = re.compile(f"[{HAN}]{{2,6}}")


def names_in(text: str) -> list[str]:
    """Quoted strings, Latin words with capitals or digits, and Chinese names of people, places,
    organisations and brands; each once. The first word of a sentence needs more than its capital.

    >>> names_in("The iPhone15 is sold by Acme Ltd., says “Blue Book”.")
    ['Blue Book', 'iPhone15', 'Acme', 'Ltd', 'Blue', 'Book']
    >>> names_in("张三丰在北京讨论 VPN。")
    ['VPN', '张三丰', '北京']
    """
    found = dict.fromkeys(next(filter(None, groups)) for groups in _QUOTED.findall(text))
    for match in _LATIN.finditer(text):
        word = match[0]
        if word.islower() or len(word) < 2 or word.lower() in _STOP or word.lower() in _NO_NAMES:
            continue
        if _PLAIN_WORD.fullmatch(word) and _only_begins(text, match.start(), match.end()):
            continue
        found[word] = None
    if has_han(text):
        tagged = [word for word, tag in _tagger().tag(text) if tag in _NAME_TAGS]
        found |= {w: None for w in tagged if len(w) > 1 and w[0] not in _NO_NAME_BEGINS}
    return list(found)


def _only_begins(text: str, start: int, end: int) -> bool:
    """Whether a capital is there because a sentence begins: "Refunds are …", "However, …"; but not
    in "Acme Ltd is …", "Acme 保修 …", or an answer of one word.
    """
    begins = _SENTENCE_START.search(text[max(0, start - 8) : start]) is not None
    return begins and _GOES_ON.match(text, end) is not None


@lru_cache(maxsize=1 << 16)
def content_words(query: str) -> tuple[str, ...]:
    """The words that say what a query is about, each once.

    >>> content_words("How many days of annual leave?"), content_words("年假几天？")
    (('days', 'annual', 'leave'), ('年假',))
    """
    found: dict[str, None] = {}
    if has_han(query):
        for word, tag in _tagger().tag(query):
            if len(word) > 1 and word not in _STOP and tag.startswith(_CONTENT_TAGS):
                found[word.lower()] = None
    for word in _LATIN.findall(query):
        if len(word) > 1 and word.lower() not in _STOP:
            found[word.lower()] = None
    if not found:  # words that the segmenter does not know: what is left beside the question words
        return tuple(dict.fromkeys(_HAN_RUN.findall(_ASKING.sub(" ", query))))
    return tuple(found)


def _tagger() -> Any:
    import rjieba  # noqa: PLC0415 - heavy, loaded on use

    return rjieba
