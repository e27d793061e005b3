"""Reading the file and its overrides."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.config.source import parse_assignment, read_source
from ragnostic.errors import ConfigError, UsageError


def _write(folder: Path, content: str | bytes) -> Path:
    file = folder / "eval.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ('[dataset]\npath = "eval.jsonl\n', "eval.toml:2"),
        ("[dataset]\npath = [1,\n\n", "eval.toml:2"),
        ("a = 1\na = 2\n", "eval.toml:2"),
        ("a = 1\n" + "b = " + "[" * 5000, "eval.toml"),
        ('a = 1\nb = "\u4f60"\n'.encode("gbk"), "eval.toml:2"),
    ],
)
def test_a_file_that_is_no_toml_is_refused_with_its_line(tmp_path, content, where):
    """Syntax, depth and encoding faults are one fault with a place, never a traceback."""
    with pytest.raises(ConfigError) as caught:
        read_source(_write(tmp_path, content), [])
    assert [fault.where for fault in caught.value.faults] == [where]


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    """Files saved by Windows editors work, with the right lines."""
    source = read_source(_write(tmp_path, b"\xef\xbb\xbf[a]\r\nb = 1\r\n"), [])
    assert source.tree == {"a": {"b": 1}}
    assert source.where(("a", "b")) == "eval.toml:2"


def test_a_missing_file_names_its_neighbours(tmp_path):
    """The hint lists the TOML files that are there."""
    _write(tmp_path, "")
    with pytest.raises(UsageError, match=r"no such file.*evl\.toml(.|\n)*holds eval\.toml"):
        read_source(tmp_path / "evl.toml", [])
    with pytest.raises(UsageError, match="is a folder"):
        read_source(tmp_path, [])
    with pytest.raises(UsageError, match="cannot read"):
        read_source(tmp_path / "eval.toml" / "x.toml", [])


def test_an_override_wins_and_is_named_as_the_place(tmp_path):
    """What stands inside an override's value has the override's place too."""
    file = _write(tmp_path, '[retrieve]\nuse = "bm25"\ntop_k = 5\n')
    source = read_source(file, ["retrieve.top_k=50", "retrieve.http={url = 'u'}", "x.y=a b"])
    assert source.tree["retrieve"] == {"use": "bm25", "top_k": 50, "http": {"url": "u"}}
    assert source.tree["x"] == {"y": "a b"}
    assert source.where(("retrieve", "top_k")) == "--set retrieve.top_k"
    assert source.where(("retrieve", "http", "url")) == "--set retrieve.http"
    assert source.where(("retrieve", "nothing")) == "eval.toml:1"
    assert source.where(("nothing",)) == "eval.toml"


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("retrieve.top_k", "expected a.b=value"),
        ("=5", "is no key"),
        ("a b=5", "is no key"),
        ("retrieve.top_k.x=5", r"retrieve\.top_k is no table"),
    ],
)
def test_an_override_that_names_no_key_is_a_fault(tmp_path, assignment, message):
    """All of them are told at once, each by its text."""
    file = _write(tmp_path, "[retrieve]\ntop_k = 5\n")
    with pytest.raises(ConfigError, match=message) as caught:
        read_source(file, [assignment, "also wrong"])
    assert len(caught.value.faults) == 2


@given(st.text(max_size=20))
def test_any_value_of_an_override_is_toml_or_the_text_itself(value):
    """No value is refused, and nothing after the first equals sign is lost."""
    path, parsed = parse_assignment(f"a.b={value}")
    assert path == ("a", "b")
    assert not isinstance(parsed, str) or parsed == value or value.strip()[:1] in "\"'"
