"""Where a message may be sent to, and the many ways to write where it may not."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.notify.address_guard import address_fault, check_url

REFUSED = (
    # schemes, and what is no address
    "",
    "hooks.example/x",
    "//hooks.example/x",
    "ftp://hooks.example/x",
    "file:///etc/passwd",
    "gopher://127.0.0.1:25/_x",
    "javascript:alert(1)",
    "http://",
    "http:///x",
    "https://:443/x",
    "http://hooks.example:99999/",
    "http://hooks.example:0/",
    "http://hooks.example:x/",
    "http://[::1",
    "http://[hooks.example]/",
    "https://hooks.example/" + "a" * 5000,
    # users, and characters that parsers disagree about
    "http://me@hooks.example/",
    "http://me:pw@hooks.example/",
    "http://hooks.example@127.0.0.1/",
    "http://127.0.0.1\\@hooks.example/",
    "http://hooks.example\\.evil.example/",
    "http://hooks.example/\r\nX: y",
    "http://hooks.example/a b",
    "http://hooks.example\t/",
    "http://hooks.exämple/",
    "http://１２７.0.0.1/",
    "http://①②⑦.0.0.1/",
    "http://127。0。0。1/",
    "http://hooks..example/",
    "http://-hooks.example/",
    "http://%31%32%37.0.0.1/",
    "http://hooks.example%00.evil.example/",
    "http://" + "a" * 64 + ".example/",
    "http://" + ".".join(["a" * 60] * 5) + "/",
    # this machine and its network
    "http://localhost/",
    "http://LOCALHOST./",
    "http://a.localhost:8080/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://localhost.localdomain/",
    "http://127.0.0.1/",
    "http://127.255.255.254/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.1.1/",
    "http://192.0.0.1/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    # the same in disguise
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1./",
    "http://127.0.0.01/",
    "http://10.0x1/",
    "http://1/",
    # IPv6
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a00:1::1]/",
    "http://[2001:0:53aa:64c:0:5efe:7f00:1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[100::1]/",
    "http://[4000::1]/",
)
TAKEN = (
    "https://hooks.example/services/T0/B0?key=1",
    "http://hooks.example:8080/",
    "https://open.feishu.cn./open-apis/bot/v2/hook/x",
    "https://xn--fiqs8s.example/",
    "https://under_score.example/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://[64:ff9b::8.8.8.8]/",
    "https://[2002:808:808::1]/",
    "https://[::ffff:8.8.8.8]/",
)
PRIVATE = (
    "http://localhost:8080/",
    "http://127.0.0.1/",
    "http://10.1.2.3/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.1.1/",
    "http://[::1]/",
    "http://[fd12::1]/",
    "http://[fe80::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://alerts.internal/",
)
NEVER = (
    "http://169.254.169.254/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[ff02::1]/",
    "http://2130706433/",
    "http://127.1/",
    "http://me:pw@10.0.0.1/",
    "ftp://10.0.0.1/",
)


@pytest.mark.parametrize("url", REFUSED)
def test_a_hostile_address_is_refused(url):
    """However it is written."""
    with pytest.raises(ValueError, match=r"must|names|longer"):
        check_url(url)


@pytest.mark.parametrize("url", TAKEN)
def test_a_public_address_is_taken(url):
    """As it is."""
    assert check_url(url) == url


@pytest.mark.parametrize("url", PRIVATE)
def test_an_address_of_the_own_network_needs_permission(url):
    """The refusal names the setting."""
    with pytest.raises(ValueError, match="allow_private = true permits it"):
        check_url(url)
    assert check_url(url, allow_private=True) == url


@pytest.mark.parametrize("url", NEVER)
def test_some_addresses_are_never_right(url):
    """Credentials of clouds, everybody, nobody, and what is not said plainly."""
    with pytest.raises(ValueError, match=r"must|names"):
        check_url(url, allow_private=True)


def test_a_refusal_shows_no_more_than_the_host():
    """The path of a webhook is a password."""
    with pytest.raises(ValueError, match=r"10\.0\.0\.1") as refused:
        check_url("https://10.0.0.1/hooks/s3cret?token=s3cret")
    assert "s3cret" not in str(refused.value)


def test_what_is_no_address_is_not_connected_to():
    """A name where a number has to be."""
    assert address_fault("localhost") == "no numeric address"
    assert address_fault("fe80::1%eth0") == "a link-local address"


@given(st.ip_addresses(v=4))
def test_what_is_taken_is_global_by_the_standard_library_too(address: IPv4Address):
    """Also inside of IPv6."""
    mapped = IPv6Address(b"\0" * 10 + b"\xff\xff" + address.packed)
    fault = address_fault(str(address))
    assert address_fault(str(mapped)) == fault
    assert address.is_global or fault


@given(st.ip_addresses(v=6))
def test_what_is_taken_of_ipv6_is_global_too(address: IPv6Address):
    """Random ones."""
    assert address.is_global or address_fault(str(address))


@given(st.text(max_size=60))
def test_no_text_at_all_breaks_the_check(text):
    """It is taken or refused."""
    for url in (text, f"http://{text}/", f"http://[{text}]:80/"):
        try:
            assert check_url(url) == url
        except ValueError:
            continue
