"""Words of an answer: the reason of a doubt is the one that holds."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.what_if.chart import CHART_COLUMNS, bars
from pipeline.what_if.table import lasting, short, table_lines
from pipeline.what_if.words import holder_words, text_lines


def life(peak: int, end: int) -> dict[str, Any]:
    samples = [{"at": None, "backlog": entries, "age_s": None} for entries in (peak, end)]
    throttled = {"messages": {"topic": 3}, "bytes": {"topic": 0}}
    return {
        "samples": samples,
        "peak": peak,
        "drained_at": None,
        "evicted_entries": 0,
        "throttled": throttled,
        "held_s": {"consumers": 5.0},
    }


def document(*, sure: bool, pace_known: bool, pace_ms: float | None = 10.0, ok: bool = True) -> dict[str, Any]:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    one = {
        "topic": "persistent://shop/eu/orders",
        "subscription": "billing",
        "changes": True,
        "consumers": {"pace_ms": pace_ms, "pace_known": pace_known},
        "actual": life(300, 200),
        "predicted": life(30, 20) if ok else None,
    }
    check = {"ok": ok, "area_error": 0.01, "reasons": [] if ok else ["its backlog differs by 50% of what it was"]}
    return {
        "self_check": check, "next_limit": "consumers" if ok else None, "sure": sure, "producers_held_from": None, "from": at, "to": at,
        "until": None, "broker": "b", "subscriptions": [one], "assumptions": ["storage answers as it did"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pace_known", "pace_ms", "reason"),
    [
        (False, 10.0, "Not sure: consumers of billing were never busy for long, so their best pace is not known."),
        (True, 10.0, "Not sure: consumers would be hardly fast enough, so a few per cent of their pace decide."),
        (False, None, "Not sure: consumers would be hardly fast enough, so a few per cent of their pace decide."),
    ],
)
def test_a_doubt_has_its_reason(pace_known: bool, pace_ms: float | None, reason: str) -> None:
    lines = list(text_lines(document(sure=False, pace_known=pace_known, pace_ms=pace_ms)))
    assert [line for line in lines if line.startswith(reason)] != []
    assert [line for line in text_lines(document(sure=True, pace_known=pace_known)) if line.startswith("Not sure")] == []


def test_the_answer_comes_first() -> None:
    first, second, *_ = text_lines(document(sure=True, pace_known=True))
    assert first == "billing: 300 entries at most, 200 at the end; it would have been 30 entries at most, 20 at the end."
    assert second == "Then its consumers would hold it."


def test_a_backlog_that_nobody_takes_is_not_called_free() -> None:
    one = document(sure=True, pace_known=True)
    one["next_limit"], one["subscriptions"][0]["predicted"]["held_s"] = None, {"no_consumer": 60.0}
    _, second, *_ = text_lines(one)
    assert second == "Then no limiter would hold it; billing would wait for a consumer."


def test_an_age_that_is_not_known_is_no_zero_and_a_backlog_that_came_back_is_told() -> None:
    one = document(sure=True, pace_known=True)
    one["subscriptions"][0]["predicted"]["drained_at"] = one["to"]
    first, *rest = text_lines(one)
    assert first.endswith("it would have been 30 entries at most, gone at 2026-01-05T00:00:00Z, 20 at the end.")
    row, *charts = [line for line in rest if line.strip().startswith("would be")]
    assert " ? " in row
    assert charts[1].endswith("  ??")


def test_without_an_answer_the_reason_comes_first() -> None:
    first, *rest = text_lines(document(sure=False, pace_known=True, ok=False))
    assert first == "No answer: a replay with the settings as they were is not the record: its backlog differs by 50% of what it was."
    assert not [line for line in rest if line.startswith("would be")]


def test_a_limiter_is_named_in_words() -> None:
    assert holder_words("topic.dispatch_rate.messages") == "the topic's limit of messages"


def large(count: int, lasted_s: float) -> dict[str, Any]:
    one = life(count, count)
    one["samples"] = [{"at": None, "backlog": count, "age_s": lasted_s, "low": count, "high": count}]
    one["throttled"] = {"messages": {"topic": count}, "bytes": {"topic": 0}}
    one["evicted_entries"] = count
    one["held_s"] = {"broker.dispatch_rate.messages": lasted_s}
    return one


@given(st.lists(st.integers(0, 10**13), min_size=1, max_size=4), st.floats(0, 8e6))
def test_the_table_fits_a_screen_of_100_columns(counts: list[int], lasted_s: float) -> None:
    one = document(sure=True, pace_known=True)
    first = one["subscriptions"][0]
    lives = [large(count, lasted_s) for count in counts]
    one["subscriptions"] = [{**first, "subscription": f"s{k}", "actual": life, "predicted": life} for k, life in enumerate(lives)]
    assert max(map(len, table_lines(one))) <= 100


@given(st.integers(0, 10**15))
def test_a_short_number_has_six_characters_at_most_and_three_digits(count: int) -> None:
    text = short(count)
    assert len(text) <= 6
    value = float(text.replace(",", "").rstrip("kMGT")) * {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.get(text[-1], 1)
    assert abs(value - count) <= 0.005 * count


@given(st.floats(0, 8e6))
def test_a_duration_in_a_cell_is_short_and_near(seconds: float) -> None:
    assert len(lasting(seconds)) <= 10
    words = lasting(seconds).split()
    found = sum(float(n) * {"d": 86_400, "h": 3_600, "min": 60, "s": 1}[unit] for n, unit in zip(words[::2], words[1::2], strict=True))
    assert abs(found - seconds) <= max(0.5, 0.06 * seconds)


def test_topics_are_named_where_there_are_several() -> None:
    one = document(sure=True, pace_known=True)
    assert "billing" in list(table_lines(one))
    other = {**one["subscriptions"][0], "topic": "persistent://shop/eu/refunds", "changes": False}
    one["subscriptions"].append(other)
    names = [line for line in table_lines(one) if line.startswith("persistent")]
    assert names == ["persistent://shop/eu/orders billing", "persistent://shop/eu/refunds billing"]
    assert "backlog of persistent://shop/eu/orders billing, up to 300 entries" in list(text_lines(one))


def test_of_many_that_change_the_largest_backlogs_are_shown() -> None:
    one = document(sure=True, pace_known=True)
    first = one["subscriptions"][0]
    one["subscriptions"] = [{**first, "subscription": f"s{peak}", "actual": life(peak, peak)} for peak in range(100, 107)]
    lines = list(text_lines(one))
    assert lines[0].startswith("s106: 106 entries at most")
    assert lines[5] == "2 more subscriptions, with smaller backlogs: in the table."


@given(st.lists(st.one_of(st.none(), st.integers(0, 10**6)), min_size=1, max_size=200))
def test_a_chart_shows_each_value_above_nothing_and_each_gap(values: list[int | None]) -> None:
    highest = max([value for value in values if value is not None], default=0)
    drawn = bars(values, max(highest, 1))
    assert len(drawn) == min(len(values), CHART_COLUMNS)
    assert ("?" in drawn) == (None in values)
    assert (drawn.strip(" ?") != "") <= (highest > 0)
    if len(values) <= CHART_COLUMNS:
        assert [one == " " for one in drawn] == [value == 0 for value in values]
