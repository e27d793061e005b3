"""What the robots of group chats have in common: settings, and what answers mean."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from pydantic import ValidationError

from ragnostic.errors import UsageError
from ragnostic.notify.dingtalk import DingTalk
from ragnostic.notify.feishu import Feishu
from ragnostic.notify.slack import Slack
from ragnostic.notify.wecom import WeCom

DOCS = Path(__file__).resolve().parents[3] / "docs"
MADE = runpy.run_path(str(Path(__file__).parent / "robots.py"))
robot, reply = MADE["robot"], MADE["reply"]
MISSING = {"secret_env": "NONE"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"url_env": ""},
        {"url_env": "HOOK", "max_messages": 0},
        {"url_env": "HOOK", "max_messages": 21},
        {"url_env": "HOOK", "language": "fr"},
        {"url_env": "HOOK", "url": "https://hooks.example/secret"},
        {"url_env": "HOOK", "secret_env": "KEY"},
    ],
)
def test_settings_that_make_no_sense_are_refused(options):
    """An address or a secret never stands in the file; WeCom has no secret."""
    with pytest.raises(ValidationError):
        WeCom.Options(**options)


def test_a_secret_that_is_not_set_is_named():
    """By its variable."""
    with pytest.raises(UsageError, match="channel 'ops' needs the environment variable NONE"):
        robot(Feishu, **MISSING)


@pytest.mark.parametrize(
    ("answer", "delivered", "retry", "told"),
    [
        (reply(b'{"errcode": 0, "errmsg": "ok"}'), True, None, ""),
        (reply(b'{"errcode": 45009, "errmsg": "freq"}'), False, 60.0, "errcode 45009: freq"),
        (reply(b'{"errcode": -1}'), False, 10.0, "errcode -1: (no text)"),
        (reply(b'{"errcode": -1}', 429, retry_after="90"), False, 90.0, "errcode -1"),
        (reply(b'{"errcode": 1, "errmsg": "x"}', 503), False, 0.0, "errcode 1: x"),
        (reply(b'{"errcode": 0}', 404), False, None, "errcode 0"),
        (reply(b'{"errcode": true}'), False, 60.0, "would not"),
        (reply(b'{"errcode": "0"}'), False, 60.0, "would not"),
        (reply(b"no", 404), False, None, "answered 404: no"),
        (reply(b'{"errcode": 9, "errmsg": "key secret-of-hook"}'), False, None, "key ***"),
        (reply(b'{"errcode": 9, "errmsg": "a\\n\\u202eb"}'), False, None, "errcode 9: a b"),
    ],
)
def test_an_answer_means_what_its_code_says(answer, delivered, retry, told):
    """Whatever the status; told on one line, without secrets."""
    found = robot(WeCom).verdict(answer)
    assert (found.delivered, found.retry_after_s) == (delivered, retry)
    assert told in found.reason


@pytest.mark.parametrize("kind", [DingTalk, Feishu, Slack, WeCom])
def test_every_setting_is_described_and_in_the_docs(kind):
    """On the page of the channel, or on that of all."""
    pages = [DOCS / "channels.md", DOCS / "channels" / f"{kind.__name__.lower()}.md"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    for name, field in kind.Options.model_fields.items():
        assert field.description
        assert f"`{name}`" in text
