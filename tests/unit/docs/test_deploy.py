"""What examples/deploy shows can be used as it is."""

from __future__ import annotations

import re
from pathlib import Path

from ragnostic.gateway.configuration import load_gateway

DEPLOY = Path(__file__).resolve().parents[3] / "examples" / "deploy"


def test_the_configuration_has_no_faults():
    """As serve reads it."""
    found = load_gateway(DEPLOY / "gateway.toml", {}).settings
    assert found.serve.address == "127.0.0.1:9464"


def test_the_unit_and_the_image_run_commands_that_exist():
    """With the port of the configuration, and the lock of the project."""
    unit = (DEPLOY / "ragnostic.service").read_text(encoding="utf-8")
    assert re.findall(r"ragnostic (\w+) --config", unit) == ["doctor", "serve"]
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    for name in re.findall(r"^COPY (.+) \S+$", image, re.MULTILINE):
        for path in name.split():
            assert (DEPLOY.parents[1] / path).exists(), path
    assert "--require-hashes" in image
    assert "9464/readyz" in image
