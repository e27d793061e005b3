"""Answers cut into what is looked for in the corpus: spans, facts and names (METRICS 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragnostic.judges.names import names_in
from ragnostic.judges.plain_text import Fold, plain, undressed
from ragnostic.judges.refusals import declines, may_decline
from ragnostic.judges.values import number_facts
from ragnostic.text import language, sentence_spans

LONGEST_WHOLE = 64  # characters up to which an answer is one span


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """What one answer says. ``spans`` are pairs of its own words and their plain form, ``numbers``
    and ``names`` are in plain form.
    """

    declined: bool
    spans: tuple[tuple[str, str], ...] = ()
    numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def split_answers(
    answers: Sequence[str], *, fold: Fold = "none", min_chinese: int = 6, min_latin: int = 12
) -> list[AnswerParts]:
    """The parts of each answer, in order. A span is the answer if it is short, else a sentence of
    it; shorter ones than ``min_chinese`` (with Chinese characters) or ``min_latin`` characters in
    plain form are no span, but their facts count.

    >>> warranty, refusal, empty = split_answers(["**保修期**为24个月[1]。", "我无法回答。", "A"])
    >>> warranty.spans, warranty.numbers
    ((('保修期为24个月。', '保修期为 24 个月'),), (' 24 个月',))
    >>> refusal.declined, empty
    (True, AnswerParts(declined=False, spans=(), numbers=(), names=()))
    """
    clean = undressed(answers)
    pieces: list[str] = []
    names: list[str] = []
    ends = []
    for text in clean:
        doubtful = may_decline(text)
        declined = doubtful and declines(text)
        if not declined:
            found_pieces = _pieces(text)
            pieces += [p for p in found_pieces if not declines(p)] if doubtful else found_pieces
            names += names_in(text)
        ends.append((declined, len(pieces), len(names)))
    plain_pieces = [piece.strip(",") for piece in plain(pieces, fold, dressed=False)]
    plain_names = plain(names, fold, dressed=False)
    found = []
    piece, name = 0, 0
    for declined, piece_end, name_end in ends:
        own, plain_own = pieces[piece:piece_end], plain_pieces[piece:piece_end]
        spans = [
            pair
            for pair in zip(own, plain_own, strict=True)
            if is_span(pair[1], min_chinese, min_latin)
        ]
        numbers = dict.fromkeys(number_facts("\n".join(plain_own)))
        found.append(
            AnswerParts(declined, tuple(spans), tuple(numbers), tuple(plain_names[name:name_end]))
        )
        piece, name = piece_end, name_end
    return found


def _pieces(answer: str) -> list[str]:
    """The answer if it is short, else its sentences."""
    answer = answer.strip()
    if len(answer) <= LONGEST_WHOLE:
        return [answer]
    return [answer[start:end] for start, end in sentence_spans(answer)]


def is_span(plain_text: str, min_chinese: int, min_latin: int) -> bool:
    """Whether a plain text is long enough to be looked for by itself.

    >>> is_span("年假为 15 天", 6, 12), is_span(" days off", 6, 12)
    (True, False)
    """
    size = len(plain_text) - plain_text.count(" ")
    if size >= max(min_chinese, min_latin):
        return True
    if language(plain_text) == "zh":
        return size >= min_chinese
    return len(plain_text.strip()) >= min_latin
