"""``ragnostic daily``: from three weeks of traffic to a page, and into a mail box."""

from __future__ import annotations

import runpy
import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest

FLOW = Path(__file__).parent
CASE = runpy.run_path(str(FLOW / "live_case.py"))
MAIL = runpy.run_path(str(FLOW.parent / "unit" / "notify" / "test_mail.py"))
Post, Server = MAIL["Post"], MAIL["Server"]
run, as_json, write_lines = CASE["run"], CASE["as_json"], CASE["write_lines"]
DAY = date(2026, 3, 20)
HOSTILE = '<script>alert(1)</script>"第3号规定'


def rows_of(day, number, *, bad):
    """A query of a day; in bad ones of billing the right chunk comes last."""
    row = CASE["log_row"](number)
    category = ("billing", "travel")[number % 2]
    ids = [one for one in row["retrieve"]["ids"] if one != f"c{number % 40}"]
    ids.insert(9 if bad and category == "billing" else number % 3, f"c{number % 40}")
    row |= {"trace_id": f"{day}-{number}", "ts": f"{day}T10:{number % 60:02d}:00+08:00"}
    row |= {"category": category, "retrieve": row["retrieve"] | {"ids": ids}}
    return row | ({"query": HOSTILE} if bad and number == 4 else {})


@pytest.fixture(scope="module")
def traffic(tmp_path_factory):
    """Three weeks; on the last day one category goes bad."""
    folder = tmp_path_factory.mktemp("daily")
    store = folder / "store"
    store.mkdir()
    (store / "store.toml").write_text(CASE["SETTINGS"], encoding="utf-8")
    rules = '[[rule]]\nid = "mrr-drop-category"\nmin_samples = 10\n'
    (store / "alerts.toml").write_text(rules, encoding="utf-8")
    CASE["write_corpus"](folder)
    days = [DAY - timedelta(days=back) for back in range(20, -1, -1)]
    write_lines(
        folder / "log.jsonl",
        [rows_of(day, number, bad=day == DAY) for day in days for number in range(40)],
    )
    run(folder, "snapshot", "chunks.jsonl", "--store", "store")
    run(folder, "ingest", "log.jsonl", "--store", "store")
    run(folder, "work", "--store", "store", "--once")
    for day in days[-2:]:
        now = f"{day + timedelta(days=1)}T00:30:00+08:00"
        code = 1 if day == DAY else 0
        run(folder, "alerts", "check", "--store", "store", "--now", now, code=code)
    return folder


def test_the_report_says_what_changed_and_where(traffic):
    """The signal, the slice that explains it, the queries with their rankings, the alert."""
    found = as_json(traffic, "daily", "--store", "store", "--date", str(DAY), "--out", "a.html")
    signals = {one["figure"]: one for one in found["signals"]}
    assert found["records"] == 40
    assert len(signals["RR@5"]["points"]) == 28
    assert signals["RR@5"]["points"][-1]["value"] < signals["RR@5"]["points"][-2]["value"] - 0.2
    assert signals["RCS@10"]["colour"] == "grey"
    (change,) = [one for one in found["changes"] if one["figure"] == "RR@5"]
    assert (change["parts"][0]["column"], change["parts"][0]["value"]) == ("category", "billing")
    total = change["after"] - change["before"]
    assert change["parts"][0]["contribution"] == pytest.approx(total, rel=0.2)
    assert len(found["anomalies"]) == 10
    assert found["anomalies"][0]["value"] == 0.0
    assert len(found["anomalies"][0]["ranking"]) == 5
    assert [one["rule"] for one in found["firing"]] == ["mrr-drop-category"]
    assert found["judged"] == {"judged": 40}
    page = (traffic / "a.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "billing" in page


@pytest.mark.parametrize(("language", "said"), [("zh", "条告警"), ("en", "1 alert fires.")])
def test_in_both_languages(traffic, language, said):
    """The same page, byte for byte, each time."""
    pages = []
    for name in ("b", "c"):
        arguments = ("--date", str(DAY), "--out", f"{name}-{language}", "--lang", language)
        run(traffic, "daily", "--store", "store", *arguments)
        pages.append((traffic / f"{name}-{language}" / f"{DAY}.html").read_bytes())
    assert pages[0] == pages[1]
    assert said in pages[0].decode()


def test_a_day_without_traffic_is_said(traffic):
    """No data is not 0; the day before yesterday is not needed."""
    found = as_json(traffic, "daily", "--store", "store", "--date", "2026-03-25", "--out", "d.html")
    assert found["records"] == 0
    assert {one["colour"] for one in found["signals"]} == {"grey"}
    assert found["changes"] == []
    done = run(traffic, "daily", "--store", "store", "--date", "soon", code=2)
    assert "is no day" in done.stderr


def test_it_arrives_by_mail(traffic, tmp_path):
    """A line for each signal, and the page beside it."""
    folder = Path(shutil.copytree(traffic, tmp_path / "copy"))
    post = Post()
    with Server(post) as server:
        channel = (
            '[[channel]]\nname = "mail"\nuse = "email"\nhost = "localhost"\n'
            f'port = {server.port}\nsecurity = "none"\nsender = "alerts@example.com"\n'
            'to = ["li@example.com"]\n'
        )
        with (folder / "store" / "alerts.toml").open("a", encoding="utf-8") as file:
            file.write(channel)
        arguments = ("--date", str(DAY), "--mail", "--lang", "zh")
        done = run(folder, "daily", "--store", "store", *arguments)
    assert "mailed through 1 channel" in done.stdout
    (letter,) = post.letters
    assert letter["Subject"].startswith(f"Ragnostic {DAY}: 1 条告警")
    assert "首个有用结果 (RR@5): 0.312" in letter.get_body(("plain",)).get_content()
    (page,) = letter.iter_attachments()
    assert page.get_filename() == f"ragnostic-{DAY}.html"
    assert "billing" in page.get_content().decode()


def test_without_a_mail_channel_that_is_said(traffic, tmp_path):
    """And the page is written all the same."""
    folder = Path(shutil.copytree(traffic, tmp_path / "copy"))
    done = run(folder, "daily", "--store", "store", "--date", str(DAY), "--mail", code=1)
    assert "no channel uses email" in done.stderr
    assert (folder / "daily" / f"{DAY}.html").exists()
    (folder / "store" / "alerts.toml").unlink()
    done = run(folder, "daily", "--store", "store", "--date", str(DAY), "--mail", code=1)
    assert "no alerts.toml" in done.stderr
