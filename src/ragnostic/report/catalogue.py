"""The words of a page in its language: compiled gettext catalogues, shipped with the package."""

from __future__ import annotations

import gettext
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from ragnostic.errors import UsageError

Language = Literal["zh", "en"]

DOMAIN = "report"
LOCALES: dict[Language, str] = {"zh": "zh_CN", "en": "en"}
TAGS: dict[Language, str] = {"zh": "zh-CN", "en": "en"}
FOLDER = Path(__file__).parent / "locale"


@cache
def catalogue(language: Language) -> gettext.NullTranslations:
    """Messages of one language; message ids are English.

    Raises :class:`~ragnostic.errors.UsageError` for a language that has no catalogue.

    >>> catalogue("zh").gettext("Recall")
    '召回率'
    """
    if language not in LOCALES:
        raise UsageError(
            f"unknown report language {language!r}",
            hint=f"use one of: {', '.join(get_args(Language))}",
        )
    return gettext.translation(DOMAIN, FOLDER, [LOCALES[language]])


def N_(message: str) -> str:  # noqa: N802 - gettext's usual mark for later translation
    """Mark a message that is translated where it is used."""
    return message
