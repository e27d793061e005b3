"""``[[action]]``: what is done, not only said, when a rule fires and when it is over."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ragnostic.config.models import Name, Table
from ragnostic.monitor.alerts.rules import Duration, as_tuple
from ragnostic.notify.webhook import Webhook

Phase = Literal["firing", "resolved"]


class Action(Table):
    """A named deed. Exactly one of ``command``, ``webhook`` and ``flag_file`` is set."""

    name: Name = Field(description="Its name, as rules have it in `actions`.")
    command: Annotated[tuple[Name, ...], BeforeValidator(as_tuple)] = Field(
        default=(),
        description="A program and its arguments, run without a shell in the folder of the file; "
        "the alert stands in RAGNOSTIC_* variables and as JSON on standard input.",
    )
    webhook: Webhook.Options | None = Field(
        default=None,
        description="An address to call, with the keys of the channel `webhook`: url_env, "
        "secret_env, allow_private, timeout_s …",
    )
    flag_file: str = Field(
        default="",
        description="A file that is there while the rule fires, such as the gateway's "
        "degrade.flag_file; relative to the folder of the file.",
    )
    on: Annotated[tuple[Phase, ...], BeforeValidator(as_tuple), Field(min_length=1)] = Field(
        default=("firing",),
        description="When: firing, resolved or both. The end is only acted on where the beginning "
        "was; a flag file is always taken away again.",
    )
    cool_down: Duration = Field(
        default=None, description="Pause after a run in which another alert does not run it."
    )
    timeout_s: float = Field(
        default=60.0, gt=0, le=3600, description="Seconds after which a command is ended."
    )
    dry_run: bool = Field(default=False, description="Write down what would be done, and no more.")

    @model_validator(mode="after")
    def _one_deed(self) -> Self:
        if sum(map(bool, (self.command, self.webhook, self.flag_file))) != 1:
            raise ValueError("needs exactly one of command, webhook and flag_file")
        return self

    @property
    def phases(self) -> tuple[Phase, ...]:
        """When it acts.

        >>> Action(name="a", flag_file="degraded").phases
        ('firing', 'resolved')
        """
        return ("firing", "resolved") if self.flag_file else self.on

    @property
    def deed(self) -> str:
        """What it does, in a few words."""
        if self.command:
            return " ".join(self.command)
        return f"flag file {self.flag_file}" if self.flag_file else "webhook"
