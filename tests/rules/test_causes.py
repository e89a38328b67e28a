"""Each cause by small logs: what happened, and how many seconds of the backlog are charged to what (docs/design/causes.md)."""

from collections import Counter

import pytest
from cause_story import WHERE, Story, measured
from lane_rows import lane_rows
from lane_tables import as_tables, drain_row, run_lane, tables_of
from log_builder import SUB, TOPIC, Log

SECOND = 1_000_000_000
#: Seconds by cause, level, dimension, reason of unknown, what is null left out.
Charges = dict[tuple[str | None, ...], float]


def charged(log: Log) -> Charges:
    """Seconds by (cause, level, dimension, reason), nulls left out."""
    found: Charges = {}
    for row in tables_of(log.events)["subscription_causes"]:
        key = tuple(row[name] for name in ("cause", "level", "dimension", "unknown_reason") if row[name] is not None)
        found[key] = found.get(key, 0) + row["ns"] / SECOND
    return found


def test_without_a_backlog_nothing_is_charged() -> None:
    assert charged(Story().beats(1, 2)) == {}


def test_no_consumer() -> None:
    assert charged(Story(consumer=False).puts(3).beats(10)) == {("no_consumer",): 10}


def test_a_consumer_that_comes_has_no_permits_until_the_first_read() -> None:
    story = Story(consumer=False).puts(3)
    story.at(4).of_sub("consumer_open", consumer=0, conn=1)
    story.at(5).reads()
    story.at(5.5).gives(3)
    assert charged(story.beats(7)) == {("no_consumer",): 4, ("no_flow",): 1, ("catching_up",): 0.5, ("in_flight",): 1.5}


def test_the_last_consumer_that_leaves_gives_all_back() -> None:
    story = Story().puts(2).reads().gives(2)
    story.at(3).of_sub("consumer_close", consumer=0, conn=1)
    assert charged(story.beats(5)) == {("in_flight",): 3, ("no_consumer",): 2}


def test_in_flight_until_all_is_acknowledged() -> None:
    story = Story().puts(2).reads().gives(2)
    story.at(3).acks(0)
    story.at(5).acks(1)
    assert charged(story.beats(9)) == {("in_flight",): 5}


BLOCKED = {
    "messages of the subscription": ({"sub_msgs": 0, "sub_bytes": -1}, ("subscription", "msg")),
    "bytes of the topic": ({"broker_msgs": -1, "broker_bytes": -1, "topic_msgs": 50, "topic_bytes": 0}, ("topic", "bytes")),
    "both of the broker": ({"broker_msgs": 0, "broker_bytes": 0}, ("broker", "msg")),
}


@pytest.mark.parametrize("limiter", BLOCKED)
def test_throttled_by_the_limiter_that_left_nothing(limiter: str) -> None:
    answers, whose = BLOCKED[limiter]
    story = Story().puts(5).reads(**answers)
    for second in (1, 2):
        story.at(second).reads(**answers)
    story.at(3).reads()
    assert charged(story.at(3.25).gives(5)) == {("throttled", *whose): 3, ("catching_up",): 0.25}


def test_a_limiter_explains_nothing_while_nothing_waits() -> None:
    story = Story().puts(1).reads().gives(1).reads(sub_msgs=0, sub_bytes=-1)
    story.at(0.5).puts(1)
    assert charged(story.beats(1)) == {("in_flight",): 0.5, ("throttled", "subscription", "msg"): 0.5}


def test_a_shrunk_read_goes_out() -> None:
    assert charged(Story().puts(5).reads(sub_msgs=3, sub_bytes=-1).at(0.5).gives(3)) == {("catching_up",): 0.5}


def test_no_permits_when_those_of_the_latest_read_are_used_up() -> None:
    story = Story().puts(5).reads(permits=3).gives(3).acks(0, 1)
    story.at(7).of_sub("flow", consumer=0, conn=1, permits=2).reads(permits=2)
    assert charged(story.at(7.5).gives(2).beats(8)) == {("no_permits",): 7, ("catching_up",): 0.5, ("in_flight",): 0.5}


