"""Planted causes: python benchmarks/diagnosis.py FOLDER (of the real sets) [--sets rgb-zh].

A clean system first; then the same with each fault planted alone, then with all at once, then all
but one, which is that fault mended. Every run goes through ``ragnostic eval`` and ``ragnostic
diagnose``. What the true cause of a miss is follows from what was planted where; prints Markdown
for RESULTS.md: the confusion matrix, what is said of the clean system, and predicted gains beside
those that came.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planted_faults import FAULTS, Planted, System, Told, run
from planted_sets import READERS, Question

NATURAL = ("representation", "cut_off")
"""What a system without faults can still lose items by."""
SIDE = "none planted"


@dataclass(frozen=True, slots=True)
class Clean:
    """What was said of the system without faults. ``invented``: misses given another cause than
    exact ranks by brute force give them.
    """

    items: int
    missed: int
    invented: int


@dataclass(frozen=True, slots=True)
class Mended:
    """A fault mended: what was predicted, with its interval, and what came."""

    where: str
    cause: str
    gain: float
    low: float
    high: float
    came: float

    @property
    def held(self) -> bool:
        """Whether it came within the interval."""
        return self.low - 1e-9 <= self.came <= self.high + 1e-9


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that one set says."""

    clean: Clean
    matrix: Mapping[tuple[str, str], int]
    mended: Sequence[Mended]

    def right(self) -> tuple[int, int]:
        """Planted misses that were given their cause, and all of them."""
        rows = {key: count for key, count in self.matrix.items() if key[0] != SIDE}
        return sum(n for (true, said), n in rows.items() if true == said), sum(rows.values())


def measure(system: System, questions: Sequence[Question], scratch: Path) -> Outcome:
    """Clean, alone, mixed, and mended one by one."""
    first = run(system, questions, Planted(), scratch / "clean")
    clean = Clean(
        len(questions),
        len(first.causes),
        sum(system.natural(first, query_id) != said for query_id, said in first.causes.items()),
    )
    kept = [question for question in questions if question.id not in first.causes]
    planted = system.plant(kept)
    matrix: Counter[tuple[str, str]] = Counter()
    mended: list[Mended] = []
    whole = run(system, kept, Planted(), scratch / "kept").recall
    for fault in FAULTS:
        alone = planted.only({fault})
        told = run(system, kept, alone, scratch / fault)
        matrix += _confusion(system, alone, told)
        mended += _mended("alone", fault, told, whole)
    told = run(system, kept, planted, scratch / "mixed")
    matrix += _confusion(system, planted, told)
    for fault in FAULTS:
        rest = replace(planted, active=planted.active - {fault})
        mended += _mended(
            "mixed", fault, told, run(system, kept, rest, scratch / f"no-{fault}").recall
        )
    return Outcome(clean, matrix, mended)


def _confusion(system: System, planted: Planted, told: Told) -> Counter[tuple[str, str]]:
    return Counter(
        (system.truth(planted, told, query_id) or SIDE, said)
        for query_id, said in told.causes.items()
    )


def _mended(where: str, fault: str, told: Told, recall: float) -> Iterator[Mended]:
    if fault in told.gains:
        yield Mended(where, fault, *told.gains[fault], recall - told.recall)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(READERS))
    parser.add_argument("--keep", type=Path, help="where scenarios are kept")
    given = parser.parse_args()
    for name in given.sets.split(","):
        documents, questions = READERS[name](given.data / name)
        with tempfile.TemporaryDirectory() as scratch:
            folder = (given.keep or Path(scratch)) / name
            found = measure(*System.of(documents, questions, cut_up=name != "rgb-zh"), folder)
        print(f"\n### {name}\n")
        _print(found)


def _print(found: Outcome) -> None:
    clean, (right, planted) = found.clean, found.right()
    print(
        f"Clean system: {clean.items} items, {clean.missed} missed, "
        f"{clean.invented} of them given a cause that exact search denies."
    )
    print(f"Planted misses: {planted}, {right} given their cause ({right / planted:.1%}).\n")
    said = sorted({said for _, said in found.matrix}, key=_order)
    print("| planted | " + " | ".join(said) + " |")
    print("| --- |" + " ---: |" * len(said))
    for true in sorted({true for true, _ in found.matrix}, key=_order):
        counts = [str(found.matrix.get((true, one), 0) or "") for one in said]
        print(f"| {true} | " + " | ".join(counts) + " |")
    print("\n| mended | where | predicted | 95 % | came | held |")
    print("| --- | --- | ---: | --- | ---: | --- |")
    for one in found.mended:
        print(
            f"| {one.cause} | {one.where} | {one.gain:.4f} | [{one.low:.4f}, {one.high:.4f}] "
            f"| {one.came:.4f} | {'yes' if one.held else 'no'} |"
        )
    sys.stdout.flush()


def _order(cause: str) -> tuple[int, str]:
    return (FAULTS.index(cause) if cause in FAULTS else len(FAULTS), cause)


if __name__ == "__main__":
    main()
