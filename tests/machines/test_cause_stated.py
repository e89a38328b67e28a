"""What the broker says it holds (`state`) makes the cause of a backlog known again."""

from collections import Counter
from typing import Any

import pytest
from bookkeeper.random_states import stated
from cause_story import measured
from hypothesis import HealthCheck, given, settings
from lane_tables import tables_of
from log_builder import SUB, TOPIC
from stated_story import Stated
from suite.examples import examples
from test_causes import charged
from test_causes_against_bookkeeper import brokers


def test_a_delivery_that_says_how_far_it_went_shows_what_waits() -> None:
    """A delivery of four entries is lost. The next one begins behind them."""
    story = Stated().puts(9).holds(read=0).reads()
    story.at(1).gives(4).without(1)
    story.at(1.1).reads().of_sub("dispatch", entries=5, msgs=5, bytes=500, first_ledger=5, first_entry=4, last_ledger=5, last_entry=8)
    assert charged(story.beats(2.5).arrived()).get(("in_flight",)) == 1.4


@pytest.mark.parametrize(("unacked", "cause", "seconds"), [(0, "no_flow", 12), (9, "no_permits", 10)])
def test_whether_consumers_hold_something_is_known_again(unacked: int, cause: str, seconds: int) -> None:
    story = Stated().puts(20).misses(1).at(2).holds(read=unacked, permits=0).at(11).holds(read=unacked, permits=0)
    assert charged(story.beats(12).arrived())[(cause,)] == seconds


def test_a_consumer_of_which_the_opening_is_lost_is_on_the_channel_that_its_state_names() -> None:
    story = Stated(consumer=False).puts(9).at(1).of_sub("consumer_open", consumer=0, conn=1).without(1)
    story.at(2).add("writability", conn=1, writable=False, pending_bytes=70_000)
    story.at(3).holds(read=4, permits=0)
    story.of_sub("consumer_state", conn=1, consumer=0, as_of_seq=len(story.events), permits=0, unacked_msgs=4)
    assert charged(story.at(12).holds(read=4, permits=0).beats(13).arrived())[("channel",)] == 10


def test_a_cap_that_is_on_unseen_is_no_fault_of_the_broker() -> None:
    """Permits, a consumer and waiting entries, and nothing moves. After a loss a consumer may have reached its cap."""
    story = Stated()
    measured(story)
    story.at(1).puts(9).reads().misses(1.5)
    for second in (2, 12, 22):
        story.at(second).holds(read=16, acked=16, read_out=False)
    assert ("stuck",) not in charged(story.beats(30).arrived())


def test_a_log_that_begins_in_the_middle_is_known_from_the_first_state_on() -> None:
    story = Stated(consumer=False).puts(9).at(5).holds(read=2, acked=2, consumers=0, permits=0).puts(1)
    story.at(15).holds(read=2, acked=2, consumers=0, permits=0)
    assert charged(story.beats(25).from_its_first_state()) == {("no_consumer",): 20}


def test_a_transaction_that_opened_unseen_is_known_by_the_state_of_the_topic() -> None:
    story = Stated().puts(9).holds(read=0).reads().misses(0.5).at(0.7).holds(read=0)
    for second in range(1, 12):
        story.at(second).of_sub("read_done", entries=0, bytes=0).reads()
        if second == 1:
            positions = {"ledger": 5, "entry": 8, "entries": 9, "bytes": 900}
            story.add("topic_state", topic=TOPIC, as_of_seq=len(story.events), **positions, open_transactions=1)
    assert charged(story.beats(12).arrived())[("transaction",)] == pytest.approx(10)


def test_in_a_whole_log_states_change_nothing() -> None:
    """Not even wrong ones: what the log has event by event is exact."""
    plain, stated = Stated(), Stated()
    for story in (plain, stated):
        story.puts(9).reads().gives(4).at(1)
        if story is stated:
            story.holds(read=0, acked=7, consumers=3, permits=0, blocked=True, read_out=True, replay_entries=5)
            story.of_sub("consumer_state", conn=7, consumer=7, as_of_seq=1, permits=0, unacked_msgs=0)
        story.at(2).reads().gives(5).acks(0, 1).at(70).acks(2).beats(71).add("quota_check", topic=TOPIC, duration_us=1)
    of_plain, of_stated = tables_of(plain.events), tables_of(stated.events)
    for name in ("subscription_causes", "subscription_backlog", "subscription_throttle", "topic_backlog"):
        assert of_plain[name] == of_stated[name] != []
    assert {row["subscription"] for row in of_stated["subscription_causes"]} == {SUB}


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(stated(brokers().map(lambda broker: broker.events)))
def test_all_time_of_a_backlog_is_charged_whatever_the_broker_says_and_is_lost(events: list[dict[str, Any]]) -> None:
    """Right or wrong: causes add up, nothing is in doubt any more, and no figure is less than nothing."""
    tables = tables_of(events)
    sums: Counter[Any] = Counter()
    for row in tables["subscription_causes"]:
        key = row["subscription"], row["window_start"], row["clock_segment"], row["backlog_ns"]
        sums[key] += row["ns"]
        assert min(row["ns"], row["entry_us"], row["backlog_end"], row["waiting_end"]) >= 0
    assert {key: key[-1] for key in sums} == sums
    for row in tables["subscription_backlog"]:
        assert min(row[name] for name in ("msg_backlog", "in_flight_entries", "individually_deleted")) >= 0
