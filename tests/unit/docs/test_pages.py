"""Links lead somewhere, named tests exist, and no page knows the machine it was written on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
DECISIONS = sorted((DOCS / "decisions").glob("*.md"))


def prose(path: Path) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {word.strip().replace(" ", "-") for word in words}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_page_resolve(path):
    """Files exist, and headings are there."""
    for link in LINK.findall(prose(path)):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), f"{path.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{path.name}: {link}"


def test_every_page_can_be_reached_from_the_index():
    """No page is an orphan."""
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        path = waiting.pop()
        if path in reached or path.suffix != ".md":
            continue
        reached.add(path)
        links = (link.partition("#")[0] for link in LINK.findall(prose(path)) if ":" not in link)
        waiting += [(path.parent / link).resolve() for link in links if link]
    assert set(DOCS.rglob("*.md")) <= reached


def test_the_readme_is_short():
    """At most 150 lines."""
    for name in ("README.md", "README.zh.md"):
        assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_knows_no_machine(path):
    """No absolute path of a home, a work folder or a temporary one; no tab, no trailing space."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|Users|tmp|work|mnt)/", text)
    assert not re.search(r"[ \t]+$", text, re.MULTILINE)
    assert text.endswith("\n")


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_names_tests_that_exist(path):
    """Problem, decision, what was measured, and the test that would fail."""
    text = path.read_text(encoding="utf-8")
    for part in ("**Problem.**", "**Decision.**", "**Measured.**", "would fail"):
        assert part in text, part
    named = re.findall(r"`(test_\w+)`", text)
    assert named
    for name in named:
        files = (file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
        assert any(f"def {name}(" in file for file in files), name


def test_decisions_are_numbered_without_gaps():
    """001, 002, …; the index lists each."""
    numbers = [int(path.name[:3]) for path in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))


def test_pictures_are_moderate():
    """Each picture that a page shows exists and has less than 400 kB."""
    for path in (DOCS / "images").glob("*.png"):
        assert path.stat().st_size < 400_000, path.name
