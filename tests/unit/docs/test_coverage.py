"""What the program has is in the docs: commands, settings, metrics, plugins, faults."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import ragnostic
from ragnostic import cli, errors, plugins
from ragnostic.config import PLUG_TABLES, TABLES
from ragnostic.metrics import definitions, signals
from ragnostic.report.catalogue import LOCALES, catalogue
from ragnostic.report.labels import fault_label
from ragnostic.text import has_han

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
NOTIFIERS = "notifiers"
KINDS = ("retrievers", "rerankers", "embedders", "chunkers", "generators", "vectorstores")
JUDGES = "judges"
"""Chosen in the settings of a store, not of an evaluation."""
GUIDES = {
    "retrieve": "retrievers.md",
    "rerank": "rerankers.md",
    "embed": "embedders.md",
    "chunk": "corpus-and-chunking.md",
    "generate": "answers.md",
    "index": "index-check.md",
}
MAKERS = {"Fault", "_fault", "_listed", "_quotes"}
"""Names of the functions whose first argument is the kind of a fault."""
WITHOUT_A_CALL = {
    "scoring/faults.py": re.compile(r'^    "(\w+)": ', re.MULTILINE),
    "scoring/faults.py found": re.compile(r'\(row, "(\w+)"'),
    "evalset/remarks.py": re.compile(r'^        \("(\w+)", "', re.MULTILINE),
    "judges/gold_faults.py": re.compile(r'^ {12,16}\(?"(span_\w+|\w+_with_gold)",', re.MULTILINE),
}
"""Modules that keep kinds in tables, and how a kind looks there."""


def page(name: str) -> str:
    """The text of a page below docs."""
    return (DOCS / name).read_text(encoding="utf-8")


def test_reference_pages_are_what_the_program_says():
    """``scripts/generate-docs`` has been run since the last change."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/generate-docs"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_a_command_is_in_the_reference(name):
    """Each has its heading."""
    assert f"\n## ragnostic {name}\n" in page("reference/cli.md")


