"""Where a message may be sent to: the addresses of the public internet, unless asked otherwise.

A web address is looked at twice: as it is written, when the configuration is loaded
(:func:`check_url`), and as the numeric address that a connection is really made to
(:func:`address_fault`), so that a name that changes its meaning in between gains nothing.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

_Address = IPv4Address | IPv6Address

_MAX_URL = 4096
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_LOCAL_NAME = re.compile(r"(.+\.)?(localhost|local|internal|localdomain)\.?", re.IGNORECASE)

# Machines in the cloud are told their credentials here: no message ever belongs there.
_METADATA = frozenset(
    ip_address(text)
    for text in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254")
)
_NEVER = tuple(
    (ip_network(net), kind)
    for net, kind in (
        ("0.0.0.0/8", "an unspecified address"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
        ("::/128", "an unspecified address"),
        ("ff00::/8", "a multicast address"),
    )
)
_PRIVATE = tuple(
    (ip_network(net), kind)
    for net, kind in (
        ("127.0.0.0/8", "a loopback address"),
        ("10.0.0.0/8", "a private address"),
        ("172.16.0.0/12", "a private address"),
        ("192.168.0.0/16", "a private address"),
        ("100.64.0.0/10", "a shared (carrier) address"),
        ("169.254.0.0/16", "a link-local address"),
        ("192.0.0.0/24", "a special-purpose address"),
        ("192.0.2.0/24", "a documentation address"),
        ("192.88.99.0/24", "a relay address"),
        ("198.18.0.0/15", "a benchmark address"),
        ("198.51.100.0/24", "a documentation address"),
        ("203.0.113.0/24", "a documentation address"),
        ("::1/128", "a loopback address"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a site-local address"),
        ("2001::/23", "a special-purpose address"),
        ("2001:db8::/32", "a documentation address"),
        ("3fff::/20", "a documentation address"),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_PREFIXED_V4 = (  # IPv6 networks whose addresses hold an IPv4 address, and the bits behind it
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("::ffff:0:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)


def check_url(url: str, *, allow_private: bool = False) -> str:
    """``url`` as given, if a message may be sent there by how it is written; no name is looked up.

    Raises ValueError whose text never shows more of the address than its host: the rest of a
    webhook's address is as good as a password.

    >>> check_url("https://hooks.example/services/T0/B0")
    'https://hooks.example/services/T0/B0'
    >>> check_url("https://0x7f.1/")
    Traceback (most recent call last):
    ValueError: names 0x7f.1, a number in disguise; write a name or a plain address like 8.8.8.8
    """
    if len(url) > _MAX_URL:
        raise ValueError(f"is longer than {_MAX_URL} characters")
    if not url.isascii() or not url.isprintable() or re.search(r"[\s\\]", url):
        raise ValueError("must be plain ASCII without spaces and backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("must be an http or https address") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http or https address")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user or a password")
    if port == 0:
        raise ValueError("must not name port 0")
    fault = _host_fault(parts.hostname, allow_private=allow_private)
    if fault:
        raise ValueError(fault)
    return url


def address_fault(address: str, *, allow_private: bool = False) -> str:
    """What is wrong with connecting to a numeric address, or "".

    IPv4 addresses inside of IPv6 ones (mapped, translated, NAT64, 6to4) are judged too. With
    ``allow_private`` the loopback, private and link-local ones are right; multicast, reserved and
    the metadata services of clouds are not.

    >>> address_fault("::ffff:127.0.0.1"), address_fault("127.0.0.1", allow_private=True)
    ('a loopback address', '')
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return "no numeric address"
    return next(
        (
            fault
            for one in (parsed, *_inner(parsed))
            if (fault := _kind(one, allow_private=allow_private))
        ),
        "",
    )


def _kind(address: _Address, *, allow_private: bool) -> str:
    if address in _METADATA:
        return "the metadata service of a cloud"
    for net, kind in _NEVER:
        if address in net:
            return kind
    if allow_private:
        return ""
    for net, kind in _PRIVATE:
        if address in net:
            return kind
    if isinstance(address, IPv6Address) and address not in _GLOBAL_V6 and not _inner(address):
        return "no public address"
    return ""


def _inner(address: _Address) -> tuple[IPv4Address, ...]:
    """The IPv4 address that an IPv6 one is a wrapping of."""
    if isinstance(address, IPv4Address):
        return ()
    return tuple(
        IPv4Address(int(address) >> behind & 0xFFFFFFFF)
        for net, behind in _PREFIXED_V4
        if address in net
    )


def _host_fault(host: str, *, allow_private: bool) -> str:
    try:
        fault = address_fault(str(ip_address(host)), allow_private=allow_private)
    except ValueError:
        return _name_fault(host, allow_private=allow_private)
    return f"names {host}, {fault}{_hint(fault)}" if fault else ""


def _name_fault(host: str, *, allow_private: bool) -> str:
    shown = host if host.isascii() and len(host) <= 100 else host[:100]
    if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        return f"names {shown}, a number in disguise; write a name or a plain address like 8.8.8.8"
    if not _NAME.fullmatch(host) or len(host) > 253:
        return f"names {shown}, which is no name of a machine"
    if _LOCAL_NAME.fullmatch(host) and not allow_private:
        return f"names {shown}, a machine of this network{_hint('private')}"
    return ""


def _hint(fault: str) -> str:
    words = ("private", "loopback", "link-local", "shared", "site-local")
    return "; allow_private = true permits it" if any(word in fault for word in words) else ""
