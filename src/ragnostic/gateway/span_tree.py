"""The spans of a trace as a tree: roots, children, and orphans whose parent never came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ragnostic.gateway.span_reading import Reading, Role, fuller, plain


class SpanTree:
    """Spans by id, of each the fullest version; in order of start, then of id.

    >>> tree = SpanTree([Reading("t", "b", "a"), Reading("t", "a"), Reading("t", "c", "x")])
    >>> tree.roots, dict(tree.children), tree.orphans
    (('a',), {'a': ('b',)}, ('c',))
    """

    def __init__(self, readings: Iterable[Reading]) -> None:
        found: dict[str, Reading] = {}
        for reading in readings:
            known = found.get(reading.span_id)
            found[reading.span_id] = reading if known is None else fuller(known, reading)
        ordered = sorted(found.values(), key=lambda reading: (reading.start_ns, reading.span_id))
        self.spans: Mapping[str, Reading] = {reading.span_id: reading for reading in ordered}
        self._below: dict[str, tuple[Reading, ...]] = {}
        self._prompts: dict[str, str] = {}
        self._of_role: dict[tuple[Role, str | None], tuple[Reading, ...]] = {}

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The spans that nothing called."""
        return tuple(key for key, span in self.spans.items() if span.parent_id is None)

    @cached_property
    def orphans(self) -> tuple[str, ...]:
        """The spans whose parent is not here."""
        spans = self.spans.items()
        return tuple(key for key, span in spans if span.parent_id and self.parent(span) is None)

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """The spans that each span called."""
        found: dict[str, list[str]] = {}
        for key, span in self.spans.items():
            above = self.parent(span)
            if above is not None:
                found.setdefault(above.span_id, []).append(key)
        return {key: tuple(below) for key, below in found.items()}

    @cached_property
    def detail(self) -> int:
        """How much the trace says; it only ever grows."""
        return sum(span.detail for span in self.spans.values())

    def parent(self, span: Reading) -> Reading | None:
        """The span that called this one, where it is here."""
        return self.spans.get(span.parent_id or "")

    def ancestors(self, span: Reading) -> Iterator[Reading]:
        """The spans above, the nearest first; ids that go in circles come to an end."""
        seen = {span.span_id}
        above = self.parent(span)
        while above is not None and above.span_id not in seen:
            seen.add(above.span_id)
            yield above
            above = self.parent(above)

    def descendants(self, span_id: str) -> tuple[Reading, ...]:
        """The spans below, in order of start."""
        if span_id not in self._below:
            seen = {span_id}
            waiting = [span_id]
            while waiting:
                below = [key for key in self.children.get(waiting.pop(), ()) if key not in seen]
                seen.update(below)
                waiting += below
            found = [self.spans[key] for key in seen if key != span_id]
            found.sort(key=lambda span: (span.start_ns, span.span_id))
            self._below[span_id] = tuple(found)
        return self._below[span_id]

    def of_role(self, role: Role, below: str | None = None) -> tuple[Reading, ...]:
        """The spans of a role, all of them or those below one, in order of start."""
        key = (role, below)
        if key not in self._of_role:
            spans = self.spans.values() if below is None else self.descendants(below)
            self._of_role[key] = tuple(span for span in spans if span.role == role)
        return self._of_role[key]

    def prompt_of(self, model: Reading) -> str:
        """What a model was shown, in its plain form: worked out once for all retrievals."""
        if model.span_id not in self._prompts:
            self._prompts[model.span_id] = plain(model.prompt)
        return self._prompts[model.span_id]

    @cached_property
    def asked_by(self) -> tuple[str | None, str | None]:
        """The session and the user that the first span to know them names."""
        sessions = (span.session_id for span in self.spans.values() if span.session_id)
        users = (span.user_id for span in self.spans.values() if span.user_id)
        return next(sessions, None), next(users, None)

    def root_of(self, span: Reading) -> Reading | None:
        """The root above a span (itself, maybe); else the first root of the trace."""
        top = (span, *self.ancestors(span))[-1]
        if top.parent_id is None:
            return top
        return self.spans[self.roots[0]] if self.roots else None

    def distance(self, one: Reading, other: Reading) -> int:
        """Steps from one span up to what it has in common with the other; many where nothing."""
        mine = [one.span_id, *(span.span_id for span in self.ancestors(one))]
        theirs = {other.span_id, *(span.span_id for span in self.ancestors(other))}
        return next((step for step, key in enumerate(mine) if key in theirs), len(self.spans) + 1)
