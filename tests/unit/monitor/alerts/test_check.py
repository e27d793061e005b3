"""A check: windows in order, messages once, whatever is missed, late, repeated or restarted."""

from __future__ import annotations

import random
import runpy
from datetime import timedelta
from pathlib import Path

import pytest

from ragnostic.errors import StoreError
from ragnostic.monitor.alerts.book import Book, Changes
from ragnostic.monitor.alerts.check import check_alerts
from ragnostic.monitor.alerts.outbox import BookOutbox, Orders
from ragnostic.monitor.alerts.silences import Silence

CASE = runpy.run_path(str(Path(__file__).parent / "watch_case.py"))
Watch, rule, book_of = CASE["Watch"], CASE["rule"], CASE["book_of"]
START, HOUR, DAY, N = CASE["START"], CASE["HOUR"], CASE["DAY"], CASE["N"]


def hours(*values):
    """Values of the hours from the first on; None leaves one out."""
    return {place: value for place, value in enumerate(values) if value is not None}


@pytest.fixture
def watch(tmp_path):
    """A watch with one rule: RR@5 below 0.5 for two hours."""
    return Watch(tmp_path, book_of(rule(**{"below": 0.5, "for": 2})))


def test_each_hour_is_looked_at_once_and_told_once(watch):
    """An episode, its end, and nothing else; a second check changes nothing."""
    watch.traffic.write(hours(0.8, 0.4, 0.4, 0.4, 0.8, 0.8))
    for hour in range(6):
        watch.check(hour + 1)
        again = watch.check(hour + 1)
        assert (again.evaluated, again.messages, again.events) == (0, (), ())
    assert watch.heard == [(3, "firing", "mrr-low:"), (5, "resolved", "mrr-low:")]
    with Book(watch.root) as book:
        events = [event.event for event in book.history()]
    assert events == ["pending", "firing", "resolved"]


def test_a_notice_says_everything(watch):
    """Value, limit, n, since, window."""
    watch.traffic.write(hours(0.8, 0.4, 0.4))
    watch.run(range(3))
    ((channel, notice),) = watch.last.messages
    assert (channel, notice.kind, notice.severity, notice.rule) == (
        "ops",
        "firing",
        "P1",
        "mrr-low",
    )
    assert notice.value == pytest.approx(0.4)
    assert (notice.reference, notice.against, notice.n) == (0.5, "limit", N)
    assert notice.since == START + HOUR
    assert notice.window == (START + 2 * HOUR, START + 3 * HOUR)
    assert (notice.stage, notice.zone, dict(notice.slice)) == ("rerank", "UTC", {})
    assert notice.low < notice.value < notice.high


def test_a_window_is_looked_at_when_it_is_a_little_older(watch):
    """Its last rows are still on their way."""
    watch.traffic.write(hours(0.8, 0.4, 0.4))
    assert watch.check(3, lateness=timedelta(minutes=20)).firing == 0
    assert watch.check(3, lateness=timedelta(minutes=15)).firing == 1


def test_missed_windows_are_caught_up_in_order(watch):
    """What began and ended meanwhile is told too."""
    watch.traffic.write(hours(0.8, 0.8))
    watch.run(range(2))
    watch.traffic.write({2: 0.4, 3: 0.4, 4: 0.8})
    watch.traffic.write({6: 0.4, 7: 0.4})
    found = watch.check(8)
    assert found.evaluated == 6
    assert [kind for _, kind, _ in watch.heard] == ["firing", "resolved", "firing"]


def test_no_data_is_its_own_state(watch):
    """It neither counts nor resets, and few rows are none."""
    watch.traffic.write(hours(0.8, 0.4, None, (0.9, 20), 0.4, None, 0.8))
    watch.run(range(3))
    assert watch.statuses() == {"mrr-low:": "pending"}
    watch.run(range(3, 6))
    assert watch.statuses() == {"mrr-low:": "firing"}
    assert watch.last.tracks.popitem()[1].state.reading.state == "no data"
    watch.run([6])
    assert [kind for _, kind, _ in watch.heard] == ["firing", "resolved"]


