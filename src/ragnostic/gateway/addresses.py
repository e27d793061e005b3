"""Addresses and ports of this machine, as settings write them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(\d{1,5})")
_LOOPBACK = re.compile(r"127(\.\d{1,3}){3}|localhost|\[::1\]")


def _address(value: str) -> str:
    found = _ADDRESS.fullmatch(value)
    if not found or int(found[2]) > 65535:
        raise ValueError("must be an address and a port such as 127.0.0.1:8080")
    return value


Address = Annotated[str, AfterValidator(_address)]


def split_address(address: str) -> tuple[str, int]:
    """Host and port of an address.

    >>> split_address("[::1]:8080")
    ('::1', 8080)
    """
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1:80"), is_loopback("0.0.0.0:80")
    (True, False)
    """
    return bool(_LOOPBACK.fullmatch(address.rpartition(":")[0]))
