"""The robots of group chats against servers that take what their vendors take, and no more."""

from __future__ import annotations

import dataclasses
import re
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragnostic.errors import UsageError
from ragnostic.notify.dingtalk import DingTalk
from ragnostic.notify.feishu import Feishu
from ragnostic.notify.slack import Slack
from ragnostic.notify.wecom import WeCom
from ragnostic.ports import Notice

SERVERS = runpy.run_path(str(Path(__file__).parent / "notify_servers.py"))
KEY, SECRET = SERVERS["KEY"], SERVERS["SECRET"]
ROBOTS = {
    "wecom": (WeCom, SERVERS["WeComServer"], False),
    "feishu": (Feishu, SERVERS["FeishuServer"], True),
    "dingtalk": (DingTalk, SERVERS["DingTalkServer"], True),
    "slack": (Slack, SERVERS["SlackServer"], False),
}
SIGNED = [name for name, (_, _, signed) in ROBOTS.items() if signed]
CASE = runpy.run_path(str(Path(__file__).parents[1] / "notice_case.py"))
HOUR = CASE["HOUR"]
NOTICE = CASE["NOTICE"]
HOSTILE = (
    "<@all> @all @所有人 @13800001111 <!channel> <!here|x> "
    '<at id=all></at> <at user_id="all">x</at> '
    "**b** _i_ ~s~ `c` [free](https://evil.example/a) ![x](http://evil.example/p.png) "
    "<https://evil.example|ok> http://evil.example/b www.evil.example mailto:a@evil.example "
    '"},"at":{"isAtAll":true},"x":{" \n# head\n> quote\n- list\u202e\x00\ud800'
)


@dataclass
class Scene:
    """A robot, its vendor, and the clock of both."""

    robot: Any
    vendor: Any
    clock: Any


def scene(name: str, **settings: Any) -> Scene:
    """A robot beside its vendor; ``skew_s`` and ``secret`` are the vendor's."""
    kind, server, signed = ROBOTS[name]
    clock = SERVERS["SteppedClock"]()
    own = {key: settings.pop(key) for key in ("skew_s", "secret") if key in settings}
    vendor = server(clock, **own)
    environment = {"HOOK": f"{vendor.url}\n", "HOOK_SECRET": SECRET}
    if signed:
        settings.setdefault("secret_env", "HOOK_SECRET")
    options = kind.Options(url_env="HOOK", allow_private=True, **settings)
    robot = kind("ops", options, environment, clock)
    return Scene(robot, vendor, clock)


@pytest.fixture
def stage() -> Iterator[Any]:
    """Scenes that are closed afterwards."""
    made: list[Scene] = []

    def make(name: str, **settings: Any) -> Scene:
        made.append(scene(name, **settings))
        return made[-1]

    yield make
    for one in made:
        one.vendor.close()


@pytest.fixture(params=ROBOTS)
def name(request) -> str:
    """Each of the four."""
    return request.param


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("kind", ["firing", "repeat", "resolved", "rebaselined", "test"])
def test_every_kind_of_notice_is_taken(stage, name, kind, language):
    """One message with the words, and the two links that the rule has, and no other."""
    found = stage(name, language=language)
    assert found.robot.send([dataclasses.replace(NOTICE, kind=kind)]) == (True, "", None)
    (shown,) = found.vendor.taken
    for word in ("P1", "MRR@5", "0.691", "退款", "search-team", "1,234", "Asia/Shanghai"):
        assert word in shown.text
    assert set(shown.addresses) == {NOTICE.runbook, NOTICE.link}
    assert ("平均倒数排名" in shown.text) == (language == "zh")
    assert not shown.mentions


def test_nothing_of_a_hostile_text_becomes_more_than_text(stage, name):
    """No mention, link, image, markup or further field, wherever the text stands."""
    found = stage(name)
    texts = {"zh": HOSTILE, "en": HOSTILE}
    hostile = dataclasses.replace(
        NOTICE,
        rule=HOSTILE,
        metric=HOSTILE,
        against=HOSTILE,
        stage=HOSTILE,
        slice={HOSTILE: HOSTILE, "category": ""},
        summary=texts,
        worst_query=HOSTILE,
        likely_cause=texts,
        owner=HOSTILE,
        runbook="javascript:alert(1)//https://evil.example",
        link="https://rag.example/q?a=)|<!channel>](x)",
    )
    assert found.robot.send([hostile, hostile]).delivered
    assert not found.vendor.refused
    for shown in found.vendor.taken:
        assert not shown.mentions
        assert set(shown.addresses) <= {
            "https://rag.example/q?a=%29%7C%3C!channel%3E%5D%28x%29",
        }
        assert "\u202e" not in shown.text
        assert "\x00" not in shown.text
    assert any("evil" in shown.text for shown in found.vendor.taken)


