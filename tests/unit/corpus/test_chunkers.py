"""The five chunkers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ragnostic.corpus.chunkers import (
    FixedChunker,
    MarkdownChunker,
    RecursiveChunker,
    SentenceChunker,
    WholeDocument,
)
from ragnostic.corpus.chunking import chunk_documents
from ragnostic.ports import Resources
from ragnostic.records import Document
from ragnostic.text import count_tokens

CUTTING = [FixedChunker, RecursiveChunker, MarkdownChunker, SentenceChunker]
PIECES = st.sampled_from(
    [
        "年假",
        "五天。",
        "，",
        "word ",
        "unbreakable" * 3,
        "e\u0301te\u0301 ",
        "👩\u200d👩\u200d👧",
        "No. 5",
        "End. ",
        "\n",
        "\r\n",
        "\n\n",
        "# H\n",
        "## 二\n",
        "```\n",
        "| a | b |\n",
        "- x\n",
        "===\n",
        "  ",
        "_",
        "?",
        "......",
        "\u2028",
        "\x85",
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=200))


@pytest.mark.parametrize("chunker", CUTTING)
@given(text=TEXTS, size=st.integers(1, 30), data=st.data())
def test_chunks_are_in_order_within_size_and_cover_all_but_white_space(chunker, text, size, data):
    """For any text, size and overlap: exact offsets, no loss, no chunk above the size."""
    overlap = data.draw(st.integers(0, size - 1))
    document = Document("d", text)
    chunks = chunker(max_tokens=size, overlap=overlap).chunk(document)
    assert chunks == chunker(max_tokens=size, overlap=overlap).chunk(document)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    covered = 0
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text == chunk.text.strip()
        assert 0 < chunk.tokens == count_tokens(chunk.text) <= size
        assert not text[covered : chunk.start].strip()
        assert chunk.end > covered
        assert count_tokens(text[chunk.start : covered]) <= overlap
        covered = chunk.end
    assert not text[covered:].strip()
    starts = [chunk.start for chunk in chunks]
    assert all(left < right for left, right in itertools.pairwise(starts))


def test_an_insertion_elsewhere_keeps_the_ids_of_untouched_chunks():
    """A longer first paragraph changes no id of the sections after it."""
    body = "".join(f"\n\n## Part {n}\n\n" + f"Sentence {n} says this. " * 3 for n in range(4))
    chunker = MarkdownChunker(60, 0)
    before = {chunk.id for chunk in chunker.chunk(Document("d", "Intro." + body))}
    after = {chunk.id for chunk in chunker.chunk(Document("d", "Intro. And more." + body))}
    assert len(before & after) == len(before) - 1 == 4


@pytest.mark.parametrize("chunker", CUTTING)
def test_a_blank_document_has_no_chunks(chunker):
    """White space alone is nothing to retrieve."""
    assert chunker().chunk(Document("d", " \n\t\r\n")) == []
    assert chunker().chunk(Document("d", "")) == []


@pytest.mark.parametrize("chunker", CUTTING)
def test_the_title_is_the_context(chunker):
    """The title is searched with each chunk but is no part of its text."""
    (chunk,) = chunker().chunk(Document("d", "body", title="Handbook"))
    assert (chunk.context, chunk.text) == ("Handbook", "body")


@pytest.mark.parametrize("chunker", [*CUTTING, WholeDocument])
def test_a_chunker_is_built_from_its_options(chunker):
    """``build`` takes the class's own options."""
    assert chunker.build(chunker.Options(), Resources()).chunk(Document("d", "x"))[0].text == "x"


def test_an_overlap_that_leaves_no_room_is_refused():
    """The overlap must be smaller than the chunk."""
    with pytest.raises(ValidationError, match=r"overlap \(40\) must be smaller than max_tokens"):
        FixedChunker.Options(max_tokens=40)


