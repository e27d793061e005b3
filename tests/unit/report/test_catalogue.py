"""Both catalogues are complete and compiled."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from babel.messages import mofile, pofile
from babel.messages.extract import extract_from_dir

from ragnostic.errors import UsageError
from ragnostic.report.catalogue import DOMAIN, FOLDER, LOCALES, catalogue

PLACEHOLDER = re.compile(r"%\(\w+\)s|%%")
METHODS = [("**.py", "python"), ("templates/**.j2", "jinja2.ext.babel_extract")]


def read(language: str):
    """The .po of a language, and where it lies."""
    path = FOLDER / LOCALES[language] / "LC_MESSAGES" / f"{DOMAIN}.po"
    with path.open("rb") as file:
        return pofile.read_po(file), path


@pytest.mark.parametrize("language", LOCALES)
def test_the_compiled_catalogue_matches_its_source(language):
    """The .mo that ships is what the .po says."""
    source, path = read(language)
    compiled = io.BytesIO()
    mofile.write_mo(compiled, source)
    assert path.with_suffix(".mo").read_bytes() == compiled.getvalue()


@pytest.mark.parametrize("language", LOCALES)
def test_every_message_of_the_report_is_translated(language):
    """Code and templates use no message without a translation, and none is left over."""
    folder = Path(FOLDER).parent
    used = {message for _, _, message, _, _ in extract_from_dir(str(folder), METHODS)}
    source, _ = read(language)
    known = {message.id for message in source if message.id and all(_texts(message.string))}
    assert used == known
    assert not any(message.fuzzy for message in source if message.id)


def _texts(string):
    return (string,) if isinstance(string, str) else string


@pytest.mark.parametrize("language", LOCALES)
def test_placeholders_survive_translation(language):
    """A translation uses the same values as the message."""
    source, _ = read(language)
    for message in source:
        if message.id:
            texts = [message.id] if isinstance(message.id, str) else list(message.id)
            wanted = {frozenset(PLACEHOLDER.findall(text)) for text in texts}
            found = {frozenset(PLACEHOLDER.findall(text)) for text in _texts(message.string)}
            assert wanted == found


def test_an_unknown_language_is_refused_with_a_hint():
    """No traceback: a usage error that names the languages."""
    with pytest.raises(UsageError, match="use one of: zh, en"):
        catalogue("fr")