def storm(count: int) -> list[Notice]:
    """Many notices of long texts; the only P0 is the last."""
    long = "👩‍💻" * 40 + "退" * 400 + '\\"' * 100
    return [
        dataclasses.replace(
            NOTICE,
            severity="P0" if number == count - 1 else "P2",
            rule=f"rule-{number}",
            worst_query=long,
            summary={"zh": long},
            likely_cause={"zh": long},
        )
        for number in range(count)
    ]


def test_a_storm_keeps_every_limit_tells_the_worst_first_and_counts_the_rest(stage, name):
    """No more than ``max_messages``, all taken, numbered, whole characters only."""
    found = stage(name, max_messages=3)
    assert found.robot.send(storm(200)).delivered
    assert not found.vendor.refused
    shown = [one.text for one in found.vendor.taken]
    assert 1 <= len(shown) <= 3
    assert "P0 × 1" in shown[0]
    assert "rule-199" in shown[0]
    told = sum(len(re.findall(r"rule-\d+", text)) for text in shown)
    assert f"另有 {200 - told} 条" in shown[-1]
    for place, text in enumerate(shown, 1):
        assert f"({place}/{len(shown)})" in text
        assert "�" not in text
        assert "👩\n" not in text
        assert "略去" in text


def test_one_notice_is_told_even_where_it_needs_more_messages_than_are_allowed(stage):
    """A limit on messages never silences the only alert."""
    found = stage("wecom", max_messages=1)
    notice = dataclasses.replace(
        NOTICE, rule="rule-0", slice={f"column {place}": "🙂" * 300 for place in range(6)}
    )
    assert found.robot.send([notice]).delivered
    assert len(found.vendor.taken) > 1
    assert "rule-0" in "".join(one.text for one in found.vendor.taken)


def test_the_rate_is_kept_by_the_robot_itself(stage, name):
    """The vendor never has to refuse; every notice arrives once time has passed."""
    found = stage(name)
    waited = 0
    for number in range(110):
        notice = dataclasses.replace(NOTICE, rule=f"rule-{number}")
        delivery = found.robot.send([notice])
        while not delivery.delivered:
            assert delivery.retry_after_s > 0
            assert "rate limit" in delivery.reason
            waited += 1
            found.clock.time += delivery.retry_after_s
            delivery = found.robot.send([notice])
    assert not found.vendor.refused
    assert len(found.vendor.taken) == 110
    assert waited or found.clock.slept


def test_a_sending_that_the_rate_has_no_room_for_is_not_begun(stage):
    """Half of it would come twice after a restart."""
    found = stage("wecom")
    for number in range(18):
        assert found.robot.send([dataclasses.replace(NOTICE, rule=f"{number}")]).delivered
    delivery = found.robot.send(storm(10))
    assert not delivery.delivered
    assert delivery.retry_after_s == 60
    assert len(found.vendor.taken) == 18
    found.clock.time += 60
    assert found.robot.send(storm(10)).delivered


def test_nothing_to_tell_is_told_at_once(stage, name):
    """Without a message."""
    found = stage(name)
    assert found.robot.send([]).delivered
    assert not found.vendor.bodies


def test_a_vendor_that_is_busy_says_when_to_come_back(stage, name):
    """Another program used up the rate; nothing goes until then."""
    found = stage(name)
    found.vendor.script.append(found.vendor.busy())
    delivery = found.robot.send([NOTICE])
    assert not delivery.delivered
    assert delivery.retry_after_s >= 10
    assert any(word in delivery.reason for word in ("freq", "too fast", "rate_limited"))
    assert not found.robot.send([NOTICE]).delivered
    assert len(found.vendor.bodies) == 1
    found.clock.time += delivery.retry_after_s
    assert found.robot.send([NOTICE]).delivered


