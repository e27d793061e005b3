"""The page of the gateway: its settings load, its counters are those of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragnostic.gateway.configuration import load_gateway

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/gateway.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```text title="(\w+\.toml)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("name", "text"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_settings_of_the_page_load(tmp_path, name, text):
    """As they stand there."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert load_gateway(tmp_path / name, {}).record_map is not None


def test_every_counter_and_every_reason_is_explained():
    """By its name in code."""
    source = ROOT / "src/ragnostic/gateway"
    names: set[str] = set()
    for path in source.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r'(?:count|drop|_count)\("(\w+)"', text))
        names |= set(
            re.findall(r'(?:self\._drop\([\w.()]+, |UpstreamError\(\s*\d+, )"(\w+)"', text)
        )
        names |= set(re.findall(r'parts\.counters\.count, "(\w+)"', text))
    assert len(names) > 15
    assert [name for name in sorted(names) if f"`{name}`" not in PAGE] == []
