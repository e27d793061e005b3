"""What is said of damage."""

from __future__ import annotations

from pathlib import Path

from ragnostic.store.damage import Damage


def test_what_is_not_known_is_not_called_exact():
    """And the note stands last."""
    damage = Damage(Path("a"), Path("b"), "cut", 1, 2, exact=False, note="read again")
    assert (
        str(damage) == "a was damaged (cut): 1 row rescued, 2 or more lost; kept as b; read again"
    )