def test_the_past_of_a_new_rule_is_learned_quietly(tmp_path):
    """Only what is still so is told."""
    learned = rule(drop=0.1, min_windows=3)
    watch = Watch(tmp_path, book_of(rule(id="absolute", below=0.5), learned))
    watch.traffic.write(hours(0.8, 0.8, 0.8, 0.4, 0.4, 0.8, 0.8))
    watch.check(7)
    assert watch.heard == []
    watch.traffic.write({7: 0.65})
    watch.check(8)
    assert watch.heard == [(8, "firing", "mrr-low:")]
    fresh = Watch(tmp_path / "other", book_of(rule(below=0.5)))
    fresh.traffic.write(hours(0.8, 0.4, 0.4))
    fresh.check(3)
    assert fresh.heard == [(3, "firing", "mrr-low:")]


def test_late_rows_open_a_window_again_without_a_second_message(watch):
    """Still in breach: nothing. Not any more: its end. Only now: its beginning."""
    watch.traffic.write(hours(0.8, 0.4, 0.4))
    watch.run(range(3))
    watch.traffic.write({2: (0.39, 350)})
    again = watch.check(3)
    assert (again.reopened, again.messages) == (1, ())
    watch.traffic.write({1: (0.7, 900)})
    gone = watch.check(3)
    assert [notice.kind for _, notice in gone.messages] == ["resolved"]
    assert gone.events[0].body["to"] == "pending"
    watch.traffic.write({1: (0.3, 950)})
    back = watch.check(3)
    assert [notice.kind for _, notice in back.messages] == ["firing"]
    keys = [notice.key for found in (gone, back) for _, notice in found.messages]
    assert keys[0] != keys[1]


def test_windows_that_are_long_past_stay_as_they_were(watch):
    """A week later nobody is told of them."""
    watch.traffic.write(dict.fromkeys(range(100), 0.8))
    watch.run([50, 99])
    watch.traffic.write({5: 0.1, 6: 0.1})
    assert watch.check(100).reopened == 0
    watch.traffic.write({98: 0.1, 99: 0.1})
    assert watch.check(100).reopened == 1
    assert watch.heard == [(100, "firing", "mrr-low:")]


def test_rebaselining_is_told_and_forgets_nothing(tmp_path):
    """After seven days of hours the new level is what is usual."""
    watch = Watch(tmp_path, book_of(rule(drop=0.1)))
    watch.traffic.write({hour: 0.8 if hour < 10 else 0.5 for hour in range(200)})
    watch.run([9, 10, 60, 177, 178, 199])
    assert watch.heard == [(11, "firing", "mrr-low:"), (11 + 7 * 24, "rebaselined", "mrr-low:")]
    ((_, track),) = watch.last.tracks.items()
    assert track.state.baselines[0].value == pytest.approx(0.5)
    with Book(watch.root) as book:
        (parcel,) = [one for one in BookOutbox(book).waiting() if one.notice.kind != "firing"]
    assert parcel.notice.value == pytest.approx(0.5)
    assert parcel.notice.reference == pytest.approx(0.8)


def test_many_slices_are_one_message_that_ends_once(tmp_path):
    """When the last of them is over."""
    watch = Watch(tmp_path, book_of(rule(below=0.5, slice="category")))
    for place, name in enumerate(["退款", "orders", "vpn"]):
        low = 0.2 + place / 10
        watch.traffic.write(
            hours(0.8, low, low, 0.8 if place else low, 0.8), "RR@5", "category", name
        )
    watch.run(range(5))
    assert watch.heard == [
        (2, "firing", "mrr-low:退款, orders, vpn"),
        (5, "resolved", "mrr-low:退款"),
    ]
    with Book(watch.root) as book:
        first, last = (parcel.notice for parcel in BookOutbox(book).waiting())
    assert first.key == last.key
    assert first.value == pytest.approx(0.2)
    assert "orders 0.300" in first.summary["en"]


def test_where_watches_one_value(tmp_path):
    """The others are nobody's business."""
    watch = Watch(tmp_path, book_of(rule(below=0.5, where={"category": "vpn"})))
    watch.traffic.write(hours(0.2), "RR@5", "category", "orders")
    watch.traffic.write(hours(0.3), "RR@5", "category", "vpn")
    watch.run([0])
    assert watch.heard == [(1, "firing", "mrr-low:vpn")]


