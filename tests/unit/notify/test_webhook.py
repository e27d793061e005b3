"""The webhook of one's own: its form, its signature, its refusals."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import runpy
from datetime import timedelta
from pathlib import Path

import pytest

from ragnostic.errors import UsageError
from ragnostic.notify.webhook import SCHEMA, Webhook, notice_id, notice_json, sign

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
notice, served, Said = (LOOPBACK[name] for name in ("notice", "served", "Said"))
KEY = "test-secret-not-real"


def hook(server, secret=KEY, **options):
    """A channel to this server."""
    chosen = Webhook.Options(
        url_env="HOOK", secret_env="KEY" if secret else "", allow_private=True, **options
    )
    environment = {"HOOK": server.url, "KEY": secret}
    return Webhook("ops", chosen, environment, LOOPBACK["SteppedClock"]())


def is_signed(asked, secret: bytes, now: float) -> bool:
    """What a careful receiver does (docs/channels/webhook.md)."""
    stamp = asked.headers["webhook-timestamp"]
    if abs(now - int(stamp)) > 300:
        return False
    signed = b".".join((asked.headers["webhook-id"].encode(), stamp.encode(), asked.body))
    wanted = base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
    return any(
        hmac.compare_digest(one, f"v1,{wanted}")
        for one in asked.headers["webhook-signature"].split(" ")
    )


def test_the_signature_is_that_of_standard_webhooks():
    """The example of its specification."""
    secret = base64.b64decode("plJ3nmyCDGBKInavdOK15jsl")
    body = b'{"event_type":"ping","data":{"success":true}}'
    assert (
        sign(secret, "msg_loFOjxBNrRLzqYUf", 1731705121, body)
        == "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="
    )


def test_a_receiver_can_tell_who_wrote_and_when():
    """A body that was changed, an old one and another secret are refused."""
    with served() as server:
        assert hook(server).send([notice()]).delivered
        asked = server.asked[0]
    now = LOOPBACK["NOW"]
    assert is_signed(asked, KEY.encode(), now)
    assert not is_signed(asked, b"another", now)
    assert not is_signed(asked, KEY.encode(), now + 301)
    changed = type(asked)(asked.method, asked.target, asked.headers, asked.body + b" ")
    assert not is_signed(changed, KEY.encode(), now)


def test_a_secret_in_base64_is_decoded():
    """As libraries of Standard Webhooks do."""
    raw = b"0123456789abcdef01234567"
    with served() as server:
        hook(server, "whsec_" + base64.b64encode(raw).decode()).send([notice()])
        assert is_signed(server.asked[0], raw, LOOPBACK["NOW"])
        with pytest.raises(UsageError, match="KEY holds after whsec_ is not base64") as refused:
            hook(server, "whsec_s3cret!")
    assert "s3cret" not in str(refused.value)


def test_without_a_secret_nothing_is_signed():
    """Rather than with an empty one."""
    with served() as server:
        assert hook(server, "").send([notice()]).delivered
        assert "webhook-signature" not in server.asked[0].headers


def test_the_body_says_everything_in_values_and_in_words():
    """The worst first."""
    with served() as server:
        assert hook(server, language="en").send([notice(), notice(severity="P0")]).delivered
        asked = server.asked[0]
    body = json.loads(asked.body)
    assert (body["schema"], body["sent_at"]) == (SCHEMA, "2026-01-05T06:00:00+00:00")
    assert [one["severity"] for one in body["notices"]] == ["P0", "P1"]
    told = body["notices"][1]
    assert told["value"] == 0.691
    assert told["reference"] == 0.812
    assert told["slice"] == {"category": "退款"}
    assert told["window"] == {
        "start": "2026-01-05T05:00:00+00:00",
        "end": "2026-01-05T06:00:00+00:00",
    }
    assert told["title"].startswith("[P1] MRR@5 fell")
    assert "0.812" in told["text"]
    assert told["link"] == "https://rag.example/q?a=1&b=2"
    assert asked.headers["content-type"] == "application/json; charset=utf-8"


def test_the_same_notices_have_the_same_id_whenever_they_are_sent():
    """And others another one."""
    with served() as server:
        channel = hook(server)
        channel._clock.sleep(60)
        for notices in ([notice()], [notice()], [notice(kind="resolved")]):
            channel.send(notices)
        first, again, other = server.asked
    assert first.headers["webhook-id"] == again.headers["webhook-id"]
    assert first.headers["idempotency-key"] == first.headers["webhook-id"]
    assert other.headers["webhook-id"] != first.headers["webhook-id"]


def test_each_notice_has_an_id_of_its_own():
    """By episode, kind and window."""
    later = tuple(moment + timedelta(hours=1) for moment in notice().window)
    ids = {
        notice_id(one)
        for one in (
            notice(),
            notice(key="b"),
            notice(kind="repeat"),
            notice(kind="repeat", window=later),
        )
    }
    assert len(ids) == 4
    assert notice_id(notice()) == notice_id(notice(value=0.1))


def test_what_json_cannot_hold_is_null():
    """A NaN, an infinity, half a character."""
    given = notice(
        value=float("nan"), low=float("-inf"), high=None, worst_query=LOOPBACK["HOSTILE"]
    )
    told = notice_json(given, "zh")
    assert (told["value"], told["low"], told["high"]) == (None, None, None)
    with served() as server:
        assert hook(server).send([given]).delivered
        json.loads(server.asked[0].body.decode("utf-8"))


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        (Said(400, b"no"), None),
        (Said(410, b""), None),
        (Said(429, b"", {"Retry-After": "9"}), 9.0),
        (Said(503, b"later"), 0.0),
        (Said(307, b"", {"Location": "http://169.254.169.254/"}), None),
    ],
)
def test_what_is_no_success_is_a_failure(said, wait):
    """And says whether another try makes sense, without a secret."""
    with served(lambda asked: said) as server:
        delivery = hook(server).send([notice()])
    assert not delivery.delivered
    assert delivery.retry_after_s == wait
    assert "secret" not in delivery.reason
