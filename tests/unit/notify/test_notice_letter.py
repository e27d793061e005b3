"""The letter about notices."""

from __future__ import annotations

import runpy
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ragnostic.notify.notice_letter import notices_letter

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
notice = LOOPBACK["notice"]
ALLOWED = {"html", "head", "meta", "body", "div", "h2", "p", "table", "tr", "th", "td", "a", "img"}


def no_charts(_):
    """None."""
    return {}


class Tags(HTMLParser):
    """The tags and addresses of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.links, self.text = set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """One tag."""
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in {"href", "src"}]

    def handle_data(self, data):
        """Text between them."""
        self.text.append(data)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_everything_is_said_in_text_and_in_html(language):
    """The same words."""
    letter = notices_letter([notice()], language, no_charts)
    page = Tags(letter.html)
    shown = " ".join(page.text)
    for words in ("0.691", "0.812", "退款要几天到账？", "search-team", "1,234"):
        assert words in letter.text
        assert words in shown
    assert page.links == ["https://wiki.example/mrr", "https://rag.example/q?a=1&b=2"]
    assert f'lang="{"zh-CN" if language == "zh" else "en"}"' in letter.html
    assert letter.subject.startswith("Ragnostic [P1] ")


def test_no_text_becomes_markup():
    """Whatever was asked."""
    hostile = LOOPBACK["HOSTILE"]
    given = notice(
        worst_query=hostile,
        slice={hostile: hostile},
        owner=hostile,
        rule=hostile,
        runbook='https://a.example/"><script>',
        link="javascript:alert(1)",
    )
    letter = notices_letter([given], "en", lambda _: {"x": b""})
    page = Tags(letter.html)
    assert "script" not in page.tags
    assert not any(link.startswith("javascript") for link in page.links)
    assert page.tags <= ALLOWED


def test_several_are_one_letter_with_a_heading():
    """The subject counts them."""
    letter = notices_letter([notice(key="a", severity="P0"), notice(key="b")], "en", no_charts)
    assert "2" in letter.subject
    assert letter.text.startswith(letter.subject.removeprefix("Ragnostic "))
    assert letter.threads == ["a", "b"]
    assert letter.urgent


def test_charts_stand_where_their_notice_does():
    """Each by a name of its own."""
    charts = {"a": {"trend": b"1", "hours": b"2"}, "b": {"trend": b"3"}}
    letter = notices_letter([notice(key="a"), notice(key="b")], "zh", lambda one: charts[one.key])
    assert list(letter.images.values()) == [b"1", b"2", b"3"]
    sources = [link for link in Tags(letter.html).links if link.startswith("cid:")]
    assert sources == [f"cid:{name}" for name in letter.images]


def test_the_first_letter_of_an_episode_is_the_root_of_its_thread():
    """Later ones are answers to it; the end of a P0 is not urgent."""
    first = notices_letter([notice(severity="P0")], "zh", no_charts)
    last = notices_letter([notice(severity="P0", kind="resolved")], "zh", no_charts)
    assert first.identity == first.threads[0] == last.threads[0] == notice().key
    assert last.identity != first.identity
    assert first.urgent
    assert not last.urgent
