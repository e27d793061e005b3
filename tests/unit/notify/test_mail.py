"""E-mail against real SMTP servers on this machine."""

from __future__ import annotations

import email
import email.policy
import runpy
import socket
import ssl
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult
from pydantic import ValidationError

from ragnostic.errors import UsageError
from ragnostic.notify.letter import Letter
from ragnostic.notify.mail import Email

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
notice = LOOPBACK["notice"]
LOGIN = {"SMTP_USER": "alerts", "SMTP_PASSWORD": "pass-word-of-alerts"}


class Post:
    """What a server took, and how it answers."""

    def __init__(self):
        self.taken = []
        self.refused = {}
        self.answer = "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802 - the library calls it so
        """A recipient."""
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802 - the library calls it so
        """A letter."""
        if self.answer.startswith("250"):
            self.taken.append((envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return self.answer

    @property
    def letters(self):
        """As a mail program reads them."""
        return [
            email.message_from_bytes(raw, policy=email.policy.default) for *_, raw in self.taken
        ]


class Server(Controller):
    """A server for a block."""

    def __init__(self, handler, **options):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.wrapped = options.pop("wrapped", None)
        super().__init__(handler, "127.0.0.1", port, ssl_context=self.wrapped, **options)

    def factory(self):
        """An SMTP session."""
        return SMTP(self.handler, **self.SMTP_kwargs)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


@pytest.fixture
def post():
    """An empty letter box."""
    return Post()


@pytest.fixture(scope="session")
def chain(tmp_path_factory):
    """A certificate of localhost: its file, and a server's use of it."""
    return LOOPBACK["certificate"](tmp_path_factory.mktemp("certificate"))


def channel(server, charts=lambda _: {}, environment=LOGIN, **options):
    """A channel to it."""
    given = {
        "host": "localhost",
        "port": server.port,
        "security": "none",
        "sender": "Ragnostic <alerts@example.com>",
        "to": ["on-call@example.com", "Li <li@example.com>"],
        "language": "zh",
        **options,
    }
    clock = LOOPBACK["SteppedClock"]()
    return Email("mail", Email.Options.model_validate(given), environment, clock, charts)


def check_login(server, session, envelope, mechanism, data):
    """The one user."""
    known = (data.login, data.password) == tuple(one.encode() for one in LOGIN.values())
    return AuthResult(success=known, handled=False)


def test_a_letter_arrives(post):
    """With its charts inside, from and to whom it should."""
    with Server(post) as server:
        mail = channel(server, lambda _: {"trend": b"\x89PNG 1"})
        assert mail.send([notice(severity="P2"), notice(severity="P0")]).delivered
    sender, recipients, _ = post.taken[0]
    assert (sender, recipients) == ("alerts@example.com", ["on-call@example.com", "li@example.com"])
    (letter,) = post.letters
    assert letter["X-Priority"] == "1"
    text = letter.get_body(("plain",)).get_content()
    assert text.index("[P0]") < text.index("[P2]")
    related = letter.get_body(("related",))
    assert [part.get_content_type() for part in related.iter_parts()] == [
        "text/html",
        "image/png",
        "image/png",
    ]


def test_an_episode_is_one_thread(post):
    """The end answers the beginning."""
    with Server(post) as server:
        mail = channel(server)
        for kind in ("firing", "repeat", "resolved"):
            assert mail.send([notice(kind=kind)]).delivered
    first, *later = post.letters
    assert {one["In-Reply-To"] for one in later} == {first["Message-ID"]}
    assert len({one["Message-ID"] for one in post.letters}) == 3


def test_a_hostile_query_changes_no_header(post):
    """Nor the people who get the letter."""
    hostile = LOOPBACK["HOSTILE"]
    with Server(post) as server:
        given = notice(rule=hostile, worst_query=hostile, slice={"category": hostile}, key=hostile)
        assert channel(server).send([given]).delivered
    assert post.taken[0][1] == ["on-call@example.com", "li@example.com"]
    (letter,) = post.letters
    assert letter["Bcc"] is None
    assert "evil@example.com" in letter["Subject"]


def test_any_letter_can_be_sent(post):
    """The daily report, say, with its file."""
    with Server(post) as server:
        letter = Letter("日报", "见附件", files={"daily.html": b"<html>"})
        assert channel(server).send_letter(letter).delivered
    (attached,) = post.letters[0].iter_attachments()
    assert attached.get_filename() == "daily.html"


@pytest.mark.parametrize("security", ["starttls", "ssl"])
def test_a_login_goes_only_through_encryption(post, chain, security):
    """With the certificate checked against the name."""
    file, context = chain
    options = {"authenticator": check_login}
    if security == "ssl":  # the server does not know that it is wrapped
        options |= {"wrapped": context, "auth_require_tls": False}
    else:
        options |= {"tls_context": context, "require_starttls": True, "auth_required": True}
    login = {"user_env": "SMTP_USER", "password_env": "SMTP_PASSWORD", "security": security}
    with Server(post, **options) as server:
        assert channel(server, ca_file=str(file), **login).send([notice()]).delivered
        unknown = channel(server, **login).send([notice()])
        assert "CERTIFICATE_VERIFY_FAILED" in unknown.reason
        other = channel(server, ca_file=str(file), host="127.0.0.1", **login).send([notice()])
        assert "IP address mismatch" in other.reason
        another = LOGIN | {"SMTP_PASSWORD": "another-pass-word"}
        wrong = channel(server, environment=another, ca_file=str(file), **login)
        delivery = wrong.send([notice()])
    assert (delivery.delivered, delivery.retry_after_s) == (False, None)
    assert delivery.reason.startswith("localhost says 535")
    assert len(post.taken) == 1


def test_a_server_without_encryption_gets_nothing(post):
    """Where encryption is asked for."""
    with Server(post) as server:
        delivery = channel(server, security="starttls").send([notice()])
    assert "STARTTLS" in delivery.reason
    assert (delivery.delivered, delivery.retry_after_s, post.taken) == (False, None, [])


@pytest.mark.parametrize(("answer", "wait"), [("451 try later", 0.0), ("554 this is spam", None)])
def test_a_refusal_says_whether_another_try_makes_sense(post, answer, wait):
    """By the server's own code."""
    post.answer = answer
    with Server(post) as server:
        delivery = channel(server).send([notice()])
    assert (delivery.delivered, delivery.retry_after_s) == (False, wait)
    assert delivery.reason == f"localhost says {answer}"


@pytest.mark.parametrize(
    ("codes", "wait"), [(("550 no such user",) * 2, None), (("450 full", "550 no such user"), 0.0)]
)
def test_nobody_who_may_be_written_to_is_a_failure(post, codes, wait):
    """For good only where all are refused for good."""
    post.refused = dict(zip(("on-call@example.com", "li@example.com"), codes, strict=True))
    with Server(post) as server:
        delivery = channel(server).send([notice()])
    assert (delivery.delivered, delivery.retry_after_s) == (False, wait)
    assert "li@example.com: 550 no such user" in delivery.reason


def test_somebody_who_may_not_be_written_to_is_named(post):
    """The others have their letter."""
    post.refused = {"li@example.com": "550 no such user"}
    with Server(post) as server:
        delivery = channel(server).send([notice()])
    assert delivery.delivered
    assert delivery.reason == "refused for li@example.com: 550 no such user"


def test_nobody_there_is_worth_another_try(post):
    """And no exception."""
    with Server(post) as server:
        mail = channel(server)
    delivery = mail.send([notice()])
    assert (delivery.delivered, delivery.retry_after_s) == (False, 0.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"user_env": "SMTP_USER"}, "need each other"),
        (
            {"host": "mail.example", "user_env": "SMTP_USER", "password_env": "SMTP_PASSWORD"},
            "readable on its way",
        ),
        ({"to": []}, "at least 1"),
        ({"sender": "a@example.com\nBcc: b@example.com"}, "must be an e-mail address"),
        ({"port": 0}, "greater than or equal to 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, words):
    """When the file is loaded."""
    given = {
        "host": "localhost",
        "security": "none",
        "sender": "a@b.example",
        "to": ["a@b.example"],
    }
    with pytest.raises(ValidationError, match=words):
        Email.Options.model_validate(given | changes)


def test_certificates_that_cannot_be_read_are_a_fault_of_the_settings(tmp_path):
    """With the name of the file."""

    class Anywhere:
        port = 25

    with pytest.raises(UsageError, match=r"ca_file .*none\.pem cannot be read"):
        channel(Anywhere, ca_file=str(tmp_path / "none.pem"))
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    with pytest.raises(UsageError, match="cannot be read"):
        channel(Anywhere, ca_file=str(broken))
    assert issubclass(ssl.SSLError, OSError)
