"""Every fenced block of the README and the docs is run, or read by what it is written for."""

from __future__ import annotations

import ast
import doctest
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from ragnostic import plugins
from ragnostic.adapters.expressions import search
from ragnostic.config import load
from ragnostic.config.source import read_source
from ragnostic.corpus.documents import load_documents
from ragnostic.evalset.loading import load_evaluation_set
from ragnostic.metrics import Metric, definitions, registry
from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.notify.channel import plan_channels

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
OPEN = re.compile(r'(?P<ticks>`{3,})(?P<language>\w*)(?: title="(?P<title>[^"]+)")?$')
EXPRESSIONS = ("ids", "texts", "scores", "doc_ids", "took_ms")
STUB_QUERY = '{"query_id": "q1", "query": "leave", "gold": ["d1"]}\n'
STUB_DOCUMENT = '{"_id": "d1", "text": "Annual leave is twenty days."}\n'
ELLIPSIS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Fence:
    """A fenced block: where it begins, its language, its title (a file name, or a caption)."""

    where: str
    language: str
    title: str
    body: str

    @property
    def file(self) -> str:
        """The file that the block is, or '' for a caption or no title."""
        return "" if " " in self.title or "." not in self.title else self.title


def fences(page: Path) -> list[Fence]:
    """The blocks of a page, in order."""
    found: list[Fence] = []
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        begun = OPEN.match(line)
        if begun is None:
            assert not line.lstrip().startswith("```"), f"{page.name}:{number}: {line}"
            continue
        body = []
        for _, inner in lines:
            if inner == begun["ticks"]:
                break
            body.append(inner)
        where = f"{page.relative_to(ROOT)}:{number}"
        text = "\n".join(body) + "\n"
        found.append(Fence(where, begun["language"], begun["title"] or "", text))
    return found


