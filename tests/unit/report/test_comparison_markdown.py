"""The summary of a comparison for a CI page."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from ragnostic.offline.compare import MARKDOWN_LIMIT, compare

HERE = Path(__file__).parent
MADE = runpy.run_path(str(HERE.parent / "offline" / "compared_run.py"))
HOSTILE = "<img src=x onerror=alert(1)> | `code` [a](javascript:x) @all\n# head"


def made(name, rankings, gold, **options):
    """A run in memory."""
    return MADE["compared_run"](name, rankings, gold, **options)


@pytest.fixture(scope="module")
def found():
    """A candidate that is worse on six of forty queries and better on two, with a gate."""
    good, gold = MADE["planted"](40, [3, 4])
    bad, _ = MADE["planted"](40, range(10, 40, 5))
    columns = {"category": {query: ("hr", "it")[n % 2] for n, query in enumerate(gold)}}
    other = made("two", bad, gold, columns=columns, settings={"chunk": {"by": "fixed"}})
    rules = ["RR@10 >= -0.01", "abs:R@10 >= 0.5", "lost <= 0.01", "RR@10{worst:category} >= -0.9"]
    return compare(made("one", good, gold, columns=columns), other, gates=rules)


def test_the_verdict_comes_first_and_everything_follows(found):
    """Metrics, gate, what else differs, settings, slices, both rankings of what changed."""
    lines = found.to_markdown(language="en").splitlines()
    assert lines[0] == "## Retrieval comparison one → two"
    assert lines[2].startswith("**no difference on 1 of 2 metrics, cannot tell on 1**")
    titles = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    assert titles == [
        f"Gate: {found.verdict}",
        "What else differs",
        "Settings that differ",
        "Slices by category, worst first (MRR@10)",
        "Biggest losses",
        "Biggest gains",
    ]
    losses = lines.index("### Biggest losses")
    assert lines[losses + 2] == ("- **q0010** q0010?: 1.0000 → 0.1667 (−0.8333), rank 1 → 6")
    assert lines[losses + 3] == "  - Base: 1. g10 ✓, 2. x10-0, 3. x10-1, 4. x10-2, 5. x10-3"
    assert lines[losses + 4].endswith("5. x10-4, 6. g10 ✓")


def test_changes_have_a_sign_and_bounds_have_none(found):
    """In the gate's table."""
    text = found.to_markdown(language="en")
    rules = {line.split("|")[1].strip(): line for line in text.splitlines() if "PASS |" in line}
    assert "| 1.0000 | [0.8577, 1.0000] |" in rules["abs:R@10 \\>= 0.5"]
    assert "| 0.1500 | [0." in next(line for line in text.splitlines() if "lost" in line)
    assert re.search(r"\| −0\.\d+ \| \[−0", text)


def test_it_speaks_chinese(found):
    """All of its own words; names of data stay."""
    text = found.to_markdown(language="zh")
    assert "## 检索对比 one → two" in text
    assert "2 项指标中 1 项" in text
    for title in ("变差最多", "变好最多", "其他不同之处"):
        assert f"### {title}" in text


def test_the_data_stays_text():
    """Ids, queries, names and settings are neither Markdown nor HTML."""
    gold = {HOSTILE: [HOSTILE], **{f"q{n}": ["a"] for n in range(9)}}
    one = made(HOSTILE, gold, gold, settings={HOSTILE: {"x": HOSTILE}})
    two = made("two", {query: ["z", *ids] for query, ids in gold.items()}, gold)
    text = compare(one, two).to_markdown(language="en")
    assert not re.search(r"(?<!\\)<", text)
    assert not re.search(r"(?<!\\)\[a", text)
    assert "\n# head" not in text
    assert "\\<img" in text


def test_very_much_data_is_cut_and_counted():
    """Queries of a megabyte, thousands of them, long ids and names."""
    long = "长" * 40_000
    gold = {f"{long}{n}": [f"{n}{long}"] for n in range(60)}
    one = made(long, gold, gold, queries=dict.fromkeys(gold, long), settings={"x": {long: long}})
    two = made(
        "two",
        {query: ["z", *ids] for query, ids in gold.items()},
        gold,
        queries=dict.fromkeys(gold, long),
    )
    text = compare(one, two).to_markdown()
    assert len(text.encode()) < MARKDOWN_LIMIT
    assert "… and 40 more" in text
    assert len(compare(one, two).to_markdown(3_000).encode()) <= 3_000


def test_queries_of_one_side_and_warnings_are_listed():
    """With their number."""
    gold = {f"q{n}": ["a"] for n in range(70)}
    base = {query: ["a"] for query in gold if query != "q7"}
    found = compare(base | {"odd": ["a", "a"]}, {}, qrels=gold | {"q1": ["b"]}, metrics=["RR@5"])
    text = found.to_markdown(language="en")
    assert "- Without results in the base: 1 (q7)" in text
    assert "- Without results in the candidate: 70 (q0, q1, " in text
    assert "… and 20 more" in text
    assert "### Warnings" in text
    assert "no results" in text


def test_values_alone_have_a_summary_too():
    """Without rankings."""
    text = compare({"RR@5": {"q": 1.0}}, {"RR@5": {"q": 0.5}}).to_markdown()
    assert "- **q**: 1.0000 → 0.5000 (−0.5000)" in text
    assert "Base:" not in text
