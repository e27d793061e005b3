"""The user's functions, for retrieval and for reranking."""

from __future__ import annotations

import asyncio
import sys

import numpy as np
import pytest
from pydantic import ValidationError

from ragnostic.adapters.python_reranker import PythonReranker
from ragnostic.adapters.python_retriever import PythonRetriever
from ragnostic.adapters.user_code import load_target
from ragnostic.errors import RetrievalError, UsageError
from ragnostic.ports import Candidate, Resources


@pytest.fixture
def write(tmp_path):
    """Write a module and forget it afterwards."""
    names = []

    def write(name: str, text: str, folder=tmp_path):
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        names.append(name)
        return folder

    yield write
    for name in names:
        sys.modules.pop(name, None)


def retrieve(write, body: str, name: str = "my_search_code"):
    """What a function ``find`` with this body retrieves."""
    folder = write(name, f"import numpy as np\n{body}")
    options = PythonRetriever.Options(target=f"{name}:find", workers=2)
    return PythonRetriever.build(options, Resources(base_dir=folder)).retrieve("q", 3)


@pytest.mark.parametrize(
    ("body", "ids", "scores"),
    [
        ("def find(query, k): return [query, k]", ("q", "3"), None),
        ("def find(query, k): return [('a', 0.5), ['b', 1]]", ("a", "b"), (0.5, 1.0)),
        ("def find(query, k): return np.array([3, 1])", ("3", "1"), None),
        ("def find(query, k): return ((i, np.float32(i)) for i in range(2))", ("0", "1"), (0, 1)),
        ("def find(query, k): return [{'id': 'a', 'score': 2, 'x': 1}]", ("a",), (2.0,)),
        ("def find(query, k): return []", (), None),
        ("async def find(query, k): return ['a']", ("a",), None),
    ],
)
def test_every_documented_form_is_read(write, body, ids, scores):
    """Lists, pairs, dicts, arrays, generators, async functions."""
    hits = retrieve(write, body)["retrieve"]
    assert (hits.ids, hits.scores, hits.top_k) == (ids, scores, 3)
    assert hits.took_ms is not None


def test_dicts_bring_texts_and_document_ids(write):
    """What the service showed is kept."""
    body = "def find(query, k): return [{'id': 1, 'text': 't', 'doc_id': None}]"
    hits = retrieve(write, body)["retrieve"]
    assert (hits.ids, hits.texts, hits.doc_ids, hits.scores) == (("1",), ("t",), (None,), None)


def test_several_stages_may_be_returned(write):
    """In the order of the dict; the time is on the last one."""
    found = retrieve(write, "def find(q, k): return {'retrieve': ['a', 'b'], 'rerank': [('b', 1)]}")
    assert list(found) == ["retrieve", "rerank"]
    assert found["retrieve"].took_ms is None
    assert found["rerank"].ids == ("b",)
    assert found["rerank"].took_ms is not None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def find(q, k): return None", "not None"),
        ("def find(q, k): return 'abc'", "not 'abc'"),
        ("def find(q, k): return [('a', 1), 'b']", "should all be"),
        ("def find(q, k): return [{'score': 1}]", "no 'id' in 1 of 1 hit"),
        (
            "def find(q, k): return [{'id': 1, 'score': 1}, {'id': 2}]",
            "no 'score' in 1 of 2 hits",
        ),
        ("def find(q, k): return [('a', float('nan'))]", "not a finite number: nan"),
        ("def find(q, k): return {}", "without a stage"),
        ("def find(q, k): return {'query': []}", "'query' as a stage name"),
        ("def find(q, k): return {1: []}", "1 as a stage name"),
        ("def find(q, k): raise KeyError('x')", "my_search_code:find raised KeyError: 'x'"),
        ("def find(q, k): raise ValueError", "raised ValueError$"),
        ("async def find(q, k): raise OSError('down')", "raised OSError: down"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_that_function(write, body, message):
    """Named, not retried, never an empty ranking."""
    with pytest.raises(RetrievalError, match=message) as caught:
        retrieve(write, body)
    assert not caught.value.retryable


def test_an_async_function_runs_inside_a_running_loop_and_keeps_its_loop(write):
    """Notebooks have a loop already; clients that a function keeps are tied to one loop."""
    body = """
import asyncio
loops = set()
async def find(q, k):
    loops.add(id(asyncio.get_running_loop()))
    return [len(loops)]
"""

    async def notebook():
        return [retrieve(write, body)["retrieve"].ids for _ in range(2)]

    assert asyncio.run(notebook()) == [("1",), ("1",)]


def test_methods_of_objects_in_packages_can_be_named(write, tmp_path):
    """A dotted module and a dotted name."""
    write("__init__", "", tmp_path / "my_package")
    write("search", "class Index:\n    find = staticmethod(len)\n", tmp_path / "my_package")
    assert load_target("my_package.search:Index.find", tmp_path)("abc") == 3
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no_such_module_here:find", "cannot import no_such_module_here: ModuleNotFoundError"),
        ("math:no_such_name", "math has no function no_such_name"),
        ("math:pi", "math has no function pi"),
    ],
)
def test_a_target_that_is_not_there_is_a_usage_error(target, message, tmp_path):
    """Before any query is sent."""
    with pytest.raises(UsageError, match=message):
        load_target(target, tmp_path)


