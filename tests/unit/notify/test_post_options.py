"""What the channels over HTTP share."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from ragnostic.errors import UsageError
from ragnostic.notify.post_options import Poster, PostOptions, json_bytes_of, value_of

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
served = LOOPBACK["served"]


@pytest.mark.parametrize("environment", [{}, {"KEY": ""}, {"KEY": " \n"}])
def test_a_variable_that_holds_nothing_is_said(environment):
    """With the name of the channel."""
    with pytest.raises(UsageError, match="channel 'ops' needs the environment variable KEY"):
        value_of("KEY", environment, "ops")


def test_a_poster_goes_through_the_proxy_that_is_named():
    """By the environment variable that the options name, and by no other."""
    options = PostOptions(proxy_env="OUT")
    with served() as proxy:
        environment = {"OUT": f"http://127.0.0.1:{proxy.port}"}
        poster = Poster("ops", "http://hooks.example/x", options, environment)
        assert poster.post(b"[]").ok
        assert proxy.asked[0].headers["content-type"] == "application/json; charset=utf-8"


def test_an_address_that_may_not_be_used_is_refused_when_it_is_built():
    """Not when the alert comes."""
    with pytest.raises(UsageError, match=r"channel 'ops': the address names 10\.0\.0\.1"):
        Poster("ops", "http://10.0.0.1/s3cret", PostOptions(), {})


def test_json_is_always_utf8():
    """Half a character is no reason for an alert to be lost; a NaN is a mistake of ours."""
    assert json.loads(json_bytes_of({"q": "年\ud800假"})) == {"q": "年?假"}
    with pytest.raises(ValueError, match="JSON"):
        json_bytes_of({"v": float("nan")})