def test_http_200_with_an_error_code_is_a_failure_with_the_reason_and_no_secret(stage, name):
    """Nobody waits for what will not change, and no log holds a key."""
    found = stage(name)
    found.vendor.script.append(found.vendor.fault())
    delivered, reason, retry = found.robot.send([NOTICE])
    assert not delivered
    assert retry is None
    assert any(word in reason for word in ("93000", "300001", "19001", "no_service"))
    assert KEY not in reason
    assert SECRET not in reason
    assert "***" in reason


@pytest.mark.parametrize("body", [b"<html>log in first</html>", b"", b'{"ok": true}', b"[]"])
def test_a_success_that_is_not_the_vendors_is_tried_again(stage, name, body):
    """The page of a proxy is no delivery."""
    found = stage(name)
    found.vendor.script.append(SERVERS["Answer"](body))
    delivered, reason, retry = found.robot.send([NOTICE])
    assert (delivered, retry) == (False, 60.0)
    assert "would not" in reason


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_that_fails_is_tried_again(stage, name, status):
    """Whatever it says."""
    found = stage(name)
    found.vendor.script.append(SERVERS["Answer"](b"upstream", status))
    assert found.robot.send([NOTICE]).retry_after_s == 0
    assert found.robot.send([NOTICE]).delivered


def test_a_status_of_failure_with_a_code_of_success_is_a_failure(stage):
    """Both have to be right."""
    found = stage("feishu")
    found.vendor.script.append(SERVERS["Answer"].of(status=502, code=0, msg="ok"))
    assert found.robot.send([NOTICE]).retry_after_s == 0


@pytest.mark.parametrize("signed", SIGNED)
@pytest.mark.parametrize(
    ("skew_s", "taken"), [(3590, True), (-3590, True), (3700, False), (-3700, False)]
)
def test_the_signature_is_of_the_moment_and_an_hour_at_most(stage, signed, skew_s, taken):
    """A clock that is further off is told by the vendor's reason, and not tried again."""
    found = stage(signed, skew_s=skew_s)
    delivery = found.robot.send([NOTICE])
    assert delivery.delivered == taken
    assert taken or "timestamp" in delivery.reason
    assert delivery.retry_after_s is None


@pytest.mark.parametrize("signed", SIGNED)
def test_a_wrong_secret_is_refused_and_none_is_needed_where_the_robot_has_none(stage, signed):
    """A signature is sent only if there is a secret."""
    assert not stage(signed, secret=KEY).robot.send([NOTICE]).delivered
    assert not stage(signed, secret_env="").robot.send([NOTICE]).delivered
    unsigned = stage(signed, secret="", secret_env="")
    assert unsigned.robot.send([NOTICE]).delivered
    assert b"sign" not in unsigned.vendor.bodies[0]


def test_a_sending_that_broke_off_goes_on_where_it_stopped(stage, name):
    """What arrived is not sent twice."""
    whole, broken = stage(name, max_messages=9), stage(name, max_messages=9)
    notices = storm(60)
    assert whole.robot.send(notices).delivered
    assert len(whole.vendor.taken) >= 3
    broken.vendor.script += [None, None, SERVERS["Answer"](b"", 503)]
    assert not broken.robot.send(notices).delivered
    assert len(broken.vendor.taken) == 2
    assert broken.robot.send(notices).delivered
    assert broken.vendor.taken == whole.vendor.taken
    broken.clock.time += 60
    assert broken.robot.send(notices).delivered
    assert broken.vendor.taken == [*whole.vendor.taken, *whole.vendor.taken]


def test_a_robot_without_its_variable_or_with_an_address_of_the_house_is_refused(name):
    """When it is made, before anything is sent; the address is not shown."""
    kind, _, _ = ROBOTS[name]
    clock = SERVERS["SteppedClock"]()
    with pytest.raises(UsageError, match="environment variable HOOK, not set"):
        kind("ops", kind.Options(url_env="HOOK"), {}, clock)
    environment = {"HOOK": f"http://127.0.0.1:9/{KEY}"}
    with pytest.raises(UsageError, match="allow_private") as caught:
        kind("ops", kind.Options(url_env="HOOK"), environment, clock)
    assert KEY not in str(caught.value)


def test_nobody_at_the_other_end_is_tried_again(stage, name):
    """A connection that is refused may pass."""
    found = stage(name)
    found.vendor.close()
    delivered, reason, retry = found.robot.send([NOTICE])
    assert (delivered, retry) == (False, 0.0)
    assert KEY not in reason
