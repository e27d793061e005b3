"""The switch to a second service."""

from __future__ import annotations

from ragnostic.gateway.degrade import Switch


class Log:
    """An audit log in memory."""

    def __init__(self) -> None:
        self.lines: list[dict] = []

    def write(self, event: str, **facts: object) -> bool:
        """Keep a line."""
        self.lines.append({"event": event, **facts})
        return True


def test_it_is_on_while_anybody_wants_it(tmp_path):
    """An operator and the file; both have to let go."""
    log, flag, flips = Log(), tmp_path / "flag", []
    switch = Switch(log, flag, flips.append)
    switch.look()
    assert not switch.on
    flag.write_text("  \n", encoding="utf-8")
    switch.look()
    switch.look()
    switch.flip(on=True, reason="slow", by="control")
    assert (switch.upstream, switch.reason) == ("second", "flag; slow")
    flag.unlink()
    switch.look()
    assert (switch.on, switch.reason) == (True, "slow")
    switch.flip(on=False, reason="well again", by="control")
    assert (switch.on, switch.upstream) == (False, "main")
    assert [(line["by"], line["asked"], line["on"]) for line in log.lines] == [
        ("file", True, True),
        ("control", True, True),
        ("file", False, True),
        ("control", False, False),
    ]
    assert len(flips) == 4


def test_a_flip_that_changes_nothing_is_not_written():
    """Also one that was off before."""
    log = Log()
    switch = Switch(log)
    switch.flip(on=False, reason="", by="control")
    switch.flip(on=True, reason="a", by="control")
    switch.flip(on=True, reason="a", by="control")
    switch.look()
    assert len(log.lines) == 1
