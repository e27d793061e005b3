"""An action looked at without doing it: whether it could be done at all."""

from __future__ import annotations

import os
import shutil

from ragnostic.errors import UsageError
from ragnostic.monitor.alerts.action_runs import Setting
from ragnostic.monitor.alerts.actions import Action
from ragnostic.notify.webhook import Webhook


def rehearse(action: Action, setting: Setting) -> str:
    """What stands in the way of it, in words; empty where nothing is known to.

    >>> from pathlib import Path
    >>> setting = Setting(Path("/"), Path("/actions.jsonl"), {}, None)
    >>> rehearse(Action(name="a", command=["./no-such-program"]), setting)
    'there is no program ./no-such-program that may be run'
    >>> rehearse(Action(name="a", command=["/bin/sh", "-c", "exit 1"]), setting)
    ''
    """
    if action.command:
        return _program(action.command[0], setting)
    if action.webhook is not None:
        try:
            Webhook(action.name, action.webhook, setting.environment, setting.clock)
        except UsageError as error:
            return str(error)
        return ""
    folder = (setting.folder / action.flag_file).parent
    writable = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    return "" if writable else f"the folder of {action.flag_file} is not there, or not writable"


def _program(name: str, setting: Setting) -> str:
    """A path is one from the folder of the rules, as it is when the action runs."""
    path = setting.environment.get("PATH", os.defpath)
    found = shutil.which(str(setting.folder / name) if os.sep in name else name, path=path)
    return "" if found else f"there is no program {name} that may be run"
