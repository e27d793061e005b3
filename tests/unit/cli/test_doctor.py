"""``ragnostic doctor``: each thing that may be wrong is said, with what to do."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.monitor.serving import examination


class Handler(BaseHTTPRequestHandler):
    """Answers everything; its clock may be wrong."""

    skew = 0

    def do_GET(self):
        """One answer."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def date_time_string(self, timestamp=None):
        """The time of its clock."""
        import time  # noqa: PLC0415

        return super().date_time_string((timestamp or time.time()) - self.skew)

    def log_message(self, *arguments):
        """Nothing."""


@pytest.fixture
def service():
    """A service that runs."""
    handler = type("Handler", (Handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        server.handler = handler
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def config(tmp_path, service):
    """A sound configuration and a store."""
    (tmp_path / "store" / "snapshots" / "one").mkdir(parents=True)
    (tmp_path / "store" / "store.toml").write_text('[store]\nzone = "Asia/Shanghai"\n')
    path = tmp_path / "gateway.toml"
    path.write_text(
        f'[upstream]\nurl = "http://127.0.0.1:{service.server_port}"\n'
        '[listen]\naddress = "127.0.0.1:0"\n[serve]\naddress = "127.0.0.1:0"\n'
        '[map]\nquery = "request.query"\n'
    )
    return path


def examined(*arguments, code=0):
    """The state and the words of everything that is looked at."""
    done = CliRunner().invoke(cli.app, ["doctor", *map(str, arguments), "--json"])
    assert done.exit_code == code, (done.stdout, done.stderr)
    return {row["what"]: (row["state"], row["said"]) for row in json.loads(done.stdout)["checks"]}


def test_a_sound_machine_has_no_faults(config, service):
    """Whatever is looked at has a line."""
    found = examined("--config", config)
    assert found["python"][0] == "ok"
    assert found["embedder e5-small"][0] == "ok"
    upstream = f"http://127.0.0.1:{service.server_port}"
    assert found[f"upstream {upstream}"] == ("ok", "answers (200)")
    assert found["clock of upstream"][0] == "ok"
    assert found["port listen 127.0.0.1:0"] == ("ok", "free")
    assert "zone Asia/Shanghai" in found["store.toml"][1]
    assert found["queue"] == ("ok", "0 records wait")
    assert found["channels"][0] == "warning"


def test_it_can_be_read(config):
    """A line each, and what to do about what is not well."""
    done = CliRunner().invoke(cli.app, ["doctor", "--config", str(config)])
    assert "warning: channels: docs/channels.md" in done.stdout
    assert "0 faults, " in done.stdout


def test_a_faulty_configuration_is_said_line_by_line(config):
    """And nothing else of it is looked at."""
    config.write_text(config.read_text().replace("[map]", "[mapp]"))
    found = examined("--config", config, code=1)
    first = next(what for what, (state, _) in found.items() if state == "fault")
    assert first.startswith("gateway.toml")


def test_a_service_that_is_not_there_and_a_port_that_is_taken(config, service):
    """The first is a fault, the second may be a ragnostic that runs."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = config.read_text().replace('[listen]\naddress = "127.0.0.1:0"',
                                          f'[listen]\naddress = "127.0.0.1:{port}"')  # fmt: skip
        config.write_text(text.replace(str(service.server_port), "9"))
        found = examined("--config", config, code=1)
    assert found[f"port listen 127.0.0.1:{port}"][0] == "warning"
    state, said = found["upstream http://127.0.0.1:9"]
    assert (state, said.startswith("not reached")) == ("fault", True)


@pytest.mark.parametrize(("skew", "state"), [(10, "warning"), (600, "fault")])
def test_clocks_that_go_apart(config, service, skew, state):
    """Seconds are a warning, minutes a fault."""
    service.handler.skew = skew
    assert examined("--config", config, code=int(state == "fault"))["clock of upstream"][0] == state


def test_a_store_without_a_corpus_or_with_faults(tmp_path, monkeypatch):
    """Settings, rules and secrets are looked at; a folder that is not there is no fault."""
    store = tmp_path / "store"
    assert examined("--store", store)["store"][0] == "warning"
    store.mkdir()
    (store / "store.toml").write_text('[store]\nzone = "Mars/Base"\n')
    assert examined("--store", store, code=1)["store.toml"][0] == "fault"
    (store / "store.toml").write_text("")
    assert examined("--store", store)["corpus snapshot"][0] == "warning"
    channel = '[[channel]]\nname = "ops"\nuse = "webhook"\nurl_env = "OPS_HOOK"\n'
    (store / "alerts.toml").write_text(channel + "allow_private = true\n")
    assert examined("--store", store, code=1)["alerts.toml"][0] == "fault"
    monkeypatch.setenv("OPS_HOOK", "http://127.0.0.1:9/")
    assert examined("--store", store)["channels"][1].startswith("ops;")
    (store / "alerts.toml").write_text("")
    assert examined("--store", store)["channels"] == ("warning", "none: nobody is told")


def test_a_disk_that_is_nearly_full(tmp_path, monkeypatch):
    """Little is a warning, hardly any a fault."""
    for free, state in ((1 << 40, "ok"), (1 << 31, "warning"), (1 << 20, "fault")):
        usage = type("Usage", (), {"free": free})
        monkeypatch.setattr(examination.shutil, "disk_usage", lambda _, usage=usage: usage)
        assert next(iter(examination._disk(tmp_path))).state == state


def test_what_is_missing_is_said(config, monkeypatch):
    """Packages, and the file of the sentinel."""
    config.write_text(config.read_text().replace("[serve]", '[serve]\nsentinel = "gone.toml"'))
    monkeypatch.setattr(examination, "_is_there", lambda _: False)
    found = examined("--config", config, code=1)
    assert found["sentinel"][0] == "fault"
    assert found["extra live"][0] == "warning"
    assert "embedder e5-small" not in found
