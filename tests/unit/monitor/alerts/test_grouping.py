"""Inhibition and grouping: what is not told, and what is told together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.monitor.alerts.grouping import Inhibition, Subject, bundles
from ragnostic.monitor.alerts.post import Post
from ragnostic.ports import Notice

DAY = datetime(2026, 3, 2, tzinfo=UTC)
REFUNDS = {"category": "refunds"}


def notice(key: str, kind: str = "firing", value: float | None = 0.5, **values) -> Notice:
    """A notice about a category."""
    given_values = {
        "severity": "P1",
        "rule": "mrr-drop",
        "metric": "RR@5",
        "reference": 0.8,
        "against": "baseline",
        "n": 300,
        "since": DAY,
        "window": (DAY, DAY + timedelta(hours=1)),
        "zone": "UTC",
        "slice": {"category": key},
    }
    return Notice(key=key, kind=kind, value=value, **given_values | values)


def test_a_graver_alert_about_the_same_thing_holds_back():
    """The same metric, stage and judge, and slices that it covers."""
    whole = Subject("whole", "P0", "RCS@10", "rerank", "gold", {})
    firing = Inhibition([whole])
    same = {"metric": "RCS@10", "stage": "rerank", "judge": "gold"}
    assert firing.inhibitor(Subject("a", "P1", **same)) == "whole"
    assert firing.inhibitor(Subject("a", "P2", **same, labels=REFUNDS)) == "whole"
    assert firing.inhibitor(Subject("a", "P0", **same)) == ""
    for other in ({"metric": "RR@5"}, {"stage": "retrieve"}, {"judge": "grader"}):
        assert firing.inhibitor(Subject("a", "P1", **same | other)) == ""


def test_a_slice_covers_itself_and_what_lies_in_it():
    """Not everything, and not its neighbours."""
    firing = Inhibition([Subject("refunds", "P1", "RR@5", labels=REFUNDS)])
    for labels, held in (
        (REFUNDS, True),
        ({**REFUNDS, "service": "a"}, True),
        ({"category": "orders"}, False),
        ({}, False),
    ):
        found = firing.inhibitor(Subject("light", "P2", "RR@5", labels=labels))
        assert found == ("refunds" if held else "")


def test_the_gravest_one_is_named():
    """Whatever order they come in; nobody is held back by an equal."""
    subjects = [Subject(name, name, "RR@5") for name in ("P1", "P0", "P2")]
    firing = Inhibition(subjects)
    assert [firing.inhibitor(one) for one in subjects] == ["P0", "", "P0"]


def test_many_slices_of_a_rule_are_one_message():
    """The worst in front with its value, five by name, the others counted."""
    values = [0.7, 0.2, None, 0.5, 0.6, 0.65, 0.4]
    given_notices = [notice(f"c{place}", value=value) for place, value in enumerate(values)]
    (bundle,) = bundles(given_notices)
    told = bundle.notice
    assert (told.value, told.n, bundle.worst) == (0.2, 300, "c1")
    assert set(bundle.members) == {f"c{place}" for place in range(7)}
    assert told.slice == {"category": "c1, c6, c3, c4, c5, … (7)"}
    assert told.summary["en"] == (
        "7 slices, the worst first: c1 0.200, c6 0.400, c3 0.500, c4 0.600, c5 0.650, and 2 more."
    )
    assert told.summary["zh"] == (
        "共 7 个分片，最严重的在前：c1 0.200，c6 0.400，c3 0.500，c4 0.600，c5 0.650，另有 2 个。"
    )


def test_rules_and_kinds_are_told_apart():
    """One alone is told as it is; a sentence of the rule's own stands in front."""
    summary = {"zh": "排序变差。", "en": "Rankings got worse."}
    given_notices = [
        notice("a", summary=summary),
        notice("b", summary=summary, since=DAY - timedelta(days=1)),
        notice("c", rule="other"),
    ]
    group, alone = bundles(given_notices)
    assert alone.notice == given_notices[2]
    assert group.notice.since == DAY - timedelta(days=1)
    assert group.notice.summary["en"].startswith("Rankings got worse. 2 slices, the worst first: a")
    assert group.notice.summary["zh"].startswith("排序变差。共 2 个分片")


def test_a_long_or_nameless_slice_value_is_cut():
    """A message has only so much room."""
    (bundle,) = bundles([notice("x" * 500, value=0.1), notice("")])
    assert "x" * 40 + "…" in bundle.notice.summary["en"]
    assert "x" * 41 not in bundle.notice.summary["en"] + bundle.notice.slice["category"]
    assert "– 0.500" in bundle.notice.summary["en"]


def test_reminders_come_under_the_key_of_the_first_message():
    """Those of a group together."""
    post = Post(lambda _: ["ops"], {("ops", "a"): "group", ("ops", "b"): "group"})
    post.tell([notice(name, "repeat") for name in "abc"])
    assert [told.key for _, told in post.parcels] == ["group", "c"]


def test_what_no_channel_takes_is_known():
    """It is counted, not lost."""
    post = Post(lambda one: ["ops"] if one.severity == "P0" else [], {})
    post.tell([notice("a"), notice("b", severity="P0")])
    assert [one.key for one in post.unrouted] == ["a"]
    assert [(name, told.key) for name, told in post.parcels] == [("ops", "b")]


@given(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), max_size=12), st.booleans())
def test_each_message_that_begins_something_has_one_that_ends_it(rounds, restart):
    """Whatever begins and ends together, also when another process goes on in between."""
    fires: set[str] = set()
    episode = dict.fromkeys("abcdef", 0)
    members: dict[tuple[str, str], str] = {}
    told: list[tuple[str, str]] = []
    post = Post(lambda _: ["ops"], members)
    for changed in rounds:
        begun, over = changed - fires, changed & fires
        for name in begun:
            episode[name] += 1
        keys = {name: f"{name}{episode[name]}" for name in changed}
        post.tell(
            [notice(keys[name], "resolved") for name in sorted(over)]
            + [notice(keys[name]) for name in sorted(begun)]
        )
        fires ^= changed
        if restart:
            told += [(one.kind, one.key) for _, one in post.parcels]
            members |= {(channel, member): key for channel, member, key in post.joined}
            for place in post.left:
                del members[place]
            post = Post(lambda _: ["ops"], members)
    told += [(one.kind, one.key) for _, one in post.parcels]
    begun_keys = [key for kind, key in told if kind == "firing"]
    ended_keys = [key for kind, key in told if kind == "resolved"]
    assert len(set(begun_keys)) == len(begun_keys)
    assert len(set(ended_keys)) == len(ended_keys)
    assert set(ended_keys) <= set(begun_keys)
    assert (set(begun_keys) == set(ended_keys)) is (not fires)
