"""Generators: the chat protocol against a real service, and a function of the user's."""

from __future__ import annotations

import sys
import time
from email.utils import formatdate

import pytest
from pydantic import ValidationError

from ragnostic.adapters.chat_generator import ChatGenerator, completions_url
from ragnostic.adapters.http_client import _seconds
from ragnostic.adapters.python_generator import PythonGenerator
from ragnostic.errors import GenerationError, RetrievalError, UsageError
from ragnostic.ports import Resources

KEY = "sk-0123456789abcdefgh"


def generator(url: str, **options) -> ChatGenerator:
    """The generator that calls ``url``, with a key in its environment."""
    settings = ChatGenerator.Options(url=url, model="m", api_key_env="CHAT_KEY", **options)
    return ChatGenerator.build(settings, Resources(environment={"CHAT_KEY": KEY}))


def answer(message, reason="stop", **more):
    """An answer of the service with this message."""
    return {"choices": [{"message": message, "finish_reason": reason}], **more}


def test_one_call_is_what_the_protocol_says(service):
    """Path, key, messages and settings go out; text, model and token counts come back."""
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "details": {"x": 1}, "odd": -1}
    service.answers(answer({"content": "20 days"}, model="m-2024", usage=usage))
    base = service.url.removesuffix("/search")
    found = generator(base, seed=3, body={"top_p": 0.5})
    given = found.generate("be brief", "how many?")
    assert (given.text, given.model) == ("20 days", "m-2024")
    assert given.usage == {"prompt_tokens": 5, "completion_tokens": 2}
    (call,) = service.calls
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.json == {
        "model": "m",
        "temperature": 0.0,
        "max_tokens": 1024,
        "seed": 3,
        "top_p": 0.5,
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "how many?"},
        ],
    }
    assert KEY not in found.name
    assert found.name != generator(base, seed=4, body={"top_p": 0.5}).name


def test_what_a_service_does_not_know_is_not_sent(service):
    """No seed unless it is given, no temperature and no length where they are switched off, no
    empty system message; the model that was asked for where the service names none.
    """
    service.answers(answer({"content": "yes"}))
    given = generator(service.url, temperature="default", max_tokens=0).generate("", "q")
    assert service.calls[0].json == {"model": "m", "messages": [{"role": "user", "content": "q"}]}
    assert (given.model, given.usage) == ("m", {})


@pytest.mark.parametrize(
    ("base", "called"),
    [
        ("http://h", "http://h/v1/chat/completions"),
        ("http://h/", "http://h/v1/chat/completions"),
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/api/v3/", "http://h/api/v3/chat/completions"),
        ("http://h/v1beta", "http://h/v1beta/chat/completions"),
        ("http://h/proxy", "http://h/proxy/v1/chat/completions"),
        ("http://h/v1/chat/completions?k=1", "http://h/v1/chat/completions?k=1"),
    ],
)
def test_a_base_address_may_have_a_version_or_not(base, called):
    """The path is completed once."""
    assert completions_url(base) == called
    assert completions_url(called) == called


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        (answer({"content": "20 d"}, "length"), "truncated", "cut at its longest length"),
        (answer({"content": ""}, "content_filter"), "filtered", "held the answer back"),
        (answer({"content": None, "refusal": "I won't"}), "filtered", "refused: I won't"),
        (answer({"content": None}), "malformed", "is no text"),
        (answer({"content": ["20"]}), "malformed", "is no text"),
        (answer({"content": " \n"}), "malformed", "the answer is empty"),
        (answer(None), "malformed", "no message in choices"),
        ({"choices": []}, "malformed", "no message in choices"),
        ({"error": {"message": f"bad {KEY}"}}, "malformed", r"bad \*\*\*"),
        ([1, 2], "malformed", "no message in choices"),
    ],
)
def test_no_answer_is_an_error_with_its_reason(service, reply, status, reason):
    """Never an empty text; the key is not in the message."""
    service.answers(reply)
    with pytest.raises(GenerationError, match=reason) as caught:
        generator(service.url).generate("s", "q")
    assert caught.value.status == status
    assert not caught.value.retryable
    assert KEY not in str(caught.value)


def test_an_answer_that_is_no_json_or_a_refused_call_is_an_error(service):
    """With the status of the service, and when to ask again."""
    service.answers(b'{"choices": [{"mess')
    with pytest.raises(RetrievalError, match="the answer is not JSON"):
        generator(service.url).generate("s", "q")
    service.answers(b"busy", 429, {"Retry-After": "17"})
    with pytest.raises(RetrievalError, match="429") as caught:
        generator(service.url).generate("s", "q")
    assert (caught.value.retryable, caught.value.wait_s) == (True, 17.0)


def test_a_wait_is_seconds_or_a_date():
    """Anything else is none; a moment that has passed is now."""
    assert _seconds("5") == 5.0
    assert 50 < (_seconds(formatdate(time.time() + 60, usegmt=True)) or 0) <= 61
    assert _seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert _seconds("soon") is None
    assert _seconds("") is None


def test_a_key_is_taken_out_of_an_answer_but_a_dummy_is_not(service):
    """A local server's key may be a word of the answer."""
    service.answers(answer({"content": f"your key is {KEY}"}))
    assert generator(service.url).generate("s", "q").text == "your key is ***"
    service.answers(answer({"content": "none of them"}))
    settings = ChatGenerator.Options(url=service.url, model="m", api_key_env="K")
    local = ChatGenerator.build(settings, Resources(environment={"K": "none"}))
    assert local.generate("s", "q").text == "none of them"


def test_a_missing_key_and_impossible_settings_are_refused():
    """Before anything is called."""
    settings = ChatGenerator.Options(url="http://h", model="m", api_key_env="CHAT_KEY")
    with pytest.raises(UsageError, match="CHAT_KEY, not set or empty"):
        ChatGenerator.build(settings, Resources(environment={}))
    for wrong in ({"temperature": 3}, {"temperature": "hot"}, {"model": ""}, {"max_tokens": -1}):
        with pytest.raises(ValidationError):
            ChatGenerator.Options(**{"url": "http://h", "model": "m", **wrong})


def test_a_function_answers(tmp_path):
    """It gets both messages; what is no text is no answer, and an exception is its own."""
    (tmp_path / "answering_code.py").write_text(
        "def reply(system, user):\n"
        "    if user == 'raise':\n        raise ValueError('no model')\n"
        "    return {'none': None, 'blank': ' '}.get(user, f'{system}|{user}')\n",
        encoding="utf-8",
    )
    options = PythonGenerator.Options(target="answering_code:reply", workers=2)
    found = PythonGenerator.build(options, Resources(base_dir=tmp_path))
    try:
        given = found.generate("s", "u")
        assert (given.text, given.model) == ("s|u", "answering_code:reply")
        assert (found.name, found.workers) == ("python answering_code:reply", 2)
        for user in ("none", "blank"):
            with pytest.raises(GenerationError, match="which is no answer"):
                found.generate("s", user)
        with pytest.raises(RetrievalError, match="raised ValueError: no model"):
            found.generate("s", "raise")
    finally:
        sys.modules.pop("answering_code", None)