def test_a_graver_alert_holds_a_lighter_one_back(tmp_path):
    """About the same thing; its slices too. It is told when the graver one is over."""
    grave = rule(id="grave", below=0.3, severity="P0")
    sliced = rule(id="sliced", below=0.5, severity="P2", slice="category")
    other = rule(id="other", metric="R@10", below=0.5)
    watch = Watch(tmp_path, book_of(rule(below=0.5), grave, sliced, other))
    watch.traffic.write(hours(0.8, 0.2, 0.4, 0.8))
    watch.traffic.write(hours(0.8, 0.2, 0.2, 0.8), "RR@5", "category", "vpn")
    watch.traffic.write(hours(0.8, 0.2, 0.8, 0.8), "R@10")
    watch.run(range(4))
    assert watch.heard == [
        (2, "firing", "grave:"),
        (2, "firing", "other:"),
        (3, "resolved", "grave:"),
        (3, "resolved", "other:"),
        (3, "firing", "mrr-low:"),
        (4, "resolved", "mrr-low:"),
    ]
    assert watch.statuses()["sliced:vpn"] == "resolved"


def test_a_silence_holds_back(watch):
    """The alert fires and says so; when it is over, what is still so is told."""
    silence = Silence(START, START + 4 * HOUR, "sale", "li", "mrr-*")
    with Book(watch.root) as book:
        number = book.silence(silence, START)
    watch.traffic.write(hours(0.4, 0.4, 0.4, 0.4, 0.4))
    watch.run(range(3))
    ((_, track),) = watch.last.tracks.items()
    assert (watch.last.firing, track.state.silence, watch.heard) == (1, number, [])
    watch.run([3])
    assert watch.heard == [(4, "firing", "mrr-low:")]


def test_reminders_are_one_an_interval(tmp_path):
    """And only where the rule has one."""
    watch = Watch(tmp_path, book_of(rule(below=0.5, repeat="3h"), rule(id="once", below=0.5)))
    watch.traffic.write(dict.fromkeys(range(8), 0.4))
    watch.run(range(8))
    assert [(hour, kind) for hour, kind, name in watch.heard if name == "mrr-low:"] == [
        (1, "firing"),
        (4, "repeat"),
        (7, "repeat"),
    ]
    assert [kind for _, kind, name in watch.heard if name == "once:"] == ["firing"]


def test_further_conditions_are_read_too(tmp_path):
    """On the same window, slice and judge; where there is no such figure, there is no data."""
    both = rule(**{"below": 0.5, "with": [{"metric": "R@10", "above": 0.1}]})
    watch = Watch(tmp_path, book_of(both))
    watch.traffic.write(hours(0.4, 0.4))
    watch.run([0])
    assert watch.statuses() == {"mrr-low:": "inactive"}
    watch.traffic.write({1: 0.3}, "R@10")
    watch.run([1])
    assert watch.heard == [(2, "firing", "mrr-low:")]


def test_judges_are_told_apart(tmp_path):
    """Each is an alert of its own, named where there are several."""
    watch = Watch(tmp_path, book_of(rule(below=0.5)))
    watch.traffic.write(hours(0.4), judge="gold")
    watch.traffic.write(hours(0.8), judge="grader")
    watch.run([0])
    ((_, notice),) = watch.last.messages
    assert dict(notice.slice) == {"judge": "gold"}
    assert len(watch.last.tracks) == 2


def test_a_slice_value_that_comes_no_more_is_forgotten(tmp_path):
    """Unless its alert fires: that one has no data, and waits for somebody."""
    watch = Watch(tmp_path, book_of(rule(below=0.5, slice="category")))
    watch.traffic.write({0: 0.8}, "RR@5", "category", "well")
    watch.traffic.write({0: 0.3}, "RR@5", "category", "ill")
    watch.run([0])
    watch.traffic.write(dict.fromkeys(range(600), 0.8), "RR@5", "category", "others")
    watch.run([100, 300, 599])
    assert watch.statuses() == {"mrr-low:ill": "firing", "mrr-low:others": "inactive"}
    (ill,) = [key for key in watch.last.tracks if key.value == "ill"]
    state = watch.last.tracks[ill].state
    assert (state.reading.state, state.window) == ("no data", START + 599 * HOUR)
    assert watch.check(600).evaluated == 0
    assert len(watch.heard) == 1


