"""A diagnosis for people: what to mend first, the causes in pipeline order, examples with text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import typer

from ragnostic.cli.console import print_table
from ragnostic.diagnose.diagnosis import Attributed, Diagnosis
from ragnostic.diagnose.gains import Gain
from ragnostic.diagnose.page import ranks_of
from ragnostic.errors import counted
from ragnostic.report.diagnosis_words import ADVICE, RANKS, TITLES
from ragnostic.report.numbers import decimal, percent, signed
from ragnostic.report.visible import visible

_HEAD = ("first cause", "missed", "share", "if mended", "low", "high", "at most", "in order")
_TEXT = 160


def print_diagnosis(found: Diagnosis, texts: Mapping[str, str | None]) -> None:
    """The table of causes, what to mend first, and examples."""
    items = counted(len(found.found.items), "relevant item")
    queries = counted(len(found.found.asked), "query", "queries")
    typer.echo(
        f"{len(found.misses)} of {items} of {queries} missed; {found.metric} "
        f"{decimal(found.found.recall)}"
    )
    if not found.misses:
        return
    print_table(_HEAD, [_row(gain) for gain in found.gains])
    typer.echo(
        f"if mended: gain in {found.metric} if this alone is mended, 95 % interval; in order: "
        f"{found.metric} if it and all above it are"
    )
    if found.first is not None:
        for line in _first(found.first, found.metric):
            typer.echo(line)
    for gain in found.gains:
        _print_examples(found, gain, texts)
    if found.untested:
        names = ", ".join(f"{TITLES[name]} ({n})" for name, n in found.untested.items())
        typer.echo(f"\nnot tested for items that stay unexplained: {names}")


def summary_lines(found: Diagnosis, most: int = 3) -> list[str]:
    """The diagnosis in three lines: the most frequent causes, what to mend first, what to try."""
    items = counted(len(found.found.items), "relevant item")
    if not found.misses:
        return [f"missed: none of {items}"]
    often = sorted(found.gains, key=lambda gain: -gain.items)[:most]
    shares = ", ".join(f"{gain.share:.0%} {TITLES[gain.cause]}" for gain in often)
    missed = f"{len(found.misses)} of {items}"
    lines = [f"missed: {missed} in the top {found.found.k}: {shares}"]
    return lines if found.first is None else [*lines, *_first(found.first, found.metric)]


def _first(gain: Gain, metric: str) -> Iterator[str]:
    yield (
        f"mend first: {TITLES[gain.cause]}, worth {signed(gain.gain)} {metric} "
        f"[{signed(gain.low)}, {signed(gain.high)}]"
    )
    if gain.cause in ADVICE:
        yield f"try: {ADVICE[gain.cause]}"


def _row(gain: Gain) -> list[str]:
    return [
        TITLES[gain.cause],
        str(gain.items),
        percent(gain.share, 1),
        signed(gain.gain),
        signed(gain.low),
        signed(gain.high),
        signed(gain.ceiling),
        decimal(gain.in_order),
    ]


def _print_examples(found: Diagnosis, gain: Gain, texts: Mapping[str, str | None]) -> None:
    typer.echo(f"\n{TITLES[gain.cause]}, for example:")
    for one in found.examples(gain.cause):
        asked = found.found.asked[one.item.query_id]
        typer.echo(f"  {visible(one.item.query_id)}: {visible(asked.query[:_TEXT])}")
        for line in _facts(one, texts):
            typer.echo(f"    {visible(line)}")


def _facts(one: Attributed, texts: Mapping[str, str | None]) -> Iterator[str]:
    seen = one.evidence
    for number, half in enumerate(seen.halves, 1):
        yield f"part {number}: {_short(half)}"
    if not seen.halves:
        for id_ in one.item.ids[:1]:
            text = texts.get(id_)
            yield f"{id_}: {_short(text)}" if text else id_
    known = [f"{RANKS[name]} {rank or 'none'}" for name, rank in ranks_of(one).items()]
    if seen.by_effort is not None:
        known.append(f"{'found' if seen.by_effort else 'not found'} with a larger effort")
    if seen.overlap is not None:
        known.append(f"shares {seen.overlap:.0%} of the query's words")
    known += [hint.replace("_", " ") for hint in seen.hints]
    if known:
        yield ", ".join(known)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT else f"{line[: _TEXT - 1]}…"
