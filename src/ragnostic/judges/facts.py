"""What an answer claims: facts that the query does not name, and the entity of each (METRICS 12).

The entity is what the answer and the query both name; the rarest of it for a number, all of it
for a name, since many chunks on a topic hold its names. An answer that names nothing of the query
has the rarest of its own names for its numbers, and else the two rarest content words of the query
stand for the entity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Count = Callable[[str], int]
"""How many chunks hold a term."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Numbers and names that are new in the answer, and the names that some chunk holds: ``topic``
    those that the query has too, ``named`` all, both rarest first.
    """

    numbers: tuple[str, ...]
    names: tuple[str, ...]
    topic: tuple[str, ...]
    named: tuple[str, ...]

    @property
    def needs_words(self) -> bool:
        """Whether the query's content words must stand for the entity of some fact."""
        return not self.topic and bool(self.names or (self.numbers and not self.named))


NO_FACTS = Facts((), (), (), ())


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact, and the terms that must stand in the same chunk."""

    fact: str
    entity: tuple[str, ...]


def new_facts(numbers: Sequence[str], names: Sequence[str], query: str, count: Count) -> Facts:
    """The facts among the numbers and names of an answer to a query; all in plain form.

    >>> counts = {" acme ": 2, " vpn ": 1}
    >>> new_facts([" 24 个月"], [" acme ", " vpn "], " vpn 保修多久", counts.__getitem__)
    Facts(numbers=(' 24 个月',), names=(' acme ',), topic=(' vpn ',), named=(' vpn ', ' acme '))
    """
    if not numbers and not names:
        return NO_FACTS
    asked = {term for term in (*numbers, *names) if term.strip() in query}
    named = rarest(names, count)
    return Facts(
        tuple(number for number in numbers if number not in asked),
        tuple(name for name in names if name not in asked),
        tuple(name for name in named if name in asked),
        named,
    )


def claims(facts: Facts, words: Sequence[str]) -> tuple[list[Claim], tuple[str, ...]]:
    """The claims, and the entity whose chunks are soft-relevant; ``words`` are the query's, rarest
    first. A fact without any entity is no claim.

    >>> facts = Facts((" 24 个月",), (), (), ())
    >>> claims(facts, ("保修", "期限", "多久"))
    ([Claim(fact=' 24 个月', entity=('保修', '期限'))], ('保修', '期限'))
    """
    instead = tuple(words[:2])
    entity = facts.topic[:1] or facts.named[:1] or instead
    found = [Claim(number, entity) for number in facts.numbers]
    found += [Claim(name, facts.topic or instead) for name in facts.names]
    return [claim for claim in found if claim.entity], entity


def rarest(terms: Sequence[str], count: Count) -> tuple[str, ...]:
    """The terms that some chunk holds, the rarest first."""
    counts = {term: count(term) for term in terms}
    return tuple(sorted((term for term in counts if counts[term]), key=counts.__getitem__))