def test_no_flow_where_consumers_hold_nothing_and_grant_nothing() -> None:
    """They acknowledge the last one at second 4."""
    story = Story().puts(5).reads(permits=3).gives(3).at(2).acks(0, 1).at(4).acks(2)
    story.at(9).of_sub("flow", consumer=0, conn=1, permits=2).reads(permits=2)
    assert charged(story.at(9.5).gives(2)) == {("no_permits",): 4, ("no_flow",): 5, ("catching_up",): 0.5}


def test_what_consumers_hold_is_not_certain_after_a_loss() -> None:
    story = Story().puts(5).reads(permits=1).gives(1).beats(2).at(3).acks(0).reads(permits=0).beats(6)
    assert charged(story.loses(2)) == {("unknown", "events_lost"): 3, ("no_permits",): 3}


def test_permits_count_messages() -> None:
    story = Story().puts(5).reads(permits=30)
    story.of_sub("dispatch", entries=3, msgs=30, bytes=300)
    assert charged(story.beats(2)) == {("no_permits",): 2}


def test_channel_while_every_connection_is_unwritable() -> None:
    story = Story().of_sub("consumer_open", consumer=1, conn=2).puts(2).reads().gives(2)
    story.at(1).add("writability", conn=1, writable=False, pending_bytes=70_000)
    story.at(2).add("writability", conn=2, writable=False, pending_bytes=70_000)
    story.at(5).add("writability", conn=1, writable=True, pending_bytes=30_000)
    assert charged(story.beats(6)) == {("in_flight",): 3, ("channel",): 3}


@pytest.mark.parametrize("cap", ["subscription", "broker", "consumer"])
def test_unacked_limit(cap: str) -> None:
    story = Story().puts(9).reads().gives(2).of_sub("consumer_blocked", cap=cap, on=True)
    story.at(6).of_sub("consumer_blocked", cap=cap, on=False).reads()
    assert charged(story.at(6.5).gives(7)) == {("unacked_limit",): 6, ("catching_up",): 0.5}


def test_the_caps_of_all_consumers_must_be_reached() -> None:
    story = Story().of_sub("consumer_open", consumer=1, conn=2).puts(9).reads().gives(2)
    story.of_sub("consumer_blocked", cap="consumer", on=True, consumer=0, conn=1)
    story.at(1).of_sub("consumer_blocked", cap="consumer", on=True, consumer=1, conn=2)
    assert charged(story.beats(3)) == {("catching_up",): 1, ("unacked_limit",): 2}


def test_delayed_while_all_that_waits_is_held() -> None:
    story = Story().puts(4).reads().of_sub("delayed", entries=4)
    story.at(5).of_sub("delayed", entries=0)
    assert charged(story.at(5.25).gives(4)) == {("delayed",): 5, ("catching_up",): 0.25}


def test_reading_is_what_lies_beyond_a_normal_turnaround() -> None:
    story = measured(Story())
    story.at(1).puts(1).reads()
    story.at(3).gives(1)
    normal_s = 8 * 2**20 / SECOND
    found = charged(story)
    assert found[("reading",)] == pytest.approx(2 - normal_s)
    assert found[("catching_up",)] == pytest.approx(16 * 0.001 + normal_s)


def test_nothing_is_slow_before_enough_was_measured() -> None:
    story = measured(Story(), 15)
    story.at(1).puts(1).reads()
    assert ("reading",) not in charged(story.at(3).gives(1))


def test_a_parked_read_takes_its_time_from_the_publish_on() -> None:
    story = measured(Story()).reads()
    story.at(9).puts(1)
    assert ("reading",) not in charged(story.at(9.001).gives(1))


def test_a_read_that_storage_has_answered_is_not_out() -> None:
    story = measured(Story())
    story.at(1).puts(1).reads().of_sub("read_done", entries=1, bytes=100)
    assert charged(story.at(3).gives(1)) == pytest.approx({("catching_up",): 2.016})


