"""The vector cache: right vectors, whatever happens to the file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ragnostic.adapters.vector_cache import CachedEmbedder, default_cache_path
from ragnostic.errors import RetrievalError


def test_a_second_run_embeds_nothing_and_gives_the_same_bytes(tmp_path, letters):
    """Repeats in a call are embedded once; order is the caller's; queries are never kept."""
    path = tmp_path / "deep" / "vectors.sqlite"
    first = CachedEmbedder(letters, path)
    texts = ["b", "a", "b", "\ud800"]
    vectors = first.embed(texts, "passage")
    assert [text for _, text in letters.embedded] == ["b", "a", "\ud800"]
    assert (first.hits, first.misses) == (1, 3)
    first.close()
    second = CachedEmbedder(letters, path)
    assert second.embed(texts[::-1], "passage")[::-1].tobytes() == vectors.tobytes()
    assert (second.hits, second.misses) == (4, 0)
    second.embed(["a"], "query")
    second.embed(["a"], "query")
    assert [role for role, _ in letters.embedded][-2:] == ["query", "query"]
    assert (second.hits, second.misses) == (4, 0)
    assert second.faults == []
    assert second.count_tokens("a b") == 2


def test_the_file_holds_no_text(tmp_path, letters):
    """What is logged may be personal; the cache keeps hashes."""
    cache = CachedEmbedder(letters, tmp_path / "v.sqlite")
    cache.embed(["confidential words"], "passage")
    cache.close()
    assert all(b"confidential" not in file.read_bytes() for file in tmp_path.iterdir())


def test_fresh_ignores_earlier_runs_but_not_its_own_and_stores(tmp_path, letters):
    """--fresh embeds again once, for the next run to use."""
    path = tmp_path / "v.sqlite"
    CachedEmbedder(letters, path).embed(["a"], "passage")
    fresh = CachedEmbedder(letters, path, fresh=True)
    fresh.embed(["a", "b"], "passage")
    fresh.embed(["a", "b"], "passage")
    assert (fresh.misses, fresh.hits) == (2, 2)
    later = CachedEmbedder(letters, path)
    later.embed(["b"], "passage")
    assert later.misses == 0


def test_without_a_path_nothing_is_kept(letters):
    """Counting and joining repeats still work."""
    cache = CachedEmbedder(letters, None)
    assert cache.embed(["a", "a"], "passage").shape == (2, 27)
    assert (cache.hits, cache.misses) == (1, 1)
    assert cache.embed([], "passage").shape == (0, 27)
    cache.close()


def test_another_prefix_or_model_is_another_vector(tmp_path, letters):
    """The embedder says itself what makes its passages differ."""
    prefix = ["passage: "]
    letters.role_key = lambda role: prefix[0]
    cache = CachedEmbedder(letters, tmp_path / "v.sqlite")
    cache.embed(["a"], "passage")
    prefix[0] = ""
    cache.embed(["a"], "passage")
    assert cache.misses == 2
    letters.name = "another model"
    other = CachedEmbedder(letters, tmp_path / "v.sqlite")
    other.embed(["a"], "passage")
    assert other.misses == 1


def test_a_failure_loses_only_the_last_few_hundred(tmp_path, letters):
    """What was embedded before it is stored; progress counts on over the parts."""
    path = tmp_path / "v.sqlite"
    told = []
    texts = [f"text {number}" for number in range(600)]
    original = letters.embed

    def failing(part, role, progress):
        if "text 599" in part:
            raise RetrievalError("down")
        return original(part, role, progress)

    letters.embed = failing
    with pytest.raises(RetrievalError):
        CachedEmbedder(letters, path).embed(texts, "passage", lambda *step: told.append(step))
    assert told[-1] == ("embed and keep", 512, 600)
    letters.embed = original
    again = CachedEmbedder(letters, path)
    again.embed(texts, "passage")
    assert (again.hits, again.misses) == (512, 88)


def test_a_damaged_file_is_renamed_aside_and_told(tmp_path, letters):
    """Twice: the second damaged file does not overwrite the first."""
    path = tmp_path / "v.sqlite"
    for number in (1, 2):
        path.write_bytes(b"this is not a database " * 100)
        cache = CachedEmbedder(letters, path)
        assert cache.embed(["a"], "passage").shape == (1, 27)
        assert f"renamed to v.sqlite.damaged-{number}" in cache.faults[0].message
        assert (tmp_path / f"v.sqlite.damaged-{number}").exists()
        again = CachedEmbedder(letters, path)
        again.embed(["a"], "passage")
        assert again.misses == 0
        cache.close()
        again.close()