def test_a_module_that_fails_to_import_says_why(write, tmp_path):
    """The error in the user's file is named."""
    write("broken_module", "1 / 0")
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        load_target("broken_module:find", tmp_path)


@pytest.mark.parametrize("target", ["module", "module:", ":f", "a b:f", "a:f()", "../a:f", "1a:f"])
def test_a_target_of_another_form_is_refused(target):
    """The pattern says package.module:function."""
    with pytest.raises(ValidationError):
        PythonRetriever.Options(target=target)


def test_two_runs_with_equal_module_names_use_their_own(write, tmp_path):
    """The module of an earlier run's folder is not taken for this one's; its own is reused."""
    for number in (1, 2, 2):
        folder = write("same_name", f"def f(): return {number}", tmp_path / str(number))
        assert load_target("same_name:f", folder)() == number


def test_a_module_may_not_hide_an_installed_one(write, tmp_path):
    """Replacing json in the process would break everything else."""
    (tmp_path / "sub").mkdir()
    for name in ("json", "sys"):
        (tmp_path / "sub" / f"{name}.py").write_text("def f(): pass")
        with pytest.raises(UsageError, match="already loaded"):
            load_target(f"{name}:f", tmp_path / "sub")


CANDIDATES = [Candidate("p1", "one", 0.5), Candidate("7", "seven"), Candidate("p3", "three")]


def rerank(write, body: str):
    """What a function ``order`` with this body makes of the candidates."""
    folder = write("my_rerank_code", f"import numpy as np\n{body}")
    options = PythonReranker.Options(target="my_rerank_code:order")
    reranker = PythonReranker.build(options, Resources(base_dir=folder))
    reranker.prepare(["one"])
    return reranker.rerank("q", CANDIDATES, 2)


@pytest.mark.parametrize(
    ("body", "order", "scores"),
    [
        ("def order(q, rows, n): return [rows[2]['id'], 'p1']", (2, 0), None),
        ("def order(q, rows, n): return [2, n, 0][::2]", (2, 0), None),
        ("def order(q, rows, n): return ['7']", (1,), None),
        ("def order(q, rows, n): return [('p3', 2), ('p1', 1)]", (2, 0), (2.0, 1.0)),
        ("def order(q, rows, n): return np.argsort([3, 2, 1])", (2, 1, 0), None),
        ("async def order(q, rows, n): return []", (), None),
    ],
)
def test_a_reranker_returns_ids_or_indices(write, body, order, scores):
    """Text is an id, a whole number an index; what is left out is not in the order."""
    found = rerank(write, body)
    assert (found.order, found.scores, found.truncated) == (order, scores, (False,) * 3)
    assert found.took_ms is not None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def order(q, rows, n): return ['p9']", "'p9', which is no candidate"),
        ("def order(q, rows, n): return [3]", "3, which is no candidate"),
        ("def order(q, rows, n): return [-1]", "-1, which is no candidate"),
        ("def order(q, rows, n): return [True]", "no candidate"),
        ("def order(q, rows, n): return [None]", "no candidate"),
        ("def order(q, rows, n): return ['p1', 0]", "returned 0 twice"),
        ("def order(q, rows, n): return [('p1', float('inf'))]", "not a finite number"),
        ("def order(q, rows, n): return rows[9]", "IndexError"),
    ],
)
def test_a_reranker_that_returns_anything_else_is_an_error(write, body, message):
    """A candidate is returned at most once, and only if it was offered."""
    with pytest.raises(RetrievalError, match=message):
        rerank(write, body)


def test_the_function_gets_plain_candidates(write):
    """id, text, score and nothing else."""
    body = "seen = []\ndef order(q, rows, n): seen.extend(rows); return [0]"
    rerank(write, body)
    assert sys.modules["my_rerank_code"].seen[0] == {"id": "p1", "text": "one", "score": 0.5}
    assert np.array(sys.modules["my_rerank_code"].seen).shape == (3,)


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_that_exits_fails_its_query(write, kind):
    """SystemExit neither ends the program nor the loop that later calls need."""
    body = f"import sys\n{kind} find(query, k): sys.exit(3)"
    for _ in range(2):
        with pytest.raises(RetrievalError, match="raised SystemExit: 3"):
            retrieve(write, body, f"exiting_{kind[:3]}")


def test_a_module_that_exits_on_import_is_a_usage_error(write, tmp_path):
    """A script without a main guard."""
    write("exiting_module", "raise SystemExit(3)")
    with pytest.raises(UsageError, match="SystemExit: 3"):
        load_target("exiting_module:find", tmp_path)
