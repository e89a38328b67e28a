"""`report`: one file for people who were not there. It needs no network, runs nothing, and shows names as they are."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from console.command_line import main
from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.asked import Named
from pipeline.faults import BadConfig
from pipeline.pages.axis import axis
from pipeline.pages.charts import MOST_BARS, cause_chart
from pipeline.pages.report.cached_look import AskedOnce
from pipeline.pages.report.happened import happened
from pipeline.pages.report.page import page
from pipeline.pages.report.story import MOST_MOMENTS, MOST_ROWS, MOST_SUBSCRIPTIONS, Moment, Story, decided, story
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse

THREE = datetime(2026, 1, 5, 3, tzinfo=UTC)
HALF_AN_HOUR = timedelta(minutes=30)
EVIL = """<script>document.title='run'</script><img src=x onerror="document.title='run'">'"&\u202egnp.exe\x1b[2J"""
CAUSE = {"level": None, "dimension": None, "log_until": None}
CHANNEL = {"broker": "b1", "conn": "c1", "last": THREE, "paused_s": 1.0, "unwritable_s": 2.0, "pauses": 3, "pending_bytes": None}
LARGEST_BYTES = 5_000_000


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

    steps = [{"do": EVIL, "command": EVIL, "effect": effect} for effect in ("changes_nothing", "loses_data")]
    answers = [{**named(one), "advice": steps, "shared_with": []} for one in told.answers]
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
    ids = {f"#{value}" for name, value in found.attributes if name == "id"}
    links = {value for name, value in found.attributes if name == "href"}
    sections = {f"#{kind}{number}" for kind in "se" for number in range(1, len(told.answers) + 1)}
    assert sections <= links <= ids, "each verdict leads to its section, and that to its evidence"


def test_verdicts_are_a_table_of_one_line_each(told: Story) -> None:
    text = page(told)
    table = text[text.index('class="d verdicts"') : text.index("</table>")]
    rows = [re.sub(r"<[^>]+>", " ", row) for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)]
    assert rows[0].split() == ["Subscription", "Status", "Cause", "Share", "Backlog", "Since"]
    assert len(rows) == 1 + len(told.answers)
    for row, one in zip(rows[1:], told.answers, strict=True):
        assert f"/  {one['subscription']}" in row
        assert f"{one['backlog']:,}" in row
        assert one["status"] in row.lower()


def test_repeats_are_folded_and_changes_of_a_cause_too(told: Story) -> None:
    def eviction(second: int, subscription: str = "s") -> Moment:
        at = THREE + timedelta(seconds=second)
        return Moment(at, "eviction", "b", "persistent://a/b/t", subscription, "size quota exceeded: lost 5 entries", 5)

    told_once = [*map(eviction, (0, 5, 10, 15)), eviction(7, "other"), eviction(3600)]
    lines = happened(sorted(told_once, key=lambda moment: moment.at))
    assert [(line.head, line.name, line.words, len(line.each)) for line in lines] == [
        ("4 evictions in 15\u00a0s:", "t / s", "lost 20 entries.", 4),
        ("Eviction of", "t / other:", "size quota exceeded: lost 5 entries", 0),
        ("Eviction of", "t / s:", "size quota exceeded: lost 5 entries", 0),
    ]
    assert [(line.first, line.last) for line in lines][:2] == [(THREE, THREE + timedelta(seconds=15)), (THREE + timedelta(seconds=7), None)]


def test_producers_that_are_shut_out_are_no_eviction() -> None:
    def cut(minute: int, closed: int, action: str = "disconnect_producers") -> Moment:
        return decided({"decided_at": THREE + timedelta(minutes=minute), "broker": "b", "topic": "persistent://a/b/t", "subscription": None,
                        "quota_type": "size", "action": action, "producers_closed": closed, "entries_evicted": 0})  # fmt: skip

    (once,) = happened([cut(0, 2)])
    assert (once.head, once.name, once.words) == ("Producers of", "t:", "size quota exceeded: 2 closed")
    (lines,) = happened([cut(0, 2), *(cut(minute, 0) for minute in (1, 2, 3))])
    assert (lines.head, lines.name, lines.words) == ("4 checks in 3\u00a0min found a quota exceeded:", "t", "producers are shut out.")
    assert [words for _, words in lines.each] == ["size quota exceeded: 2 closed", *["size quota exceeded: they are shut out"] * 3]
    assert cut(0, 0, "evict").kind == "eviction"


@pytest.mark.parametrize("named", [False, True], ids=["usual names", "names with markup"])
def test_it_needs_no_network_and_runs_nothing(told: Story, named: bool) -> None:
    text = page(evil(told) if named else told)
    found = Elements(text)
    assert not found.names & {"script", "img", "link", "iframe", "object", "embed", "form", "base"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("src", "style", "formaction")]
    assert not [value for name, value in found.attributes if name == "href" and not value.startswith("#")]
    assert not re.search(r"url\((?!#)|@import|https?://", text)
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
        causes=[told.causes[0] * 10_000] * MOST_SUBSCRIPTIONS,
        lost=[told.lost[0]] * MOST_SUBSCRIPTIONS,
        moments=moments,
        evictions=[eviction] * 10_000,
        channels=[CHANNEL] * MOST_ROWS,
    )
    assert len(page(longest).encode()) < LARGEST_BYTES


def test_the_page_names_what_has_data_and_what_it_leaves_out(told: Story) -> None:
    text = page(replace(told, start=told.first - timedelta(days=1), more_channels=7, more_gaps=9, channels=told.channels or [CHANNEL]))
    assert f"Asked for: {(told.first - timedelta(days=1)):%Y-%m-%d %H:%M:%S} – " in re.sub(r"<[^>]+>", "", text)
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

    once, named = AskedOnce(Counting()), [Named(one["broker"], one["topic"], one["subscription"]) for one in told.answers]
    stretch = (told.end, told.end - told.start)
    together = [answer(once, one.topic, one.subscription, one.broker, *stretch, named) for one in named]
    assert together == [answer(room, one.topic, one.subscription, one.broker, *stretch) for one in named]
    brokers, topics = ({tuple(one[name] for name in names) for one in together} for names in (("broker", "epoch"), ("broker", "topic")))
    assert len(asked) <= 19 * len(brokers) + 4 * len(topics) + 2 * len(named), "of a broker, of a topic, and of one: not each of them again"


def test_a_chart_of_many_windows_has_wider_bars_and_leaves_none_out() -> None:
    minute = timedelta(minutes=1)
    rows = [
        {
            **CAUSE,
            "cause": cause,
            "window_start": THREE + m * minute,
            "window_end": THREE + (m + 1) * minute,
            "entry_us": weight * 1_000_000,
        }
        for m in range(1000)
        for cause, weight in (("reading", 15), ("in_flight", m % 45))
    ]
    chart = cause_chart(rows, axis(THREE, THREE + 1000 * minute))
    assert chart is not None
    assert len(chart.parts) == 2 * 200 <= 2 * MOST_BARS, "of five windows each"
    assert chart.slots[0].lines == ["slow storage 0.2", "unacknowledged 0.0"]
    top = chart.ticks[-1].value
    for hue, cause in (("work", "reading"), ("slow2", "in_flight")):
        entry_s = sum(part.height / 100 * top * 300 for part in chart.parts if part.hue == hue)
        assert entry_s == pytest.approx(sum(row["entry_us"] / 1e6 for row in rows if row["cause"] == cause), rel=0.02)
    assert chart.parts[0].x == 0
    assert max(part.x + part.width for part in chart.parts) == pytest.approx(100, abs=0.3)


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