def test_a_long_pause_of_the_watch_leaves_nothing_out(watch):
    """Weeks later every window is looked at."""
    watch.traffic.write(dict.fromkeys(range(1000), 0.8) | {100: 0.3, 101: 0.3})
    watch.run([10])
    assert watch.check(1000).evaluated == 989
    assert [kind for _, kind, _ in watch.heard] == ["firing", "resolved"]


def test_a_rule_that_is_gone_ends_its_alerts(watch):
    """As they were told; and they are forgotten."""
    watch.traffic.write(hours(0.4, 0.4))
    watch.run(range(2))
    watch.rules = book_of(rule(below=0.5, enabled=False, severity="P2"))
    found = watch.check(2)
    ((_, notice),) = found.messages
    assert (notice.kind, notice.severity, notice.value) == ("resolved", "P1", None)
    assert [event.event for event in found.events] == ["withdrawn"]
    assert (found.tracks, watch.check(2).messages) == ({}, ())


def test_a_rule_that_measures_something_else_starts_anew(watch):
    """The old episode ends; the new one has a key of its own. Limits may change without that."""
    watch.traffic.write(hours(0.4, 0.4, 0.4))
    watch.traffic.write(hours(0.2, 0.2, 0.2), "R@10")
    watch.run(range(2))
    watch.rules = book_of(rule(below=0.45, severity="P0"))
    assert watch.check(2).messages == ()
    watch.rules = book_of(rule(metric="R@10", below=0.5, severity="P0"))
    found = watch.check(2)
    old, new = (notice for _, notice in found.messages)
    assert (old.kind, old.severity, old.value) == ("resolved", "P1", None)
    assert (new.kind, new.severity) == ("firing", "P0")
    assert old.key != new.key


def test_actions_are_ordered_with_the_state(tmp_path):
    """Once for many slices, at the beginning and the end; those that nobody set up are not."""
    rules = book_of(
        rule(below=0.5, slice="category", actions=["roll-back", "unknown"]), actions=["roll-back"]
    )
    watch = Watch(tmp_path, rules)
    for name in ("a", "b"):
        watch.traffic.write(hours(0.4, 0.4, 0.8), "RR@5", "category", name)
    watch.run(range(3))
    with Book(tmp_path) as book:
        orders = Orders(book).waiting()
    assert [(order.action, order.notice.kind) for order in orders] == [
        ("roll-back", "firing"),
        ("roll-back", "resolved"),
    ]
    assert orders[0].notice.key == orders[1].notice.key


@pytest.mark.parametrize("slices", [("",), ("a", "b")], ids=["one", "group"])
def test_an_action_hears_of_the_end_whatever_became_of_its_rule(tmp_path, slices):
    """What was switched on is switched off, though the rule is gone or names it no more."""
    column = "category" if slices[0] else ""
    plain = {"below": 0.5, "slice": column}
    for name, later in (("gone", {"enabled": False}), ("unnamed", {"actions": []})):
        rules = book_of(rule(**plain, actions=["degrade"]), actions=["degrade"])
        watch = Watch(tmp_path / name, rules)
        for value in slices:
            watch.traffic.write(hours(0.4, 0.4, 0.8), "RR@5", column, value)
        watch.run(range(2))
        watch.rules = book_of(
            rule(**plain, **{"actions": ["degrade"]} | later), actions=["degrade"]
        )
        watch.check(3)
        with Book(watch.root) as book:
            first, last = Orders(book).waiting()
        assert (first.notice.kind, last.notice.kind) == ("firing", "resolved"), name
        assert first.notice.key == last.notice.key


def test_a_rule_that_comes_back_is_told_again(tmp_path):
    """Under a key of its own, since one that was told is never told again."""
    watch = Watch(tmp_path, book_of(rule(below=0.5)))
    watch.traffic.write(dict.fromkeys(range(8), 0.4))
    watch.run(range(2))
    watch.rules = book_of(rule(below=0.5, enabled=False))
    watch.check(3)
    watch.rules = book_of(rule(below=0.5))
    watch.run(range(3, 6))
    with Book(tmp_path) as book:
        told = [(parcel.notice.kind, parcel.notice.key) for parcel in BookOutbox(book).waiting()]
    assert [kind for kind, _ in told] == ["firing", "resolved", "firing"]
    assert [key.rpartition(":")[2] for _, key in told] == ["1", "1", "2"]


