"""An e-mail from its parts: text and HTML side by side, images inside of it, headers in order.

Whatever stands in a subject or a name is one line before it becomes a header, so that no text of
others can begin a header of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from typing import cast

from ragnostic.notify.literal import one_line
from ragnostic.notify.text_limits import cut

_SUBJECT_BYTES = 600
_REFERENCES = 20
_SEVEN_BITS = SMTP.clone(cte_type="7bit")  # every server bears it


@dataclass(frozen=True, slots=True)
class Letter:
    """What is to be read.

    ``html`` may show an image of ``images`` (name → PNG) by ``cid:NAME``; ``files`` (name →
    content) are attached. ``identity`` is the same whenever this letter is sent; ``threads`` are
    the things it is about: letters about the same are shown together by mail programs.
    """

    subject: str
    text: str
    html: str = ""
    images: Mapping[str, bytes] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    identity: str = ""
    threads: Sequence[str] = ()
    urgent: bool = False


def address(written: str) -> Address:
    r"""An address as a person writes it, with or without a name; raises ValueError.

    >>> str(address("Ragnostic <alerts@example.com>")), str(address("a@example.com"))
    ('Ragnostic <alerts@example.com>', 'a@example.com')
    >>> address("a@example.com\nBcc: b@example.com")
    Traceback (most recent call last):
    ValueError: must be an e-mail address such as a@b.example
    """
    name, plain = parseaddr(written)
    if written.isprintable() and plain.isascii() and "@" in plain:
        # What the standard library says of a bad one, each in its own way.
        with suppress(ValueError, IndexError, MessageError):
            return Address(name, addr_spec=plain)
    raise ValueError("must be an e-mail address such as a@b.example")


def compose(
    letter: Letter, sender: Address, to: Sequence[Address], moment: datetime
) -> EmailMessage:
    """The message to hand to a server. ``moment`` is its Date, with a zone."""
    message = EmailMessage(policy=_SEVEN_BITS)
    message["Subject"] = cut(one_line(letter.subject), _SUBJECT_BYTES)
    message["From"] = sender
    message["To"] = tuple(to)
    message["Date"] = format_datetime(moment)
    domain = sender.domain
    own = _id(letter.identity or f"{letter.subject}\n{moment.isoformat()}", domain)
    roots = [root for root in (_id(key, domain) for key in letter.threads) if root != own]
    message["Message-ID"] = own
    if roots:
        message["References"] = " ".join(roots[:_REFERENCES])
        message["In-Reply-To"] = roots[0]
    message["Auto-Submitted"] = "auto-generated"
    if letter.urgent:
        message["Importance"] = "high"
        message["X-Priority"] = "1"
    message.set_content(_sound(letter.text))
    if letter.html:
        _add_html(message, letter, domain)
    for name, content in letter.files.items():
        message.add_attachment(
            content,
            maintype="application",
            subtype="octet-stream",
            filename=one_line(name) or "file",
        )
    return message


def _add_html(message: EmailMessage, letter: Letter, domain: str) -> None:
    names = {name: _id(f"{letter.identity}\n{name}", domain) for name in letter.images}
    html = _sound(letter.html)
    for name, identity in names.items():
        html = html.replace(f'"cid:{name}"', f'"cid:{identity[1:-1]}"')
    message.add_alternative(html, subtype="html")
    body = cast("EmailMessage", message.get_body(("html",)))
    for name, identity in names.items():
        body.add_related(
            letter.images[name],
            maintype="image",
            subtype="png",
            cid=identity,
            disposition="inline",
            filename=f"{name}.png",
        )


def _id(key: str, domain: str) -> str:
    """A message id of the same key, always."""
    return f"<{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:40]}@{domain}>"


def _sound(text: str) -> str:
    """Text that UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()