def test_no_page_names_a_command_that_does_not_exist():
    """What is planned is not documented as if it were there."""
    for path in [ROOT / "README.md", ROOT / "README.zh.md", *DOCS.rglob("*.md")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            for word in re.findall(r"(?:^\$ |`)ragnostic (\w+)", line):
                assert word in cli.COMMANDS, f"{path.name}: ragnostic {word}"


@pytest.mark.parametrize("table", TABLES)
def test_a_setting_is_in_the_reference(table):
    """Each key has a row below its table's heading."""
    text = page("reference/settings.md")
    section = text.partition(f"\n## [{table}]\n")[2].partition("\n## ")[0]
    for key in TABLES[table].model_fields:
        assert f"\n| `{key}` |" in section, f"{table}.{key}"


@pytest.mark.parametrize("table", PLUG_TABLES)
def test_an_implementation_and_its_options_are_explained(table):
    """By name in its guide, with every option; the reference has its table."""
    guide, reference = page(GUIDES[table]), page("reference/settings.md")
    for name in plugins.names(PLUG_TABLES[table].kind):
        assert re.search(rf'`{name}`|"{name}"|## {name}\n', guide), name
        assert f"\n### [{table}.{name}]: " in reference
        for option in plugins.load(PLUG_TABLES[table].kind, name).Options.model_fields:
            assert re.search(rf"[`\[]{option}\b", guide), f"{table}.{name}.{option}"


@pytest.mark.parametrize("table", PLUG_TABLES)
def test_every_option_says_what_it_does(table):
    """Options inside options too; the reference shows it."""
    for name in plugins.names(PLUG_TABLES[table].kind):
        schema = plugins.load(PLUG_TABLES[table].kind, name).Options.model_json_schema()
        for part in (schema, *schema.get("$defs", {}).values()):
            for option, field in part.get("properties", {}).items():
                assert field.get("description"), f"{table}.{name}: {option}"


def test_there_are_no_other_kinds_of_plugins():
    """A new group of entry points needs a guide too."""
    groups = {group for group in entry_points().groups if group.startswith("ragnostic.")}
    assert groups == {f"ragnostic.{kind}" for kind in (*KINDS, JUDGES, NOTIFIERS)}
    assert {plug.kind for plug in PLUG_TABLES.values()} == set(KINDS)
    for judge in plugins.names(JUDGES):
        assert f"`{judge}`" in page("judges.md")
    for channel in plugins.names(NOTIFIERS):
        assert f"`{channel}`" in page("channels.md")


@pytest.mark.parametrize("name", [one.name for one in (*definitions(), *signals())])
def test_a_metric_is_in_the_reference(name):
    """Each has its heading."""
    assert f"\n## {name}\n" in page("reference/metrics.md")


def fault_kinds() -> Iterator[tuple[str, str]]:
    """(kind, module) of every fault in the source."""
    source = ROOT / "src/ragnostic"
    for path in sorted(source.rglob("*.py")):
        where = path.relative_to(source).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            kind = node.args[0] if node.args and node.func.id in MAKERS else None
            if isinstance(kind, ast.Constant):
                yield str(kind.value), where
    for name, pattern in WITHOUT_A_CALL.items():
        where = name.partition(" ")[0]
        found = pattern.findall((source / where).read_text(encoding="utf-8"))
        assert found, f"no kind in {where} any more: mend the pattern"
        yield from ((kind, where) for kind in found)


def computed_kinds() -> set[str]:
    """Modules that make a fault whose kind is no literal."""
    source = ROOT / "src/ragnostic"
    return {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Fault"
        and node.args
        and not isinstance(node.args[0], ast.Constant)
    }


def test_every_kind_of_fault_is_explained():
    """Each has a row that says what it means and what to do."""
    text = page("faults.md")
    kinds = sorted(set(fault_kinds()))
    missing = [f"{kind} ({where})" for kind, where in kinds if f"\n| `{kind}` |" not in text]
    assert missing == []


@pytest.mark.parametrize("language", LOCALES)
def test_every_explained_kind_of_fault_has_a_label_in_the_report(language):
    """In the language of the page, never the bare kind."""
    words = catalogue(language)
    for kind in re.findall(r"^\| `(\w+)` \|", page("faults.md"), re.MULTILINE):
        label = fault_label(kind, words)
        assert label[0].isupper() if language == "en" else has_han(label), kind


def test_every_explained_kind_of_fault_exists():
    """A page that explains what no program says is wrong too."""
    known = {kind for kind, _ in fault_kinds()}
    explained = re.findall(r"^\| `(\w+)` \|", page("faults.md"), re.MULTILINE)
    assert sorted(explained) == sorted(known)


def test_kinds_of_faults_are_literals_or_in_known_places():
    """A kind that is computed elsewhere would escape the tests above."""
    assert computed_kinds() == {
        "evalset/grouping.py",
        "evalset/judged_run.py",
        "evalset/remarks.py",
        "judges/gold_faults.py",
        "scoring/faults.py",
        "scoring/scored.py",
    }


def test_every_exit_code_of_this_version_is_in_the_readme_and_in_troubleshooting():
    """Gates come later, so their codes do not stand there yet."""
    codes = (
        errors.EXIT_OK,
        errors.EXIT_GATE,
        errors.EXIT_INCONCLUSIVE,
        errors.EXIT_USAGE,
        errors.EXIT_DATA,
        errors.EXIT_RETRIEVAL,
        errors.EXIT_INTERRUPTED,
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = page("troubleshooting.md")
    for code in codes:
        assert re.search(rf"\b{code} \w", readme.partition("Exit codes:")[2])
        assert f"\n| {code} |" in table


@pytest.mark.parametrize("name", ragnostic.__all__)
def test_a_public_name_is_in_the_python_page(name):
    """And is imported there as a reader would."""
    assert re.search(rf"from ragnostic import [\w, ]*\b{name}\b", page("python.md"))


def test_the_readme_counts_the_demos_questions():
    """The set grows, the sentence with it."""
    folder = ROOT / "src/ragnostic/evalset/demo"
    files = (folder / name for name in ("zh.jsonl", "en.jsonl"))
    count = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    for name in ("README.md", "README.zh.md"):
        assert f"{count} " in (ROOT / name).read_text(encoding="utf-8")
