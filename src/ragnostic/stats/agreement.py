"""How far graders agree: shares of equal grades, Krippendorff's alpha, Cohen's kappa; and how far
a judge finds what a labelled sample calls relevant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ragnostic.stats.intervals import wilson_interval

Apart = Literal["equal", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over the ``items`` that at least two graders graded, all ``pairs`` of their grades.

    ``equal`` and ``near`` are the shares of pairs with the same grade and with grades at most 1
    apart. ``alpha`` is 1 for full agreement and 0 for that of chance; None where all grades are
    the same, so that agreement says nothing.
    """

    items: int
    pairs: int
    equal: float | None
    near: float | None
    alpha: float | None


def agreement(grades: Sequence[Sequence[float]]) -> Agreement:
    """Agreement on items, each with the grades that it was given (one of them says nothing).

    Alpha with squared differences (interval data). Source: Krippendorff 2011, Computing
    Krippendorff's Alpha-Reliability.

    >>> found = agreement([[3, 3], [0, 1], [2, 2], [1]])
    >>> found.items, round(found.equal, 4), found.near, round(found.alpha, 4)
    (3, 0.6667, 1.0, 0.878)
    """
    shared = [np.asarray(item, dtype=np.float64) for item in grades if len(item) > 1]
    if not shared:
        return Agreement(0, 0, None, None, None)
    apart = np.array([abs(a - b) for item in shared for a, b in combinations(item, 2)])
    everything = np.concatenate(shared)
    within = sum(2 * float(item.var()) * item.size**2 / (item.size - 1) for item in shared)
    among = 2 * float(everything.var()) * everything.size**2 / (everything.size - 1)
    alpha = None if everything.min() == everything.max() else 1 - within / among
    return Agreement(
        len(shared), apart.size, float((apart == 0).mean()), float((apart <= 1).mean()), alpha
    )


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement of two graders over ``n`` pairs of grades.

    ``observed`` is the share of equal grades, None without a pair. ``kappa`` is 1 for full
    agreement and 0 for that of chance; None where chance agreement is 1: both always give one and
    the same grade, so that agreement says nothing.
    """

    n: int
    observed: float | None
    kappa: float | None

    def as_json(self) -> dict[str, Any]:
        """For strict JSON; null where undefined."""
        return asdict(self)


def cohen_kappa(
    first: Sequence[float], second: Sequence[float], *, apart: Apart = "equal"
) -> Kappa:
    """Cohen's kappa of two graders; ``first`` and ``second`` are parallel, (n,), without NaN.

    ``apart`` says how far two grades are from each other: ``equal`` takes all unequal ones as
    alike, ``linear`` and ``quadratic`` weight them by their difference or its square (weighted
    kappa). Raises ValueError where the lengths differ. Sources: Cohen 1960 and 1968.

    >>> cohen_kappa([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]).kappa
    0.3333333333333333
    >>> cohen_kappa([1, 1], [1, 1]), cohen_kappa([1, 1, 1, 0], [1, 1, 1, 1]).kappa
    (Kappa(n=2, observed=1.0, kappa=None), 0.0)
    >>> cohen_kappa([0, 1, 2, 3], [0, 1, 2, 2], apart="quadratic").kappa
    0.875
    """
    pairs = np.array([first, second], dtype=np.float64) if len(first) == len(second) else None
    if pairs is None:
        raise ValueError(f"{len(first)} grades of one grader meet {len(second)} of the other")
    n = pairs.shape[1]
    if not n:
        return Kappa(0, None, None)
    observed = float(np.count_nonzero(pairs[0] == pairs[1])) / n
    # Counts, not shares: whole numbers stay exact, so that 0 is 0 and 0/0 is seen.
    found = float(_apart(pairs[0], pairs[1], apart).sum()) * n
    grades, counts = zip(*(np.unique(side, return_counts=True) for side in pairs), strict=True)
    distances = _apart(grades[0][:, None], grades[1][None, :], apart)
    by_chance = float(counts[0] @ distances @ counts[1])
    return Kappa(n, observed, (by_chance - found) / by_chance if by_chance else None)


def _apart(
    first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], apart: Apart
) -> npt.NDArray[np.float64]:
    distance = np.abs(first - second)
    if apart == "equal":
        return (distance > 0).astype(np.float64)
    return distance if apart == "linear" else distance * distance


@dataclass(frozen=True, slots=True)
class Part:
    """A share of ``of`` things with Wilson's interval; None where there is nothing to share."""

    of: int
    share: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of_count(cls, count: int, of: int) -> Part:
        """``count`` of ``of`` things.

        >>> Part.of_count(3, 4).share, Part.of_count(0, 0)
        (0.75, Part(of=0, share=None, low=None, high=None))
        """
        return cls(of, count / of, *wilson_interval(count / of, of)) if of else cls(0)


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """A judge held against a labelled sample, chunk by chunk.

    ``both``, ``only_judge``, ``only_labels`` and ``neither`` count the pairs of query and chunk
    that are called relevant. ``precision`` is the share of the judge's relevant ones that the
    labels call so too, ``recall`` the share of the labels' that the judge found. ``grades`` weights
    how far grades are apart by its square.
    """

    both: int
    only_judge: int
    only_labels: int
    neither: int
    relevant: Kappa
    grades: Kappa
    precision: Part
    recall: Part

    def as_json(self) -> dict[str, Any]:
        """For strict JSON; null where undefined."""
        return {
            "pairs": self.relevant.n,
            "both": self.both,
            "only_judge": self.only_judge,
            "only_labels": self.only_labels,
            "neither": self.neither,
            "observed": self.relevant.observed,
            "kappa": self.relevant.kappa,
            "weighted_kappa": self.grades.kappa,
            "precision": asdict(self.precision),
            "recall": asdict(self.recall),
        }


def judge_agreement(
    labels: Sequence[float], judge: Sequence[float], *, rel: float = 1.0
) -> JudgeAgreement:
    """Agreement of a judge's grades with the labels' grades of the same pairs, parallel, (n,).

    Relevant is a grade of at least ``rel``. The intervals take pairs as independent; with many
    chunks a query they are somewhat too narrow.

    >>> found = judge_agreement([1, 1, 0, 0], [1, 0, 1, 0])
    >>> found.precision.share, found.recall.share, found.relevant.kappa
    (0.5, 0.5, 0.0)
    """
    sides = [[float(grade >= rel) for grade in side] for side in (labels, judge)]
    relevant = cohen_kappa(*sides)
    called = list(zip(*sides, strict=True))
    both, only_judge, only_labels, neither = (
        called.count(kind) for kind in ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0))
    )
    return JudgeAgreement(
        both=both,
        only_judge=only_judge,
        only_labels=only_labels,
        neither=neither,
        relevant=relevant,
        grades=cohen_kappa(labels, judge, apart="quadratic"),
        precision=Part.of_count(both, both + only_judge),
        recall=Part.of_count(both, both + only_labels),
    )
