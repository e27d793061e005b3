"""What a generator is asked."""

from __future__ import annotations

import pytest

from ragnostic.config.models import PromptSettings, PromptsSettings
from ragnostic.offline.prompts import Prompt, make_prompt


@pytest.mark.parametrize(("language", "word"), [("zh", "资料："), ("en", "Passages:")])
def test_both_questions_have_one_system_message(language, word):
    """They differ in the passages only; the language is that of the query."""
    with_, without = (
        make_prompt(PromptsSettings(), language, "q?", context) for context in (["A", " B\n"], None)
    )
    assert with_.system == without.system != ""
    assert f"{word}\n[1] A\n\n[2] B\n\n" in with_.user
    assert with_.user.endswith(without.user)
    assert word not in without.user


def test_an_empty_ranking_is_said_not_hidden():
    """So that the generator may say that it does not know."""
    assert "(nothing was found)" in make_prompt(PromptsSettings(), "en", "q", []).user
    assert "没有检索到资料" in make_prompt(PromptsSettings(), "zh", "q", []).user


def test_settings_replace_single_texts():
    """What is left out stays as it is built in; an empty system message is one."""
    own = PromptSettings(system="", with_context="{context} | {query}")
    found = make_prompt(PromptsSettings(en=own), "en", "q", ["a"])
    assert found == Prompt("", "[1] a | q")
    assert make_prompt(PromptsSettings(en=own), "en", "q", None).user == "Question: q"


def test_braces_in_texts_are_texts():
    """A passage cannot pull in the query, nor a query the passages."""
    own = PromptSettings(with_context="{context} | {query}", without_context="{query} {other}")
    settings = PromptsSettings(en=own)
    assert make_prompt(settings, "en", "{context}", ["{query}"]).user == "[1] {query} | {context}"
    assert make_prompt(settings, "en", "{query}", None).user == "{query} {other}"


def test_the_key_is_of_generator_and_messages():
    """Anything that could change the answer changes it."""
    keys = {
        Prompt("a", "b").key("m"),
        Prompt("a", "b").key("n"),
        Prompt("ab", "").key("m"),
        Prompt("a", "b\ud800").key("m"),
    }
    assert len(keys) == 4