def test_a_slice_value_that_comes_back_is_told_again(tmp_path):
    """Though it was forgotten meanwhile."""
    watch = Watch(tmp_path, book_of(rule(below=0.5, slice="category")))
    watch.traffic.write({0: 0.8, 1: 0.3, 2: 0.8}, "RR@5", "category", "x")
    watch.run(range(4))
    watch.traffic.write(dict.fromkeys(range(700), 0.8), "RR@5", "category", "others")
    watch.run([100, 300, 599])
    assert "mrr-low:x" not in watch.statuses()
    watch.traffic.write({602: 0.3}, "RR@5", "category", "x")
    watch.run([602])
    with Book(tmp_path) as book:
        kinds = [parcel.notice.kind for parcel in BookOutbox(book).waiting()]
    assert kinds == ["firing", "resolved", "firing"]


def test_channels_that_keep_every_alert_hear_of_each_by_itself(tmp_path):
    """Of its beginning and its end, with its own slice; the others have one message."""
    watch = Watch(tmp_path, book_of(rule(below=0.5, slice="category")))
    for name in ("a", "b"):
        watch.traffic.write(hours(0.8, 0.4, 0.8), "RR@5", "category", name)
    heard = []
    for hour in (1, 2, 3):
        found = watch.check(hour, routes=lambda _: ["ops", "am"], alone=["am"])
        heard += [(name, notice.kind, notice.slice["category"]) for name, notice in found.messages]
    assert [one[1:] for one in heard if one[0] == "am"] == [
        ("firing", "a"),
        ("firing", "b"),
        ("resolved", "a"),
        ("resolved", "b"),
    ]
    assert [kind for name, kind, _ in heard if name == "ops"] == ["firing", "resolved"]
    keys = {track.notice for track in watch.last.tracks.values()}
    assert keys == {None}


def test_what_no_channel_takes_is_said(watch):
    """It counts as told: a channel that is added later does not hear of the past."""
    watch.traffic.write(hours(0.4, 0.4))
    found = watch.check(2, routes=lambda _: [])
    assert [notice.rule for notice in found.unrouted] == ["mrr-low"]
    assert found.messages == ()


def test_a_check_starts_over_when_somebody_writes_meanwhile(watch):
    """And gives up, with nothing written, where that never ends."""
    watch.traffic.write(hours(0.4, 0.4))
    writes = []

    def routes(_):
        if len(writes) < limit:
            writes.append(1)
            with Book(watch.root) as other:
                other.commit(other.read().revision, Changes(), START)
        return ["ops"]

    limit = 1000
    with pytest.raises(StoreError, match="all the time"):
        watch.check(2, routes=routes)
    assert watch.heard == []
    limit = len(writes) + 2
    watch.check(2, routes=routes)
    with Book(watch.root) as book:
        assert len(BookOutbox(book).waiting()) == 1


def test_days_are_those_of_the_zone(tmp_path):
    """A day rule looks at whole local days."""
    daily = rule(below=0.5, window="day")
    traffic = CASE["Traffic"](tmp_path, "Asia/Shanghai")
    traffic.write(dict.fromkeys(range(16), 0.4))
    with Book(tmp_path) as book:

        def check(hour):
            now = START + hour * HOUR
            return check_alerts(
                traffic.lake, book, book_of(daily), now, zone="Asia/Shanghai", lateness=0 * HOUR
            )

        assert check(15).firing == 0
        assert check(16).firing == 1


@pytest.mark.parametrize("seed", range(4))
def test_however_often_it_is_checked_people_hear_the_same(tmp_path, seed):
    """Every hour, or now and then: the same beginnings and ends in the same order."""
    draw = random.Random(seed)
    values = {hour: draw.choice([0.3, 0.8, 0.8]) for hour in range(40) if draw.random() < 0.8}
    often, seldom = (Watch(tmp_path / name, book_of(rule(below=0.5))) for name in "ab")
    for watch in (often, seldom):
        watch.traffic.write({0: 0.8} | values)
        watch.check(1)
    often.run(range(1, 40))
    seldom.run(sorted({*draw.sample(range(1, 39), 6), 39}))
    assert [what for _, *what in often.heard] == [what for _, *what in seldom.heard]
    assert often.heard