def test_a_read_that_failed_stays_out() -> None:
    story = measured(Story())
    story.at(1).puts(1).reads().of_sub("read_done", entries=0, bytes=0, error="BKReadException")
    assert charged(story.at(3).gives(1))[("reading",)] > 1.9


def test_what_has_just_arrived_explains_only_itself() -> None:
    """Nine entries are with the consumer. Each of the others takes half a second to be delivered."""
    story = Story().puts(9).reads().gives(9)
    for second in (1, 2, 3):
        story.at(second).puts(1).reads().at(second + 0.5).gives(1)
    assert charged(story.beats(4)) == {("in_flight",): 4}


def test_what_waits_explains_the_backlog_where_it_is_most_of_it() -> None:
    """As it was at the latest read or delivery: what is published meanwhile counts from the next one on."""
    story = Story().puts(3).reads().gives(3).reads().at(1).puts(9)
    assert charged(story.at(2).gives(1).at(3).gives(8).beats(4)) == {("in_flight",): 3, ("catching_up",): 1}


def test_delayed_while_most_of_the_backlog_is_held() -> None:
    """Those that arrive are held from the next `delayed` on."""
    story = Story().puts(4).reads().of_sub("delayed", entries=4)
    story.at(1).puts(3).reads().at(2).of_sub("delayed", entries=7)
    assert charged(story.beats(3)) == {("delayed",): 3}


def test_of_equal_parts_what_waits_comes_first_then_what_is_delivered() -> None:
    assert charged(Story().puts(2).reads().gives(1).beats(1)) == {("catching_up",): 1}
    story = Story().puts(5).reads().gives(2).of_sub("delayed", entries=2).reads()
    assert charged(story.beats(1)) == {("in_flight",): 1}


def test_each_acknowledgement_leaves_less_with_consumers() -> None:
    story = Story().puts(9).reads().gives(9).reads().at(1).puts(4).at(2).acks(*range(5))
    assert charged(story.at(3).gives(4).beats(4)) == {("in_flight",): 3, ("catching_up",): 1}


def test_what_is_asked_for_again_is_not_with_consumers() -> None:
    story = Story().puts(9).reads().gives(9).reads().at(1).puts(4).at(2).of_sub("redeliver", cause="requested", entries=6)
    assert charged(story.beats(3)) == {("in_flight",): 2, ("catching_up",): 1}


def test_a_publish_compares_no_parts() -> None:
    """It would have to look at every subscription of its topic. The next read is milliseconds away."""
    story = Story().puts(5).reads().of_sub("delayed", entries=5).at(1).of_sub("delayed", entries=3)
    assert charged(story.at(2).puts(5).at(3).reads().beats(4)) == {("delayed",): 3, ("catching_up",): 1}


def test_a_slow_read_is_reading_however_little_waits() -> None:
    story = measured(Story())
    story.at(1).puts(9).reads().at(1.001).gives(9)
    story.at(2).puts(1).reads().at(4).gives(1)
    found = charged(story)
    assert found[("reading",)] == pytest.approx(2 - 8 * 2**20 / SECOND)
    assert found[("in_flight",)] == pytest.approx(1 - 0.001 + 8 * 2**20 / SECOND)


def test_stuck_after_five_seconds_with_everything_it_needs() -> None:
    story = Story().puts(9).reads().gives(2)
    assert charged(story.beats(20)) == {("catching_up",): 5, ("stuck",): 15}


def test_stuck_where_a_blocked_dispatcher_asks_no_more() -> None:
    story = Story().puts(9).reads(sub_msgs=0, sub_bytes=-1)
    assert charged(story.beats(12)) == {("throttled", "subscription", "msg"): 5, ("stuck",): 7}


def test_stuck_where_permits_came_and_nobody_reads() -> None:
    story = Story().of_sub("flow", consumer=0, conn=1, permits=2).puts(9).reads(permits=2).gives(2)
    story.at(3).of_sub("flow", consumer=0, conn=1, permits=5)
    assert charged(story.beats(10)) == {("no_permits",): 8, ("stuck",): 2}


