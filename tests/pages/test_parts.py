"""Parts that pages share: short figures with their units, axes, charts of causes and lines, gaps of the log, times in sentences."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipeline.diagnosis.counts import percent
from pipeline.pages import numbers
from pipeline.pages.axis import axis
from pipeline.pages.charts import MOST_SLOTS, Line, cause_chart, line_chart, top_of
from pipeline.pages.html import told
from pipeline.pages.spark import spark

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (numbers.count(4213), "4,213"),
        (numbers.rate(2.94), "2.9/s"),
        (numbers.rate(66.9), "67/s"),
        (numbers.rate(0), "0/s"),
        (numbers.size(212_279), "212\u00a0kB"),
        (numbers.size(3_997_789), "4\u00a0MB"),
        (percent(0.00037), "0.037%"),
        (percent(0.0000016), "less than 0.01%"),
        (percent(50.34), "5,034%"),
        (percent(0), "0%"),
        (percent(1.415), "142%"),
        (numbers.span(63), "1\u00a0min\u00a03\u00a0s"),
        (numbers.lasting(0.0074), "7.4\u00a0ms"),
        (numbers.lasting(60), "60\u00a0s"),
        (numbers.lasting(0), "0\u00a0s"),
        (numbers.ahead(2 * numbers.YEAR_S), "more than a year"),
        (numbers.limit(40_000, 1, "bytes"), "40\u00a0kB/s"),
        (numbers.limit(600, 10, "msg"), "600\u00a0msg per 10\u00a0s"),
        (numbers.limit(600, None, "msg"), "600\u00a0msg"),
    ],
)
def test_numbers_are_short_with_their_unit(made: str, words: str) -> None:
    assert made == words


@pytest.mark.parametrize(("most", "top"), [(0, 1), (4213, 5000), (1, 1), (70, 80), (63, 80), (0.3, 0.3)])
def test_an_axis_ends_on_a_round_number_of_few_steps(most: float, top: float) -> None:
    found, step = top_of(most)
    assert found == pytest.approx(top)
    assert 1 <= round(found / step) <= 5


def cause_row(start: datetime, cause: str, entries: float, log_until: datetime) -> dict[str, Any]:
    end = start + timedelta(minutes=1)
    length = min(end, log_until) - start
    return {
        "window_start": start, "window_end": end, "log_until": log_until, "cause": cause, "level": None, "dimension": None,
        "entry_us": int(entries * (length / timedelta(microseconds=1))),
    }  # fmt: skip


def test_a_bar_is_as_high_as_the_mean_backlog_and_as_wide_as_the_log_goes() -> None:
    end = NOON + timedelta(seconds=90)
    rows = [
        cause_row(NOON, "no_consumer", 30, end),
        cause_row(NOON, "no_permits", 10, end),
        cause_row(NOON + timedelta(minutes=1), "no_consumer", 40, end),
    ]
    chart = cause_chart(rows, axis(NOON, end))
    assert chart is not None
    assert [(part.hue, part.height) for part in chart.parts] == [("none", 75), ("slow", 25), ("none", 100)]
    assert chart.parts[2].width == pytest.approx(100 / 3, abs=0.3)
    assert chart.slots[0].lines == ["no consumer 30.0", "slow consumers 10.0"]
    assert cause_chart([], axis(NOON, end)) is None


def test_a_line_of_unknown_values_is_not_drawn_and_a_far_limit_does_not_squeeze_it() -> None:
    over = axis(NOON, NOON + timedelta(minutes=1))
    assert line_chart([Line("none", "", [(NOON, None)])], over, str) is None
    near, far = (line_chart([Line("none", "", [(NOON, 10.0)])], over, str, limit) for limit in (20, 1000))
    assert near is not None
    assert far is not None
    assert (near.quota, far.quota) == (0, None)
    assert spark([(NOON, 1)], [], over) is None


def at_s(second: float) -> datetime:
    return NOON + timedelta(seconds=second)


def test_a_line_breaks_at_a_gap_of_the_log_and_the_gap_is_a_part_of_the_axis() -> None:
    over = axis(NOON, at_s(100), [(at_s(40), at_s(45)), (at_s(44), at_s(50)), (at_s(200), at_s(300)), (at_s(-10), at_s(1))])
    assert over.lost == ((NOON, at_s(1)), (at_s(40), at_s(50)))
    assert [(gap.x, gap.width) for gap in over.gaps()] == [(0, 1), (40, 10)]
    points = [(at_s(second), 1.0) for second in (10, 30, 60, 80)]
    straight, stairs = (line_chart([Line("none", "", points, is_stairs=way)], over, str) for way in (False, True))
    assert straight is not None
    assert stairs is not None
    assert [path for _, path in straight.paths] == ["100.0,0.0 300.0,0.0", "600.0,0.0 800.0,0.0"]
    assert [path for _, path in stairs.paths] == ["100.0,0.0 300.0,0.0", "600.0,0.0 800.0,0.0"]


def test_a_chart_can_be_pointed_at_where_it_has_values() -> None:
    over = axis(NOON, at_s(100))
    stairs = [(at_s(0), 2.0), (at_s(50), 4.0), (at_s(100), None)]
    chart = line_chart([Line("text", "come", stairs, True), Line("lim", "go", stairs, True)], over, "{:g}/s".format)
    assert chart is not None
    assert [(slot.x, slot.width, slot.lines) for slot in chart.slots] == [
        (0, 50, ["come 2/s", "go 2/s"]), (50, 50, ["come 4/s", "go 4/s"]),
    ]  # fmt: skip
    assert chart.key == [("text", "come"), ("lim", "go")]
    many = line_chart([Line("none", "", [(at_s(second / 4), 1.0) for second in range(400)])], over, str)
    assert many is not None
    assert len(many.slots) <= MOST_SLOTS


def test_times_in_sentences_are_times_of_the_page_and_the_rest_is_text() -> None:
    assert told("since 2026-11-21T11:46:59Z (<b>)") == (
        'since <time datetime="2026-11-21T11:46:59Z" title="2026-11-21 11:46:59 UTC">2026-11-21 11:46:59</time> (&lt;b&gt;)'
    )
    assert told("no time \u202e") == "no time \\u202e"