def test_equal_texts_in_one_document_have_different_ids():
    """The occurrence is part of the id."""
    text = "同一句话。\n\n另一句话。\n\n同一句话。"
    chunks = RecursiveChunker(max_tokens=5, overlap=0).chunk(Document("d", text))
    assert [chunk.text for chunk in chunks] == ["同一句话。", "另一句话。", "同一句话。"]
    assert len({chunk.id for chunk in chunks}) == 3


def test_whole_documents_keep_their_key_and_blank_ones_stay():
    """``none`` gives one chunk a document under the business key."""
    chunks = chunk_documents([Document("4983", "t", "T"), Document("b", "")], WholeDocument())
    assert [(chunk.id, chunk.doc_id, chunk.text) for chunk in chunks] == [
        ("4983", "4983", "t"),
        ("b", "b", ""),
    ]


def test_chinese_sentences_are_never_cut_when_they_fit():
    """The sentence chunker ends every chunk at a sentence end."""
    text = "第一条规定如下。员工每年有五天年假！还有疑问吗？请问人事。" * 5
    for chunk in SentenceChunker(max_tokens=30, overlap=10).chunk(Document("d", text)):
        assert chunk.text[-1] in "。！？"
        assert chunk.text[0] in "第员还请"


def test_a_long_word_is_cut_but_short_ones_are_not():
    """Only a run that alone is longer than the size is cut inside."""
    text = "short words here " + "x" * 50 + " again"
    texts = [chunk.text for chunk in FixedChunker(5, 0).chunk(Document("d", text))]
    assert texts == ["short words here", "x" * 20, "x" * 20, "x" * 10 + " again"]


def test_the_recursive_chunker_prefers_a_paragraph_when_it_is_half_full():
    """A coarse break wins over a full chunk, but not over an almost empty one."""
    text = "A b c d e f.\n\nG h. I j k l m n o p."
    texts = [chunk.text for chunk in RecursiveChunker(10, 0).chunk(Document("d", text))]
    assert texts == ["A b c d e f.", "G h. I j k l m n o", "p."]


def test_markdown_chunks_carry_their_heading_path():
    """Title and headings above a chunk are its context; a title is not said twice."""
    text = (
        "intro\n# Leave\nDays.\n## Sick\nCall.\n### Notes\nFever.\n## Annual\nFive.\n# Pay\n25th."
    )
    chunks = MarkdownChunker().chunk(Document("d", text, title="Leave"))
    assert [chunk.context for chunk in chunks] == [
        "Leave",
        "Leave",
        "Leave > Sick",
        "Leave > Sick > Notes",
        "Leave > Annual",
        "Leave > Pay",
    ]
    assert chunks[2].text == "## Sick\nCall."


def test_a_code_fence_stays_whole_when_it_fits_a_chunk():
    """Text before a fence is cut off early rather than the fence cut in two."""
    fence = "```python\n# not a heading\n\ncall(a, b)\n\ncall(c, d)\n```"
    text = "Some words first.\n\n" + fence + "\n\nAnd then some more words after it."
    texts = [chunk.text for chunk in MarkdownChunker(32, 4).chunk(Document("d", text))]
    assert any(fence in piece for piece in texts)


def test_a_fence_longer_than_a_chunk_is_cut_between_lines():
    """What cannot be kept whole is cut at the next best place."""
    fence = "```\n" + "".join(f"line {n} of code\n" for n in range(20)) + "```"
    for chunk in MarkdownChunker(20, 0).chunk(Document("d", fence)):
        assert chunk.text.startswith(("```", "line"))
        assert chunk.text.endswith(("```", "code"))


def test_table_rows_are_not_cut():
    """A long table is cut between its rows."""
    rows = [f"| {n} | 北京到上海，高铁二等座；每天。 | 500 |" for n in range(12)]
    text = "\n".join(["| a | b | c |", "|---|---|---|", *rows])
    for chunk in MarkdownChunker(60, 25).chunk(Document("d", text)):
        for line in chunk.text.split("\n"):
            assert line.startswith("|")
            assert line.endswith("|")
