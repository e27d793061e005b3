"""``gateway.toml``: every fault at once, each with its line."""

from __future__ import annotations

import pytest

from ragnostic.errors import ConfigError
from ragnostic.gateway.configuration import load_gateway

SOUND = """
[upstream]
url = "http://127.0.0.1:8000"
[map]
query = "request.query"
"""


def load(tmp_path, text: str, **environment: str):
    """The configuration in a text."""
    path = tmp_path / "gateway.toml"
    path.write_text(text, encoding="utf-8")
    return load_gateway(path, environment)


def faults(tmp_path, text: str, **environment: str) -> list[str]:
    """What is wrong with a text."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, **environment)
    return [f"{fault.where}: {fault.message}" for fault in caught.value.faults]


def test_little_is_enough(tmp_path):
    """The service and where the query stands; the rest has defaults, on loopback."""
    loaded = load(tmp_path, SOUND)
    assert loaded.settings.listen.address == "127.0.0.1:8080"
    assert loaded.path("store") == tmp_path / "store"
    assert loaded.record_map is not None
    assert set(loaded.record_map.fields) == {"query"}


def test_all_faults_are_told_at_once(tmp_path):
    """In the order of the file."""
    text = """
[upstream]
url = "ftp://x"
[listen]
adress = "127.0.0.1:80"
drain_s = -1
[capture]
max_bytes = "all"
[map]
query = "request.["
[filter]
patterns = ["("]
[controll]
[stream]
text = "a.["
"""
    found = faults(tmp_path, text)
    assert [line.split(": ")[0] for line in found] == [
        f"gateway.toml:{number}" for number in (3, 5, 6, 8, 10, 12, 13, 15)
    ]
    assert "upstream.url must be an address such as http://127.0.0.1:8000" in found[0]
    assert "unknown key listen.adress" in found[1]
    assert "is not a JMESPath expression" in found[4]
    assert "is no regular expression" in found[5]
    assert "unknown key controll" in found[6]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('[listen]\naddress = "0.0.0.0:80"', 7, "can be reached by other machines"),
        ('[listen]\naddress = "0.0.0.0"', 7, "must be an address and a port"),
        ('[listen]\naddress = "127.0.0.1:99999"', 7, "must be an address and a port"),
        ('[control]\naddress = "0.0.0.0:81"', 7, "can be reached by other machines"),
        ('[control]\ntoken_env = "MISSING"', 7, "MISSING is not set or empty"),
        ('[control]\naddress = "127.0.0.1:8080"', 7, "control.address is listen.address"),
        ('[listen]\naddress = "127.0.0.1:8000"', 3, "requests would go in circles"),
        ('[degrade]\nurl = "http://127.0.0.1:8080"', 7, "requests would go in circles"),
        ('[degrade]\nflag_file = "f"', 7, "degrade.url, which is not set"),
        ('[degrade]\nurl = "http://me:pw@h"', 7, "must hold no user or password"),
        ('[degrade]\nurl = "http://h/?a"', 7, "must be an address such as"),
        ("[filter]\nstrip_punctuation = true", 7, "needs filter.field"),
        ('[filter]\nclassifier = "nothing"', 7, "must be module:function"),
    ],
)
def test_what_several_keys_must_keep_to(tmp_path, text, line, told):
    """Addresses, tokens, the switch and the filter."""
    (found,) = faults(tmp_path, f"{SOUND}{text}\n")
    assert told in found
    assert found.startswith(f"gateway.toml:{line}: ")


def test_other_machines_only_where_it_is_said(tmp_path):
    """allow_remote for clients, a token for operators."""
    text = SOUND + (
        '[listen]\naddress = "0.0.0.0:80"\nallow_remote = true\n'
        '[control]\naddress = "[::]:81"\ntoken_env = "T"\n'
    )
    assert load(tmp_path, text, T="secret").settings.listen.allow_remote


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "upstream.url is missing"),
        ("upstream = 1\n", "upstream must be a table"),
        ('[upstream]\nurl = "http://h"\n', "map.query is missing"),
        ('map = 1\n[upstream]\nurl = "http://h"\n', "map must be a table"),
        ('[upstream]\nurl = "http://h"\n[map]\nanswer = "a"\n', "map.query is missing"),
        (
            '[upstream]\nurl = "http://h"\n[capture]\non = false\n[filter]\non = true\n',
            "filter.on needs map.query or filter.field",
        ),
    ],
)
def test_what_cannot_be_left_out(tmp_path, text, told):
    """The service, and where the query stands."""
    assert any(told in line for line in faults(tmp_path, text))


def test_a_plain_proxy_needs_no_map(tmp_path):
    """Nothing is captured then."""
    loaded = load(tmp_path, '[upstream]\nurl = "http://h"\n[capture]\non = false\n')
    assert loaded.record_map is None
