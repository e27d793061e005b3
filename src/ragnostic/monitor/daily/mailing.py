"""The daily report by mail: a few lines of text, and the page beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ragnostic.errors import RagnosticError
from ragnostic.notify.channel import load_channels
from ragnostic.notify.letter import Letter
from ragnostic.notify.mail import Email
from ragnostic.ports import Clock
from ragnostic.report.catalogue import Language, catalogue
from ragnostic.report.daily_view import DailyView
from ragnostic.report.daily_words import daily_headline, daily_lead, signal_title
from ragnostic.report.numbers import decimal, signed


def mail_letter(
    letter: Letter, path: Path | None, environment: Mapping[str, str], clock: Clock
) -> tuple[int, list[str]]:
    """Send a letter through every e-mail channel of a file; to how many, and what went wrong."""
    if path is None:
        return 0, ["there is no alerts.toml with an e-mail channel: nothing was mailed"]
    try:
        channels = load_channels(path, environment, clock)
    except RagnosticError as error:
        return 0, [str(error)]
    mails = [one for one in channels if isinstance(one.notifier, Email)]
    if not mails:
        return 0, ["no channel uses email: nothing was mailed"]
    faults, sent = [], 0
    for channel in mails:
        assert isinstance(channel.notifier, Email)  # noqa: S101 - chosen so
        delivery = channel.notifier.send_letter(letter)
        sent += delivery.delivered
        if not delivery.delivered:
            faults.append(f"channel {channel.name}: {delivery.reason}")
    return sent, faults


def daily_letter(view: DailyView, page: str, language: Language) -> Letter:
    """The mail: the headline, a line a signal, and the page as a file."""
    words = catalogue(language)
    headline = daily_headline(view, words)
    lines = [headline, daily_lead(view, words), ""]
    for signal in view.signals:
        title = signal_title(signal.figure, words)
        value = decimal(signal.today.value, 3)
        change = signed(signal.change(1), 3)
        lines.append(f"{title} ({signal.figure}): {value} ({change}), n = {signal.n}")
    return Letter(
        subject=f"Ragnostic {view.day}: {headline}",
        text="\n".join(lines),
        files={f"ragnostic-{view.day}.html": page.encode()},
        identity=f"daily:{view.day}:{view.zone}",
    )
