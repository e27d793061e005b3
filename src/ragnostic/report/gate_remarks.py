"""What a gate remarks about a rule, in the language of a page."""

from __future__ import annotations

import re
from gettext import NullTranslations
from typing import TYPE_CHECKING

from ragnostic.report.catalogue import N_
from ragnostic.report.visible import visible

if TYPE_CHECKING:
    from ragnostic.stats.gates import RuleResult

_SAID = "the interval holds the bound"
_NEXT_REMARK = re.compile(
    r"; (?=failed too: |not judged, fewer than |[^;]+ has the (?:lowest|highest) value \()"
)
_VALUE = r"\((?P<value>\S+), n (?P<n>\d+): (?P<verdict>\w+)\)"
_REMARKS = tuple(
    (re.compile(pattern, re.DOTALL), message)
    for pattern, message in (
        ("no query has a value", N_("no query has a value")),
        ("no query has a value on both sides", N_("no query has a value on both sides")),
        (
            r"(?P<count>\d+) (?:query|queries) cannot give an interval",
            N_("too few queries for an interval: %(count)s"),
        ),
        (r"failed too: (?P<slices>.+)", N_("failed too: %(slices)s")),
        (
            r"not judged, fewer than (?P<count>\d+) queries: (?P<slices>.+)",
            N_("not judged, fewer than %(count)s queries: %(slices)s"),
        ),
        (
            rf"(?P<slice>.+) has the lowest value {_VALUE}",
            N_("%(slice)s has the lowest value (%(value)s, n %(n)s: %(verdict)s)"),
        ),
        (
            rf"(?P<slice>.+) has the highest value {_VALUE}",
            N_("%(slice)s has the highest value (%(value)s, n %(n)s: %(verdict)s)"),
        ),
    )
)
"""What :mod:`ragnostic.stats.gates` gives as reasons, and how a page says it."""
_AND_MORE = re.compile(r"(?P<list>.+) and (?P<count>\d+) more", re.DOTALL)


def rule_remark(rule: RuleResult, words: NullTranslations) -> str:
    """What is to be known of a rule apart from what
    :func:`~ragnostic.report.comparison_words.rule_reason` says.
    """
    parts = [part for part in _NEXT_REMARK.split(rule.reason or "") if part]
    told = (_remark(part, words) for part in parts if not part.startswith(_SAID))
    return visible(words.gettext("; ").join(told))


def _remark(part: str, words: NullTranslations) -> str:
    """One remark of the gate in the language of the page; an unknown one as it is."""
    for pattern, message in _REMARKS:
        found = pattern.fullmatch(part)
        if found is not None:
            values = found.groupdict()
            if "slices" in values:
                values["slices"] = _slices(values["slices"], words)
            return words.gettext(message) % values
    return part


def _slices(listed: str, words: NullTranslations) -> str:
    found = _AND_MORE.fullmatch(listed)
    if found is None:
        return listed
    return words.gettext("%(list)s and %(count)s more") % found.groupdict()