def test_stuck_where_a_read_that_waited_for_entries_does_not_come_back_with_them() -> None:
    story = Story().reads()
    assert charged(story.at(10).puts(9).beats(30)) == {("catching_up",): 5, ("stuck",): 15}


def slow_read(story: Story, second: float) -> Story:
    """A read takes 2 s, and comes back: storage is slow."""
    story.at(second).puts(1).reads()
    return story.at(second + 2).gives(1).acks(story.published - 1)


def test_where_storage_is_slow_a_read_is_out_as_long_as_it_takes() -> None:
    found = charged(slow_read(measured(Story()), 5).at(10).puts(9).reads().beats(30))
    assert found[("reading",)] == pytest.approx(22, abs=0.1)
    assert ("stuck",) not in found


def test_where_no_read_of_the_broker_was_slow_one_that_is_out_is_not_known_to_be_storage() -> None:
    found = charged(measured(Story()).at(10).puts(9).reads().beats(30))
    assert found == pytest.approx({("catching_up",): 5.016, ("unknown", "not_in_this_log"): 15})


def test_a_slow_read_is_evidence_for_a_minute() -> None:
    found = charged(slow_read(measured(Story()), 5).at(68).puts(9).reads().beats(80))
    normal_s = 8 * 2**20 / SECOND
    expected = {("catching_up",): 5.016 + normal_s, ("reading",): 2 - normal_s, ("unknown", "not_in_this_log"): 7}
    assert found == pytest.approx(expected)


def test_a_read_that_is_out_for_a_minute_while_others_come_back_is_lost() -> None:
    """Another subscription of the topic reads the same entries in a millisecond, once a second."""
    story = measured(Story()).at(10).puts(9).reads()
    other = {"topic": TOPIC, "sub": "other"}
    story.add("cursor_open", **other, durable=True, ledger=5, entry=24).add("dispatcher_open", **other, sub_type="Shared")
    story.add("consumer_open", **other, consumer=0, conn=2)
    for second in range(11, 130):
        story.at(second).puts(1).add("read", **other, sub_type="Shared", want_msgs=100, want_bytes=1000, permits=100)
        story.at(second, 1_000_000).add("dispatch", **other, entries=1, msgs=1, bytes=100)
    rows = tables_of(story.beats(130).events)["subscription_causes"]
    found = Counter[str]()
    for row in rows:
        found[row["cause"]] += row["ns"] if row["subscription"] == SUB else 0
    assert found == Counter(catching_up=5_016_000_000, unknown=55 * SECOND, stuck=60 * SECOND)


@pytest.mark.parametrize(("version", "sub_type"), [(None, "Shared"), ("1.1", "Key_Shared")])
def test_not_stuck_where_the_log_cannot_tell(version: str | None, sub_type: str) -> None:
    story = Story(version, sub_type=sub_type).puts(9).reads().gives(2)
    assert charged(story.beats(20)) == {("catching_up",): 5, ("unknown", "not_in_this_log"): 15}


def test_redelivered_entries_wait_again() -> None:
    story = Story().puts(4).reads(permits=4).gives(4)
    story.at(2).of_sub("redeliver", cause="requested", entries=3)
    assert charged(story.beats(3)) == {("in_flight",): 2, ("no_permits",): 1}


def test_a_seek_ends_the_backlog_or_begins_one() -> None:
    story = Story().puts(4).reads().gives(4)
    story.at(1).of_sub("mark_delete", ledger=5, entry=3, persisted=False, reset=True)
    story.at(3).of_sub("mark_delete", ledger=5, entry=-1, persisted=False, reset=True)
    found = charged(story.at(4).gives(4))
    assert sum(found.values()) == 2
    assert found[("in_flight",)] == 1


def test_events_lost_make_the_stretch_unknown_until_the_next_read() -> None:
    story = Story().puts(4).reads(permits=0)
    story.beats(2, 3).at(4).reads(permits=0)
    assert charged(story.beats(6).loses(2)) == {("unknown", "events_lost"): 4, ("no_permits",): 2}