def test_damage_inside_the_file_is_met_while_reading(tmp_path, letters):
    """A page overwritten in the middle: told, and embedded again."""
    path = tmp_path / "v.sqlite"
    texts = [f"text {number}" for number in range(400)]
    first = CachedEmbedder(letters, path)
    expected = first.embed(texts, "passage")
    first.close()
    raw = bytearray(path.read_bytes())
    raw[4096:] = os.urandom(len(raw) - 4096)
    path.write_bytes(raw)
    second = CachedEmbedder(letters, path)
    assert second.embed(texts, "passage").tobytes() == expected.tobytes()
    assert "is damaged" in second.faults[0].message
    third = CachedEmbedder(letters, path)
    third.embed(texts, "passage")
    assert third.misses == 0


@pytest.mark.parametrize("blob", [b"", b"abc", b"\0" * 108, np.ones(3, "<f4").tobytes()])
def test_a_row_that_is_no_unit_vector_of_the_usual_size_is_a_miss(tmp_path, letters, blob):
    """It is embedded and stored again."""
    path = tmp_path / "v.sqlite"
    cache = CachedEmbedder(letters, path)
    expected = cache.embed(["a", "b", "c"], "passage")
    cache.close()
    with sqlite3.connect(path) as connection:
        key = connection.execute("SELECT key FROM vectors").fetchone()
        connection.execute("UPDATE vectors SET vector = ? WHERE key = ?", (blob, *key))
    connection.close()
    again = CachedEmbedder(letters, path)
    assert again.embed(["a", "b", "c"], "passage").tobytes() == expected.tobytes()
    assert (again.hits, again.misses) == (2, 1)


def test_a_unit_vector_of_another_size_is_a_miss(tmp_path, letters):
    """The rows of one model have one size."""
    path = tmp_path / "v.sqlite"
    CachedEmbedder(letters, path).embed(["a", "b", "c"], "passage")
    with sqlite3.connect(path) as connection:
        key = connection.execute("SELECT key FROM vectors").fetchone()
        blob = np.array([1, 0], "<f4").tobytes()
        connection.execute("UPDATE vectors SET vector = ? WHERE key = ?", (blob, *key))
    connection.close()
    again = CachedEmbedder(letters, path)
    assert again.embed(["a", "b", "c"], "passage").shape == (3, 27)
    assert again.misses == 1


def test_a_place_that_cannot_be_written_is_told_and_not_fatal(tmp_path, letters):
    """A file where a folder should be, and a folder where the file should be."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "v.sqlite", tmp_path / "folder"):
        cache = CachedEmbedder(letters, path)
        assert cache.embed(["a"], "passage").shape == (1, 27)
        assert "not used" in cache.faults[0].message
        assert cache.faults[0].kind == "vector_cache"


def test_a_file_of_another_form_is_left_alone(tmp_path, letters):
    """Another program's table of the same name is neither read nor destroyed; told once."""
    path = tmp_path / "v.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE vectors (something)")
    connection.close()
    cache = CachedEmbedder(letters, path)
    cache.embed(["a"], "passage")
    cache.embed(["b"], "passage")
    assert path.exists()
    assert all("not used for a moment" in fault.message for fault in cache.faults)


def test_several_processes_may_write_one_file(tmp_path):
    """All rows arrive, no process fails."""
    path = tmp_path / "v.sqlite"
    code = """
import sys
from pathlib import Path
import numpy as np
from ragnostic.adapters.vector_cache import CachedEmbedder
class One:
    name = "one"
    def embed(self, texts, role, progress=None):
        return np.ones((len(texts), 1), dtype=np.float32)
cache = CachedEmbedder(One(), Path(sys.argv[1]))
for number in range(40):
    cache.embed([f"{sys.argv[2]} {number}", f"shared {number}"], "passage")
assert not cache.faults, cache.faults
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(number)])
        for number in range(3)
    ]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT COUNT(*) FROM vectors").fetchone() == (160,)
    connection.close()


def test_the_default_place_follows_the_environment():
    """XDG first, then HOME, then what the system says."""
    tail = Path("ragnostic/vectors.sqlite")
    assert default_cache_path({"HOME": "/home/li"}) == Path("/home/li/.cache") / tail
    assert default_cache_path({}) == Path.home() / ".cache" / tail


def test_vectors_that_cannot_be_kept_are_not_said_to_be(tmp_path, letters):
    """The place of the file is a file itself."""
    (tmp_path / "file").write_text("x")
    told = []
    cache = CachedEmbedder(letters, tmp_path / "file" / "v.sqlite")
    cache.embed(["a"], "passage", lambda *step: told.append(step[0]))
    assert "embed and keep" not in told
    assert cache.faults
