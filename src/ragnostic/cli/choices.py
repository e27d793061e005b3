"""Words that options of several commands take."""

from __future__ import annotations

from enum import StrEnum


class Missing(StrEnum):
    """What becomes of a judged query without results."""

    zero = "zero"
    skip = "skip"


class ScoreOrder(StrEnum):
    """Which scores are better."""

    similarity = "similarity"
    distance = "distance"


class Language(StrEnum):
    """Languages of the pages."""

    zh = "zh"
    en = "en"