@pytest.mark.parametrize(("entries", "cause"), [(100, ("unknown", "events_lost")), (101, ("catching_up",))])
def test_after_a_loss_more_must_wait_than_the_lost_event_can_have_delivered(entries: int, cause: tuple[str, ...]) -> None:
    """The largest read asked for a hundred."""
    story = Story().puts(entries).beats(2, 3).at(4).reads().beats(6)
    assert charged(story.loses(2)) == Counter({("unknown", "events_lost"): 4}) + Counter({cause: 2})


def test_a_cursor_that_was_met_in_mid_life_has_no_known_consumers() -> None:
    log = Log().add("broker_start", cluster="c", version="4.0.8", settings={})
    for entry in range(3):
        log.add("publish", topic=TOPIC, ledger=5, entry=entry, msgs=1, bytes=1, publish_ts=1)
    log.at(1).add("mark_delete", **WHERE, ledger=5, entry=0, persisted=False).at(4).add("heartbeat", dropped=0)
    assert charged(log) == {("unknown", "beginning_not_seen"): 3}


def test_pulsars_own_cursors_have_no_cause() -> None:
    log = Log().start().add("cursor_open", topic=TOPIC, sub="pulsar.dedup", durable=True, ledger=5, entry=-1)
    log.at(1).publish(2).at(3).add("heartbeat", dropped=0)
    assert {row["subscription"] for row in tables_of(log.events)["subscription_causes"]} == {SUB}


def test_an_unload_ends_the_backlog() -> None:
    story = Story(consumer=False).puts(3)
    story.at(5).add("topic_unload", topic=TOPIC)
    assert charged(story.beats(9)) == {("no_consumer",): 5}


@pytest.mark.parametrize(("waits", "complete"), [(0, [True]), (3, [False, True])])
def test_a_cursor_that_was_not_whole_makes_incomplete_what_was_charged_to_it_and_no_more(waits: int, complete: list[bool]) -> None:
    """An event was lost, then the topic was unloaded. Two windows later its cursor is opened anew, and is whole."""
    story = Story(consumer=False).puts(waits).beats(2, 3)
    story.at(5).add("topic_unload", topic=TOPIC)
    story.at(130).add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=5, snapshot=True)
    story.add("cursor_open", **WHERE, durable=True, ledger=5, entry=waits - 1).puts(2).beats(140).loses(2)
    outcomes, _ = run_lane([[lane_rows(story.events)], [drain_row()]])
    rows = as_tables(outcomes, story.events)["subscription_causes"]
    windows = {row["window_start"]: row["complete"] for row in rows}
    assert [windows[start] for start in sorted(windows)] == complete


def test_windows_split_a_backlog_and_the_area_below_it() -> None:
    """60 s windows from second 0 on. Ten entries, ten more at second 90."""
    story = Story(consumer=False).puts(10)
    story.at(90).puts(10)
    rows = tables_of(story.beats(150).events)["subscription_causes"]
    assert [row["ns"] // SECOND for row in rows] == [60, 60, 30]
    assert [row["backlog_ns"] // SECOND for row in rows] == [60, 60, 30]
    assert [row["backlog_end"] for row in rows] == [10, 20, 20]
    assert [row["entry_us"] for row in rows] == [600_000_000, 900_000_000, 600_000_000]
    assert [row["is_main"] for row in rows] == [True] * 3
    assert len({row["main_since"] for row in rows}) == 1


def test_a_step_of_the_wall_clock_changes_no_duration() -> None:
    story = Story(consumer=False).puts(10).beats(10, 20, 30)
    for event in story.events[-2:]:
        event["ts"] += 7_200_000_000
    rows = tables_of(story.events)["subscription_causes"]
    assert sum(row["ns"] for row in rows) == 30 * SECOND
    assert {row["clock_segment"] for row in rows} == {0, 1}
