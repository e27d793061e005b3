"""E-mails from their parts, read back by the standard library's parser."""

from __future__ import annotations

import email
import email.policy
import runpy
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.notify.letter import Letter, address, compose

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
SENDER = address("Ragnostic 告警 <alerts@example.com>")
TO = [address("on-call@example.com"), address("Li <li@example.com>")]
MOMENT = datetime(2026, 1, 5, 6, tzinfo=UTC)


def read(letter: Letter) -> EmailMessage:
    """The message as a mail program gets it."""
    raw = compose(letter, SENDER, TO, MOMENT).as_bytes()
    assert raw.isascii()
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    return email.message_from_bytes(raw, policy=email.policy.default)


def test_a_letter_is_read_as_it_was_written():
    """Text and HTML side by side."""
    found = read(Letter("[P0] 平均倒数排名下降", "第一行\n第二行", "<p>第一行</p>", identity="a"))
    assert found["Subject"] == "[P0] 平均倒数排名下降"
    assert str(found["From"]) == "Ragnostic 告警 <alerts@example.com>"
    assert str(found["To"]) == "on-call@example.com, Li <li@example.com>"
    assert found["Date"].datetime == MOMENT
    assert found["Auto-Submitted"] == "auto-generated"
    assert found.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in found.iter_parts()] == ["text/plain", "text/html"]
    assert found.get_body(("plain",)).get_content().splitlines() == ["第一行", "第二行"]
    assert found.get_body(("html",)).get_content().strip() == "<p>第一行</p>"


def test_an_image_is_inside_of_the_html():
    """By its cid; a file is attached."""
    html = '<img src="cid:trend"> "cid:other"'
    letter = Letter("x", "x", html, {"trend": b"\x89PNG 1"}, {"报告.html": b"<html>"})
    found = read(letter)
    body = found.get_body(("related",))
    picture = next(part for part in body.iter_parts() if part.get_content_type() == "image/png")
    assert picture.get_content() == b"\x89PNG 1"
    assert picture.get_content_disposition() == "inline"
    cid = picture["Content-ID"].strip("<>")
    assert f'<img src="cid:{cid}"> "cid:other"' in found.get_body(("html",)).get_content()
    (attached,) = found.iter_attachments()
    assert (attached.get_filename(), attached.get_content()) == ("报告.html", b"<html>")


def test_letters_about_the_same_are_one_thread():
    """The first one is its root; the same letter has the same id, whenever it is sent."""
    first = read(Letter("x", "x", identity="episode", threads=["episode"]))
    later = read(Letter("x", "x", identity="episode over", threads=["episode"]))
    both = read(Letter("x", "x", identity="two", threads=["episode", *map(str, range(40))]))
    assert first["Message-ID"] == read(Letter("y", "y", identity="episode"))["Message-ID"]
    assert first["References"] is None
    assert later["In-Reply-To"] == later["References"] == first["Message-ID"]
    assert later["Message-ID"] != first["Message-ID"]
    assert both["References"].split()[0] == first["Message-ID"]
    assert len(both["References"].split()) == 20
    assert first["Message-ID"].endswith("@example.com>")


def test_what_is_urgent_says_so():
    """In the two headers that programs look at."""
    urgent, other = read(Letter("x", "x", urgent=True)), read(Letter("x", "x"))
    assert (urgent["Importance"], urgent["X-Priority"]) == ("high", "1")
    assert (other["Importance"], other["X-Priority"]) == (None, None)


@given(st.text(max_size=300), st.text(max_size=100), st.text(max_size=60))
def test_no_text_begins_a_header(subject, text, name):
    """Nor breaks the letter."""
    plain = {*read(Letter("x", "x", "<p>x</p>", {}, {"a": b""}, "i", ["k"])).keys()}
    found = read(Letter(subject, text, f"<p>{text}</p>", {}, {name: b""}, subject, [text]))
    assert {*found.keys()} <= plain | {"References", "In-Reply-To"}
    assert "\n" not in found["Subject"]


def test_a_hostile_subject_stays_a_subject():
    """The line breaks in it become spaces, and what cannot be seen is shown."""
    hostile = LOOPBACK["HOSTILE"]
    found = read(Letter(hostile, hostile, identity=hostile, threads=[hostile, "b"]))
    assert found["Bcc"] is None
    assert found["Subject"].startswith("x Bcc: evil@example.com <script>")
    assert len(read(Letter("长" * 5000, "x"))["Subject"]) < 250


@pytest.mark.parametrize(
    "written",
    [
        "",
        "nobody",
        "a@b@c",
        "a b@example.com",
        "a@example.com\nBcc: b@example.com",
        "Name\r\n <a@example.com>",
        "用户@example.com",
        "a@例子.example",
        "<>",
        "@example.com",
        "a@",
    ],
)
def test_what_is_no_address_is_refused(written):
    """Before a server does it."""
    with pytest.raises(ValueError, match="must be an e-mail address"):
        address(written)
