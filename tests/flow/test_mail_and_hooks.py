"""From ``alerts.toml`` to servers of four kinds, through an outage; and the real Alertmanager."""

from __future__ import annotations

import email
import email.policy
import json
import runpy
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller

from ragnostic.errors import ConfigError
from ragnostic.notify.alertmanager import Alertmanager
from ragnostic.notify.channel import load_channels
from ragnostic.notify.delivery import deliver, refresh, route

LOOPBACK = runpy.run_path(
    str(Path(__file__).parents[1] / "unit" / "notify" / "loopback.py"), run_name="loopback"
)
notice, served, Said = (LOOPBACK[name] for name in ("notice", "served", "Said"))
FILE = """\
[[channel]]
name = "ops"
use = "webhook"
url_env = "HOOK"
secret_env = "HOOK_SECRET"
allow_private = true

[[channel]]
name = "phone"
use = "pagerduty"
severities = ["P0"]
key_env = "PAGER_KEY"
url = "http://127.0.0.1:{pager}/v2/enqueue"
allow_private = true

[[channel]]
name = "alertmanager"
use = "alertmanager"
url_env = "ALERTMANAGER"
allow_private = true

[[channel]]
name = "mail"
use = "email"
where = {{category = "退款"}}
host = "127.0.0.1"
port = {mail}
security = "none"
sender = "Ragnostic <alerts@example.com>"
to = ["on-call@example.com"]
language = "en"
"""


class LetterBox:
    """A letter box behind a real SMTP server."""

    def __init__(self):
        self.letters = []

    async def handle_DATA(self, server, session, envelope):  # noqa: N802 - the library calls it so
        """One letter."""
        self.letters.append(email.message_from_bytes(envelope.content, policy=email.policy.default))
        return "250 OK"


def free_port() -> int:
    """A port that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


@pytest.fixture
def letters():
    """An SMTP server."""
    box = LetterBox()
    server = Controller(box, "127.0.0.1", free_port())
    server.start()
    box.port = server.port
    yield box
    server.stop()


def paged(asked):
    """What PagerDuty says."""
    key = json.loads(asked.body)["dedup_key"]
    told = {"status": "success", "message": "Event processed", "dedup_key": key}
    return Said(202, json.dumps(told).encode())


def test_every_notice_reaches_everybody_through_an_outage_and_a_restart(tmp_path, letters):
    """In order, the worst first, and nobody waits for the one that is down."""
    clock, box = LOOPBACK["SteppedClock"](), LOOPBACK["MemoryOutbox"]()
    path = tmp_path / "alerts.toml"
    with served() as hook, served(paged) as pager, served() as manager:
        path.write_text(FILE.format(pager=pager.port, mail=letters.port), encoding="utf-8")
        environment = {
            "HOOK": hook.url,
            "HOOK_SECRET": "whsec_c2VjcmV0LW9mLXRoZS1ob29r",
            "PAGER_KEY": "0123456789abcdef0123456789abcdef",
            "ALERTMANAGER": f"http://127.0.0.1:{manager.port}",
        }
        channels = load_channels(path, environment, clock)
        begun = [
            notice(key="a", severity="P1"),
            notice(key="b", severity="P0", rule="qer-collapse", slice={}),
        ]
        routed, unrouted = route(channels, begun)
        assert not unrouted
        for name, one in routed:
            box.put(name, one, clock.now())
        hook.rule = lambda asked: Said(503, b"down")
        done = deliver(box, channels, clock)
        assert (done.sent, done.waiting) == (4, 2)
        assert {one.channel for one in done.failures} == {"ops"}

        for name, one in route(channels, [notice(key="a", severity="P1", kind="resolved")])[0]:
            box.put(name, one, clock.now())
        clock.sleep(60)
        hook.rule = lambda asked: Said(204)
        restarted = load_channels(path, environment, clock)
        done = deliver(box, restarted, clock)
        assert (done.sent, done.waiting, done.failures) == (5, 0, ())
        assert refresh(restarted, [begun[1]]) == []

        told = [json.loads(asked.body)["notices"] for asked in hook.asked]
        assert [[(one["severity"], one["kind"]) for one in notices] for notices in told] == [
            [("P0", "firing"), ("P1", "firing")],
            [("P0", "firing"), ("P1", "firing")],
            [("P1", "resolved")],
        ]
        ids = [asked.headers["webhook-id"] for asked in hook.asked]
        assert ids[0] == ids[1] != ids[2]
        assert [json.loads(asked.body)["event_action"] for asked in pager.asked] == ["trigger"]
        assert len(manager.asked) == 3
    first, last = letters.letters
    assert first["Subject"].startswith("Ragnostic [P1] MRR@5 fell")
    assert last["In-Reply-To"] == first["Message-ID"]


def test_a_file_with_faults_opens_no_channel(tmp_path):
    """All of them at once, without what is secret."""
    path = tmp_path / "alerts.toml"
    path.write_text(FILE.format(pager=0, mail=25).replace("allow_private = true", ""), "utf-8")
    with pytest.raises(ConfigError) as raised:
        load_channels(path, {"HOOK": "http://10.0.0.1/s3cret", "PAGER_KEY": "x" * 32}, None)
    told = str(raised.value)
    for place in ("alerts.toml:4:", "alerts.toml:5:", "alerts.toml:19:"):
        assert place in told
    assert "s3cret" not in told


class RealClock:
    """The machine's own."""

    now = staticmethod(time.time)


def test_the_real_alertmanager_takes_an_alert_and_its_end(tmp_path):
    """And tells its own receiver of both."""
    program = shutil.which("prometheus-alertmanager")
    if program is None:
        pytest.skip("system package prometheus-alertmanager")
    seen = {"firing": threading.Event(), "resolved": threading.Event()}
    ours = []

    def receive(asked):
        for alert in json.loads(asked.body)["alerts"]:
            if alert["labels"].get("slice_category") == "退款":
                ours.append(alert)
                seen[alert["status"]].set()
        return Said(200)

    port = free_port()
    with served(receive) as receiver:
        config = tmp_path / "alertmanager.yml"
        config.write_text(
            "route: {receiver: hook, group_wait: 0s, group_interval: 100ms}\n"
            f"receivers: [{{name: hook, webhook_configs: [{{url: '{receiver.url}'}}]}}]\n"
        )
        command = [
            program,
            f"--config.file={config}",
            f"--storage.path={tmp_path / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--cluster.listen-address=",
        ]
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            options = Alertmanager.Options(url_env="URL", allow_private=True, language="zh")
            environment = {"URL": f"http://127.0.0.1:{port}"}
            manager = Alertmanager("am", options, environment, RealClock())
            begun, pause = time.monotonic(), threading.Event()
            while not manager.send([notice(), notice(key="t", kind="test")]).delivered:
                assert process.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < begun + 60
                pause.wait(0.05)
            assert seen["firing"].wait(30)
            assert manager.refresh([notice(kind="repeat")]).delivered
            ends = [notice(kind="resolved"), notice(slice={"类别 x": LOOPBACK["HOSTILE"]})]
            assert manager.send(ends).delivered
            assert seen["resolved"].wait(30)
        finally:
            process.terminate()
            process.wait()
    assert ours[0]["labels"]["alertname"] == "mrr-drop"
    assert ours[0]["annotations"]["summary"].startswith("[P1] ")
