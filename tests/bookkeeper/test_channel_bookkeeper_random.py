"""What must hold of the channel bookkeeper's own books on any log."""

from collections import Counter
from typing import Any

from bookkeeper.channel_connection import COUNTED
from bookkeeper.channel_random import channel_logs
from bookkeeper.channel_tracker import DECIDED, TYPES
from bookkeeper.channels import GRAINS, keep_channels
from bookkeeper.random_log import broken
from hypothesis import given, settings
from suite.examples import examples

from schemas.events import FIELDS, TYPES_BY_NAME

EXAMPLES = settings(max_examples=examples(150), deadline=None)
TIMES = ("unwritable_ns", "paused_ns", "cooldown_ns", *(f"throttled_ns_by_{name}" for name in TYPES.values()))
Events = list[dict[str, Any]]


@EXAMPLES
@given(channel_logs())
def test_random_logs_keep_the_contract(events: Events) -> None:
    for event in events:
        declared = TYPES_BY_NAME[event["type"]]
        assert set(declared.required) <= set(event)
        for name in set(event) & {*declared.required, *declared.optional}:
            assert FIELDS[name].kind != "long" or FIELDS[name].minimum <= event[name] <= FIELDS[name].maximum, name


@EXAMPLES
@given(broken(channel_logs()))
def test_every_row_has_a_place_of_its_own(events: Events) -> None:
    books = keep_channels(events)
    for table, grain in GRAINS.items():
        rows = Counter(tuple(row[name] for name in grain) for row in getattr(books, table))
        assert [place for place, times in rows.items() if times > 1] == [], table


@EXAMPLES
@given(broken(channel_logs()))
def test_order_and_repeats_change_nothing(events: Events) -> None:
    assert keep_channels(events) == keep_channels([*reversed(events), *events])


@EXAMPLES
@given(channel_logs())
def test_the_size_of_windows_changes_no_total(events: Events) -> None:
    long, short = keep_channels(events), keep_channels(events, window_ms=1_000)
    for column in (*COUNTED, *TIMES):
        assert long.total(column) == short.total(column), column
    for table, column in (("topic_publish_pauses", "producers_paused_ns"), ("topic_publish_pauses", "publish_limited_times")):
        assert sum(row[column] for row in getattr(long, table)) == sum(row[column] for row in getattr(short, table)), column
    assert [strip(row) for row in long.channel_transitions] == [strip(row) for row in short.channel_transitions]


def strip(row: dict[str, Any]) -> dict[str, Any]:
    """Without the estimated ts of a timer: a border may fall into it."""
    return {name: value for name, value in row.items() if name != "ts" or row["cause"] not in ("cooldown_timer", "cooldown_over")}


@EXAMPLES
@given(broken(channel_logs()))
def test_times_of_a_life_fit_into_each_other(events: Events) -> None:
    lives: dict[Any, Counter[str]] = {}
    books = keep_channels(events)
    for row in books.channel_backpressure:
        life = lives.setdefault((row["epoch"], row["conn"], row["opened_at"]), Counter())
        life.update({column: row[column] for column in TIMES})
        assert row["pause_enabled"] or row["throttled_ns_by_outbound_buffer_full"] == 0
    for life in lives.values():
        by_type = [life[f"throttled_ns_by_{column}"] for column in TYPES.values()]
        assert max(by_type) <= life["paused_ns"] <= sum(by_type)
        assert life["throttled_ns_by_outbound_buffer_full"] <= life["unwritable_ns"]
    assert sum(row["producers_paused_ns"] for row in books.topic_publish_pauses) <= 2 * sum(life["paused_ns"] for life in lives.values())


@EXAMPLES
@given(broken(channel_logs()))
def test_a_connection_is_resumed_as_often_as_paused_or_once_less(events: Events) -> None:
    balance: Counter[Any] = Counter()
    books = keep_channels(events)
    for row in sorted(books.channel_backpressure, key=lambda row: (row["clock_segment"], row["window_start"])):
        life = (row["epoch"], row["conn"], row["opened_at"])
        balance[life] += row["paused_count"] - row["resumed_count"]
        assert balance[life] == row["paused"], life
    paused = sum(row["changed_connection"] and row["change"] == "throttled" for row in books.channel_transitions)
    assert paused == books.total("paused_count")


@EXAMPLES
@given(broken(channel_logs(with_throttle=False)))
def test_without_the_brokers_word_what_is_believed_is_the_model(events: Events) -> None:
    books = keep_channels(events)
    assert books.total("paused_count") == books.total("modelled_paused_count")
    assert books.total("resumed_count") == books.total("modelled_resumed_count")
    compared = [f"{name}_{verdict}" for name in DECIDED.values() for verdict in ("agreed", "only_logged", "only_modelled")]
    assert sum(books.total(column) for column in compared) == 0


@EXAMPLES
@given(broken(channel_logs()))
def test_the_greatest_level_is_no_less_than_any_that_is_known(events: Events) -> None:
    for row in keep_channels(events).channel_memory:
        assert row["write_buf_memory_used_bytes_max"] >= row["write_buf_memory_used_bytes"] >= 0
        assert row["window_start"] - 1_000_000 <= row["known_at"]  # the clock may go back by less than a step
