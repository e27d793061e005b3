"""Streams into nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragnostic.cli.streams import Tolerant
from ragnostic.errors import UsageError


def test_what_nobody_reads_is_swallowed():
    """The first write fails, the others go nowhere."""
    reader, writer = os.pipe()
    os.close(reader)
    with Tolerant(writer, "w") as stream:
        assert stream.write(b"abc") == 3
        assert stream.write(b"de") == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full disk at hand")
def test_a_full_disk_is_told_once():
    """The rest of the buffer must not raise again when the program ends."""
    with Tolerant(os.open("/dev/full", os.O_WRONLY), "w") as stream:
        with pytest.raises(UsageError, match="standard output: No space left"):
            stream.write(b"abc")
        assert stream.write(b"abc") == 3
