"""E-mail: notices as text and HTML, charts inside of it, one thread for each episode."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ragnostic.errors import UsageError
from ragnostic.notify.channel import Charts, no_charts
from ragnostic.notify.http_post import one_line
from ragnostic.notify.letter import Letter, address, compose
from ragnostic.notify.message import urgent_first
from ragnostic.notify.notice_letter import notices_letter
from ragnostic.notify.phrases import Language
from ragnostic.notify.post_options import value_of
from ragnostic.ports import Clock, Delivery, Notice

_PORTS = {"starttls": 587, "ssl": 465, "none": 25}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def _address_text(written: str) -> str:
    address(written)
    return written


_Mailbox = Annotated[str, AfterValidator(_address_text)]


class Email:
    """Letters through an SMTP server."""

    takes_charts: ClassVar = True

    class Options(BaseModel):
        """Which server, and who writes to whom."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        host: str = Field(min_length=1, description="The SMTP server.")
        port: int | None = Field(
            default=None, ge=1, le=65535, description="Its port: 587, 465 or 25 by security."
        )
        security: Literal["starttls", "ssl", "none"] = Field(
            default="starttls", description="How the connection is encrypted."
        )
        ca_file: str = Field(
            default="",
            description="Certificates that the server's is checked against, for one of your own.",
        )
        user_env: str = Field(default="", description="Environment variable that holds the user.")
        password_env: str = Field(
            default="", description="Environment variable that holds the password."
        )
        sender: _Mailbox = Field(description="Who writes: Ragnostic <alerts@example.com>.")
        to: tuple[_Mailbox, ...] = Field(min_length=1, description="Who is written to.")
        language: Literal["zh", "en"] = Field(default="zh", description="Language of the letters.")
        timeout_s: float = Field(
            default=30.0, gt=0, le=300, description="Seconds that one step may take."
        )

        @model_validator(mode="after")
        def _login(self) -> Email.Options:
            if bool(self.user_env) != bool(self.password_env):
                raise ValueError("user_env and password_env need each other")
            if self.user_env and self.security == "none" and self.host not in _LOOPBACK:
                raise ValueError('a password would be readable on its way; security = "starttls"')
            return self

    def __init__(
        self,
        name: str,
        options: Options,
        environment: Mapping[str, str],
        clock: Clock,
        charts: Charts = no_charts,
    ) -> None:
        """Raises UsageError for a missing variable."""
        self.name = name
        self._options = options
        self._language: Language = options.language
        self._clock = clock
        self._charts = charts
        self._user = value_of(options.user_env, environment, name)
        self._password = value_of(options.password_env, environment, name)
        self._sender = address(options.sender)
        self._to = tuple(map(address, options.to))
        try:
            self._context = ssl.create_default_context(cafile=options.ca_file or None)
        except OSError as error:
            message = f"channel {name!r}: ca_file {options.ca_file} cannot be read"
            raise UsageError(message, hint=str(error.strerror or "")) from None

    def send(self, notices: Sequence[Notice]) -> Delivery:
        """All of them in one letter, the most severe first."""
        return self.send_letter(notices_letter(urgent_first(notices), self._language, self._charts))

    def send_letter(self, letter: Letter) -> Delivery:
        """Any letter, such as the daily report, to the people of this channel."""
        moment = datetime.fromtimestamp(self._clock.now(), UTC)
        composed = compose(letter, self._sender, self._to, moment)
        recipients = [one.addr_spec for one in self._to]
        try:
            with self._connected() as server:
                refused = server.send_message(composed, self._sender.addr_spec, recipients)
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _ in error.recipients.values()]
            return self._failed(_refused_words(error.recipients), retry=any(c < 500 for c in codes))
        except smtplib.SMTPResponseException as error:
            text = error.smtp_error
            shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
            return self._failed(f"{error.smtp_code} {shown}", retry=error.smtp_code < 500)
        except smtplib.SMTPNotSupportedError as error:
            return self._failed(str(error), retry=False)
        except (smtplib.SMTPException, OSError) as error:
            return self._failed(str(error) or type(error).__name__, retry=True)
        reason = f"refused for {_refused_words(refused)}" if refused else ""
        return Delivery(delivered=True, reason=one_line(reason, self._secrets))

    @property
    def _secrets(self) -> tuple[str, ...]:
        return (self._password,)

    def _connected(self) -> smtplib.SMTP:
        options = self._options
        port = options.port or _PORTS[options.security]
        if options.security == "ssl":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                options.host, port, timeout=options.timeout_s, context=self._context
            )
        else:
            server = smtplib.SMTP(options.host, port, timeout=options.timeout_s)
        try:
            if options.security == "starttls":
                server.starttls(context=self._context)
            if self._user:
                server.login(self._user, self._password)
        except BaseException:
            server.close()
            raise
        return server

    def _failed(self, said_by_server: str, *, retry: bool) -> Delivery:
        reason = one_line(f"{self._options.host} says {said_by_server}", self._secrets)
        return Delivery(delivered=False, reason=reason, retry_after_s=0.0 if retry else None)


def _refused_words(refused: Mapping[str, tuple[int, bytes]]) -> str:
    return "; ".join(
        f"{who}: {code} {text.decode('utf-8', 'replace')}" for who, (code, text) in refused.items()
    )
