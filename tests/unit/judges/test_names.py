"""Names in answers and content words of queries."""

from __future__ import annotations

import pytest

from ragnostic.judges.names import content_words, names_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "他说“年假办法”和「总则」、『附则』、《劳动法》有效",
            ["年假办法", "总则", "附则", "劳动法"],
        ),
        ('see the "travel policy" page', ["travel policy"]),
        ("Green Fields Agriculture appointed a CEO", ["Green", "Fields", "Agriculture", "CEO"]),
        ("Refunds are issued. However, they take time", []),
        ("we use VPN, iPhone15 and O'Neill", ["VPN", "iPhone15", "O'Neill"]),
        ("Paris", ["Paris"]),
        ("Paris.", ["Paris"]),
        ("A", []),
        ("OK", []),
        ("due in January on Monday for 5 USD", []),
        ("保修期自签收之日起计算", []),
        ("总部在北京", ["北京"]),
    ],
)
def test_names(text: str, names: list[str]):
    """Quoted strings, Latin words with capitals or digits, Chinese names; not dates or currencies,
    nor a word that only begins a sentence.
    """
    assert names_in(text) == names


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("How many days of annual leave?", ("days", "annual", "leave")),
        ("年假几天？", ("年假",)),
        ("赔偿上限多少？", ("赔偿", "上限")),
        ("VPN 怎么设置", ("vpn", "设置")),
        ("是什么？", ()),
        ("", ()),
    ],
)
def test_content_words(query: str, words: tuple[str, ...]):
    """What a query is about, without the words that only ask."""
    assert content_words(query) == words
