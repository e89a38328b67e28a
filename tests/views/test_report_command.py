"""`report`: one file for people who were not there. It needs no network, runs nothing, and shows names as they are."""

import re
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from console.command_line import main
from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.report.cached_look import AskedOnce
from pipeline.diagnosis.report.drawing import HEIGHT, MOST_BARS, WIDTH, cause_bars, line
from pipeline.diagnosis.report.page import page
from pipeline.diagnosis.report.story import MOST_MOMENTS, MOST_ROWS, MOST_SUBSCRIPTIONS, Moment, Story, story
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse

THREE = datetime(2026, 1, 5, 3, tzinfo=UTC)
HALF_AN_HOUR = timedelta(minutes=30)
EVIL = """<script>document.title='run'</script><img src=x onerror="document.title='run'">'"&\u202egnp.exe\x1b[2J"""
CHANNEL = {"broker": "b1", "conn": "c1", "last": THREE, "paused_s": 1.0, "unwritable_s": 2.0, "pauses": 3, "pending_bytes": None}
LARGEST_BYTES = 5_000_000
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Elements(HTMLParser):
    """Names of the page's elements, and what its attributes hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


@pytest.fixture(scope="module")
def told(small_warehouse: Warehouse) -> Story:
    """Of the small warehouse."""
    return story(ReadingRoom(small_warehouse), None, None, HALF_AN_HOUR)


def evil(told: Story) -> Story:
    """The same with a name that would run, and turn the page around, if it were not escaped."""

    def named(row: dict) -> dict:
        return {**row, **{name: EVIL for name in ("topic", "subscription", "verdict", "broker") if name in row}}

    answers = [{**named(one), "advice": [{"do": EVIL, "command": EVIL}], "shared_with": []} for one in told.answers]
    moments = [Moment(THREE, "cause", EVIL, EVIL, EVIL, EVIL)]
    return replace(told, answers=answers, moments=moments, evictions=[named(row) for row in told.evictions], warehouse=EVIL)


def test_the_page_has_the_verdicts_what_happened_and_who_lost_what(told: Story) -> None:
    text = page(told)
    assert "billing of persistent://shop/eu/orders is behind by 1,200 entries" in text
    assert [one["subscription"] for one in told.answers] == ["billing", "idle", "gone", "report"]
    kinds = {moment.kind for moment in told.moments}
    assert {"cause", "log"} <= kinds
    times = [moment.at for moment in told.moments]
    assert times == sorted(times)
    assert text.count("<section") == 2 * len(told.answers)
    found = Elements(text)
    ids = {value for name, value in found.attributes if name == "id"}
    assert {value for name, value in found.attributes if name == "href"} == {f"#{one}" for one in ids}, "each verdict leads to its evidence"


@pytest.mark.parametrize("named", [False, True], ids=["usual names", "names with markup"])
def test_it_needs_no_network_and_runs_nothing(told: Story, named: bool) -> None:
    text = page(evil(told) if named else told)
    found = Elements(text)
    assert not found.names & {"script", "img", "link", "iframe", "object", "embed", "form", "base"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("src", "style", "formaction")]
    assert not [value for name, value in found.attributes if name == "href" and not value.startswith("#")]
    assert not re.search(r"url\(|@import|https?://", text)
    if named:
        assert "&lt;script&gt;document.title=" in text
        assert "\\u202egnp.exe\\u001b[2J" in text
        assert not {"\u202e", "\x1b"} & set(text)


def test_the_longest_page_is_below_five_megabytes(told: Story) -> None:
    """Names of a usual length, everything at its cap."""
    one = told.answers[0]
    windows = [{**one["windows"][-1], "causes": one["windows"][-1]["causes"] * 5} for _ in range(10_000)]
    moments = [Moment(THREE, "cause", "b1:8080", one["topic"], one["subscription"], "throttled topic msg")] * MOST_MOMENTS
    eviction = {"decided_at": THREE, "quota_type": "size", "topic": one["topic"], "subscription": "x"}
    eviction |= {"entries_evicted": 5, "decided_by": "both"}
    longest = replace(
        told,
        answers=[{**one, "windows": windows}] * MOST_SUBSCRIPTIONS,
        moments=moments,
        evictions=[eviction] * 10_000,
        channels=[CHANNEL] * MOST_ROWS,
    )
    assert len(page(longest).encode()) < LARGEST_BYTES


def test_the_page_names_what_has_data_and_what_it_leaves_out(told: Story) -> None:
    text = page(replace(told, start=told.first - timedelta(days=1), more_channels=7, more_gaps=9, channels=told.channels or [CHANNEL]))
    assert f"Asked for: {(told.first - timedelta(days=1)):%Y-%m-%dT%H:%M:%SZ} to" in text
    assert "7 more are left out" in text
    assert "9 more are left out" in text
    assert "Asked for" not in page(replace(told, start=told.first, end=told.last))


def test_the_page_has_words_for_causes_and_no_path_of_this_machine(told: Story, small_warehouse: Warehouse) -> None:
    text = page(told)
    assert small_warehouse.root not in text
    assert f"Warehouse <bdi>{told.warehouse}</bdi>" in text
    assert "the topic&#39;s limiter of messages" in text
    assert "throttled topic msg" not in text


def test_a_query_is_asked_once() -> None:
    asked: list[str] = []

    class Counting:
        def rows(self, sql: str) -> list[dict[str, Any]]:
            asked.append(sql)
            return [{"sql": sql}]

    once = AskedOnce(Counting())
    assert [once.rows(sql) for sql in ("a", "b", "a")] == [[{"sql": "a"}], [{"sql": "b"}], [{"sql": "a"}]]
    assert asked == ["a", "b"]


def test_subscriptions_that_are_asked_about_together_have_the_answers_of_each_alone(told: Story, small_warehouse: Warehouse) -> None:
    room = ReadingRoom(small_warehouse)
    asked: list[str] = []

    class Counting:
        def rows(self, sql: str) -> list[dict[str, Any]]:
            asked.append(sql)
            return room.rows(sql)

    once, named = AskedOnce(Counting()), [(one["topic"], one["subscription"]) for one in told.answers]
    stretch = (told.end, told.end - told.start)
    together = [answer(once, *name, None, *stretch, named) for name in named]
    assert together == [answer(room, *name, None, *stretch) for name in named]
    brokers, topics = ({tuple(one[name] for name in names) for one in together} for names in (("broker", "epoch"), ("broker", "topic")))
    assert len(asked) <= 19 * len(brokers) + 4 * len(topics) + 2 * len(named), "of a broker, of a topic, and of one: not each of them again"


def test_a_stretch_without_length_has_no_chart() -> None:
    assert line([(THREE, 5)], 10, THREE, THREE) is None
    assert cause_bars([{"window_start": THREE, "window_end": THREE + HALF_AN_HOUR, "causes": []}], THREE, THREE) == []


def test_a_share_that_is_seen_in_the_chart_is_not_called_nothing(told: Story) -> None:
    shares = ((0.004, "less than 1%"), (0.006, "1%"), (0.0, "0%"))
    for share, words in shares:
        one = {**told.answers[0], "causes": [{**told.answers[0]["causes"][0], "share": share}]}
        assert re.search(rf"limiter of messages {words}\s", page(replace(told, answers=[one])))


def test_a_chart_of_many_windows_has_wider_bars_and_leaves_none_out() -> None:
    windows = [
        {
            "window_start": THREE + timedelta(minutes=m),
            "window_end": THREE + timedelta(minutes=m + 1),
            "causes": [{"cause": "reading", "seconds": 15}, {"cause": "in_flight", "seconds": m % 45}],
        }
        for m in range(1000)
    ]
    end = THREE + timedelta(minutes=1000)
    bars = cause_bars(windows, THREE, end)
    assert len(bars) == 2 * 200 <= 2 * MOST_BARS, "of five windows each"
    for cause in ("reading", "in_flight"):
        area = sum(bar.height / HEIGHT * 300 for bar in bars if bar.cause == cause)
        assert area == pytest.approx(sum(one["seconds"] for w in windows for one in w["causes"] if one["cause"] == cause), rel=0.01)
    assert (bars[0].x, max(bar.x + bar.width for bar in bars)) == (0, WIDTH - 1)
    assert bars[0].words == "slow storage: 75.0 s from 2026-01-05T03:00:00+00:00"


def test_the_command_writes_the_file_and_refuses_what_cannot_be(
    small_warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "incident.html"
    assert main(["report", "--warehouse", small_warehouse.root, "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    times = ["--from", "2026-01-05T04:00:00Z", "--to", "2026-01-05T03:00:00Z"]
    for words, message in ((times, "is not before the end"), (["--out", str(tmp_path / "no" / "x")], "No such file")):
        assert main(["report", "--warehouse", small_warehouse.root, "--out", str(out), *words]) == 2
        assert message in capsys.readouterr().err


def test_a_stretch_without_windows_is_no_report(small_warehouse: Warehouse) -> None:
    with pytest.raises(BadConfig, match="no window lies from"):
        story(ReadingRoom(small_warehouse), THREE - timedelta(days=2), THREE - timedelta(days=1), HALF_AN_HOUR)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (Debian: apt install chromium); the parsed page is tested above")
def test_a_browser_shows_it_and_runs_nothing(told: Story, tmp_path: Path) -> None:
    file, picture = tmp_path / "evil.html", tmp_path / "page.png"
    file.write_text(page(evil(told)), encoding="utf-8")
    words = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    seen = subprocess.run([*words, "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=300, check=True).stdout
    assert "<title>Dispatch incident" in seen, "no script changed it"
    assert "<script" not in seen
    shot = [*words, f"--screenshot={picture}", "--window-size=1000,2000", file.as_uri()]
    subprocess.run(shot, capture_output=True, timeout=300, check=True)
    assert picture.stat().st_size > 10_000