class Reader:
    """One reader of one page, who types everything into an empty folder."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.names: dict[str, object] = {"__name__": "page"}
        self.answer: object = None

    def save(self, fence: Fence) -> None:
        """Save the block if it is a file."""
        if fence.file:
            target = self.folder / fence.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(fence.body, encoding="utf-8")

    def follow(self, fence: Fence) -> None:
        """Save the block if it is a file, then do what its language asks for."""
        self.save(fence)
        getattr(self, f"_{fence.language}")(fence)

    def _console(self, fence: Fence) -> None:
        code = 0
        steps = re.split(r"^\$ ", fence.body, flags=re.MULTILINE)
        assert not steps[0].strip(), f"{fence.where}: output before the first command"
        commands = [step.partition("\n")[::2] for step in steps[1:]]
        for place, (command, wanted) in enumerate(commands):
            if command == "echo $?":
                assert wanted.strip() == str(code), f"{fence.where}: exit {code}"
                continue
            code, said = self._run(fence.where, command)
            asked = place + 1 < len(commands) and commands[place + 1][0] == "echo $?"
            assert code == 0 or asked, f"{fence.where}: $ {command}\nexit {code}\n{said}"
            if wanted.strip():
                same = doctest.OutputChecker().check_output(wanted, said, ELLIPSIS)
                assert same, f"{fence.where}: $ {command}\n{said}"

    def _run(self, where: str, command: str) -> tuple[int, str]:
        words = shlex.split(command)
        if words[0] == "export":
            self.environment |= dict(word.split("=", 1) for word in words[1:])
            return 0, ""
        if words[0] != "ragnostic":
            check_other(where, words)
            return 0, ""
        arguments = [part for word in words[1:] for part in self._expanded(word)]
        done = subprocess.run(
            [sys.executable, "-m", "ragnostic", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout

    def _expanded(self, word: str) -> list[str]:
        found = glob.glob(word, root_dir=self.folder) if "*" in word else []  # noqa: PTH207 (keeps the word relative)
        return sorted(found) or [word]

    def _python(self, fence: Fence) -> None:
        tree = ast.parse(fence.body)
        if fence.file:
            return
        lines = fence.body.splitlines()
        for node in tree.body:
            module = ast.Module([node], [])
            said = re.search(r"  # (.+)$", lines[(node.end_lineno or 1) - 1])
            if isinstance(node, ast.Expr) and said:
                value = eval(  # noqa: S307 (our own docs)
                    compile(ast.Expression(node.value), fence.where, "eval"), self.names
                )
                same = doctest.OutputChecker().check_output(said[1], repr(value), ELLIPSIS)
                assert same, f"{fence.where}: {lines[node.lineno - 1]} is {value!r}"
            else:
                exec(compile(module, fence.where, "exec"), self.names)  # noqa: S102 (the same)

    def _toml(self, fence: Fence) -> None:
        tree = tomllib.loads(fence.body)
        if "project" in tree:
            return
        if fence.file == "alerts.toml":
            self._channels(fence)
            return
        path = self.folder / fence.file if fence.file else self._stub(tree, fence.body)
        loaded = load(path, find_plugin=plugins.load, check_metric=Metric.parse)
        http = tree.get("retrieve", {}).get("http")
        if http and self.answer is not None:
            for stage in http.get("stages", {"": http}).values():
                for name in EXPRESSIONS:
                    if name in stage:
                        assert search(fence.where, stage[name], self.answer) is not None
            self.answer = None
        assert loaded.settings.dataset.paths

    def _channels(self, fence: Fence) -> None:
        path = self.folder / fence.file
        path.write_text(fence.body, encoding="utf-8")
        _, faults = plan_channels(read_source(path, ()))
        assert not faults, f"{fence.where}: {faults}"
        assert load_rules(path).rules

    def _stub(self, tree: dict, text: str) -> Path:
        """A whole configuration around a fragment, with the files that it names."""
        folder = self.folder / "stub"
        folder.mkdir(exist_ok=True)
        (folder / "eval.jsonl").write_text(STUB_QUERY)
        (folder / "corpus.jsonl").write_text(STUB_DOCUMENT)
        if "dataset" not in tree:
            text = f'[dataset]\npath = "eval.jsonl"\ncorpus = "corpus.jsonl"\n{text}'
        dataset = tree.get("dataset", {})
        for name in filter(None, [dataset.get("path"), dataset.get("corpus")]):
            for one in [name] if isinstance(name, str) else name:
                if not (folder / one).exists() and not Path(one).suffix:
                    (folder / one).mkdir(parents=True)
                    (folder / one / "corpus.jsonl").write_text(STUB_DOCUMENT)
                elif not (folder / one).exists():
                    (folder / one).write_text(STUB_QUERY)
        path = folder / "eval.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def _json(self, fence: Fence) -> None:
        value = json.loads(fence.body)
        if fence.title.startswith("answer"):
            self.answer = value

    def _yaml(self, fence: Fence) -> None:
        assert yaml.safe_load(fence.body)

    def _jsonl(self, fence: Fence) -> None:
        if fence.title.startswith("broken"):
            return
        rows = [json.loads(line) for line in fence.body.splitlines()]
        path = self.folder / (fence.file or "rows.jsonl")
        path.write_text(fence.body, encoding="utf-8")
        faults: list = []
        if "text" in rows[0]:
            assert len(load_documents(path, faults=faults)) == len(rows)
        elif "query" in rows[0] and "retrieve" not in rows[0]:  # a log is read by what follows it
            assert len(load_evaluation_set(path, faults=faults)) == len(rows)
        assert not faults, f"{fence.where}: {faults}"

    def _file(self, fence: Fence) -> None:
        known = fence.file or fence.where.startswith("docs/reference/")
        assert known, f"{fence.where}: a block that nobody checks"

    _text = _csv = _tsv = _markdown = _file


def check_other(where: str, words: list[str]) -> None:
    """Commands that are not ours: their targets, files and extras exist."""
    words = [word for word in words if not re.fullmatch(r"[A-Z_]+=\S+", word)]
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        for target in words[1:]:
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{where}: no {target}"
        return
    if words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        for extra in re.findall(r"\[(\w+)\]", " ".join(words)):
            assert extra in extras["project"]["optional-dependencies"], where
        return
    program = words[0].removeprefix(".venv/bin/")
    assert program in {"python", "pytest", "pybabel"} or (ROOT / program).exists(), where
    for word in words[1:]:
        if word.startswith(("tests/", "scripts/", "src/")):
            assert (ROOT / word.partition("::")[0]).exists(), f"{where}: no {word}"


@pytest.fixture
def known_metrics():
    """Forgets the metrics that a page registers as an example."""
    tuple(definitions())  # imports them all
    before = dict(registry._REGISTRY)
    yield
    registry._REGISTRY.clear()
    registry._REGISTRY.update(before)
    registry.lookup.cache_clear()


@pytest.mark.usefixtures("known_metrics")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_is_true(page, tmp_path, monkeypatch):
    """Commands print what stands below them, code runs, configurations load, files are read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    kept = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"HOME": str(tmp_path), "COLUMNS": "100", "PYTHONUTF8": "1"}
    reader = Reader(tmp_path, environment)
    blocks = fences(page)
    for fence in reversed(blocks):  # a page may show a configuration before the files it names
        reader.save(fence)
    for fence in blocks:
        reader.follow(fence)


def commands(page: Path) -> list[str]:
    """The commands, configurations and code of a page without comments: what a reader types."""
    kept = []
    for fence in fences(page):
        lines = fence.body.splitlines()
        if fence.language == "console":
            kept += [line for line in lines if line.startswith("$ ")]
        else:
            kept += [line.partition("#")[0].rstrip() for line in lines]
    return kept


def test_the_chinese_readme_says_the_same():
    """Commands, code and configurations are equal line by line; only comments are translated."""
    assert commands(ROOT / "README.zh.md") == commands(ROOT / "README.md")
