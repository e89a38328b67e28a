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

UNKNOWN = ("unknown", "events_lost")


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


def completes(story: Stated) -> list[bool]:
    """Of each window with a backlog, in order."""
    rows = tables_of(story.events)["subscription_causes"]
    return [complete for _, complete in sorted({(row["window_start"], row["complete"]) for row in rows})]


def test_a_window_is_complete_again_where_it_began_with_what_the_broker_holds() -> None:
    """What is missing between two events may have been in either's window."""
    story = Stated(consumer=False).puts(9).misses(5)
    for second in (10, 70, 130):
        story.at(second).holds(read=0, consumers=0, permits=0)
    assert completes(story.beats(181).misses(190).beats(250).arrived()) == [False, True, True, False, False]


def test_the_window_in_which_the_first_state_comes_is_not_complete() -> None:
    story = Stated(consumer=False).puts(9).at(30).holds(read=0, consumers=0, permits=0)
    assert completes(story.at(90).holds(read=0, consumers=0, permits=0).beats(110).from_its_first_state()) == [False, True]


def test_entries_of_which_the_publish_is_lost_are_not_with_consumers() -> None:
    """The state of the topic, which has them, comes after that of its cursors."""
    story = Stated().puts(4).reads(permits=0).at(1).puts(50).without(50)
    for second in (2, 12, 22):
        story.at(second).holds(read=0, permits=0)
        story.add("topic_state", topic=TOPIC, as_of_seq=len(story.events), ledger=5, entry=53, entries=54, bytes=5_400)
    found = charged(story.beats(23).arrived())
    assert ("no_permits",) not in found
    assert found[("no_flow",)] >= 21


def holds_older(story: Stated, permits: int, **of_older: int) -> Stated:
    """At seconds 2 and 12; an entry is published after each."""
    of_dispatcher = {"deleted_entries": 0, "consumers": 1, "permits": permits, "delayed_entries": 0}
    for second in (2, 12):
        story.at(second).of_sub("state", as_of_seq=len(story.events), **of_dispatcher, **of_older)
        story.at(second + 0.001).puts(1).misses(second + 1)
    return story.beats(13.5).from_its_first_state().arrived()


@pytest.mark.parametrize(("permits", "causes"), [(0, {"no_flow", "unknown"}), (1000, {"unknown", "catching_up"})])
def test_entries_in_ledgers_that_the_log_does_not_know_wait(permits: int, causes: set[str]) -> None:
    story = holds_older(Stated(), permits, ledger=4, entry=-1, read_ledger=4, read_entry=0, backlog_entries=1_010)
    assert {cause for cause, *_ in charged(story)} <= causes


def test_where_the_log_does_not_know_what_lies_before_the_read_position_nobody_knows_what_consumers_have() -> None:
    story = holds_older(Stated(), 0, ledger=3, entry=6, read_ledger=5, read_entry=0, backlog_entries=500)
    assert {cause for cause, *_ in charged(story)} <= {"unknown", "no_flow"}


def test_a_cap_of_which_the_end_is_lost_is_on_no_more_where_the_broker_says_something_else() -> None:
    story = Stated().puts(9).holds(read=0).reads().gives(9)
    story.of_sub("consumer_blocked", cap="consumer", consumer=0, conn=1, on=True).puts(20)
    story.at(2).of_sub("consumer_blocked", cap="consumer", consumer=0, conn=1, on=False).without(1)
    for second in (10, 20, 30, 40):
        story.at(second).holds(read=9, acked=9, read_out=True)
    found = charged(story.beats(45).arrived())
    assert found.get(("unacked_limit",), 0) <= 2
    assert ("stuck",) not in found


def test_nothing_is_charged_to_a_cursor_that_is_pulsars_own() -> None:
    """It was met by its mark-delete: whose it is its state says."""
    story = Stated(consumer=False).puts(9).at(1).of_sub("mark_delete", ledger=5, entry=0, persisted=False)
    story.events = story.events[-1:]
    for second in (2, 12):
        story.at(second).holds(read=1, acked=1, cursor_kind="replicator", durable=True, consumers=0, permits=0)
    assert charged(story.puts(1).beats(20)) == {}


@pytest.mark.parametrize("was_writable", [True, False])
def test_a_consumer_that_came_and_one_that_went_unseen_are_told_apart_by_their_connections(was_writable: bool) -> None:
    story = Stated().puts(9).at(1).add("writability", conn=2 if was_writable else 1, writable=False, pending_bytes=70_000)
    story.at(2).of_sub("consumer_close", consumer=0, conn=1).of_sub("consumer_open", consumer=0, conn=2).without(2)
    for second in (3, 13):
        story.at(second).holds(read=4, permits=0)
        story.of_sub("consumer_state", conn=2, consumer=0, as_of_seq=len(story.events), permits=0, unacked_msgs=4)
    found = charged(story.beats(23).arrived())
    assert found[("channel",) if was_writable else ("no_permits",)] >= 20


def test_a_limiter_is_not_proven_by_what_says_nothing_of_it() -> None:
    story, done = Stated().puts(100).holds(read=0).reads(topic_msgs=0, topic_bytes=0), 0
    for number in range(1, 6):
        story.misses(10 * number - 5)
        done += 5 + number
        story.at(10 * number).holds(read=done + 5 + number, acked=done, read_out=True)
    found = charged(story.beats(51).arrived())
    assert found[("throttled", "topic", "msg")] == 1.5


def test_a_subscription_that_was_deleted_unseen_is_not_waiting_for_a_consumer() -> None:
    """The broker says each ten seconds what it holds of a subscription with a backlog. Of this one it says nothing any more."""
    story = Stated(consumer=False).puts(9).holds(read=0, consumers=0, permits=0)
    story.at(5).of_sub("cursor_close").without(1)
    story.beats(*range(10, 300, 10))
    assert charged(story.arrived())[("no_consumer",)] == 1.5


def test_permits_are_known_for_a_moment_after_a_proof() -> None:
    story = Stated().puts(9).holds(read=0).misses(0.1).at(0.2).reads(permits=9).misses(0.5).at(1).gives(9).puts(5)
    assert charged(story.at(2).holds(read=9, permits=0).beats(3).arrived())[("no_permits",)] == 2


@pytest.mark.parametrize(("consumers", "permits"), [(1, 0), (1, 50)])
def test_a_consumer_that_came_unseen_makes_the_time_before_doubtful(consumers: int, permits: int) -> None:
    """Nothing was delivered to it: positions are the same."""
    story = Stated(consumer=False).puts(9).holds(read=0, consumers=0, permits=0)
    story.misses(1).at(10).holds(read=0, consumers=consumers, permits=permits)
    found = charged(story.beats(10).arrived())
    assert found == {("no_consumer",): 1.5, UNKNOWN: 8.5}


def test_permits_that_were_granted_unseen_make_the_time_before_doubtful() -> None:
    story = Stated().puts(9).holds(read=0, permits=0).misses(0.1).at(0.2).holds(read=0, permits=0)
    found = charged(story.misses(1).at(10).holds(read=0, permits=50).beats(10).arrived())
    assert found == {("no_flow",): pytest.approx(1.7), UNKNOWN: pytest.approx(8.3)}


def test_a_dispatcher_that_does_not_ask_again_is_not_throttled() -> None:
    story = Stated().puts(100).holds(read=0).reads(topic_msgs=0, topic_bytes=0)
    for second in (10, 20, 30):
        story.misses(second - 5).at(second).holds(read=second, acked=second)
    assert charged(story.beats(31).arrived())[("throttled", "topic", "msg")] == 1.5


def test_what_a_key_shared_dispatcher_put_aside_is_in_its_replay_queue() -> None:
    story = Stated(sub_type="Key_Shared").puts(30).holds(read=0).misses(0.1)
    story.at(0.2).holds(read=30, replay_entries=10).at(1).reads().beats(5)
    assert charged(story.arrived())[("keys_blocked",)] >= 3


def test_in_a_log_from_the_middle_the_state_says_that_a_dispatcher_is_key_shared() -> None:
    """And that the log has what reads bring: it is of version 1.2."""
    story = Stated(sub_type="Key_Shared").puts(30).at(1).holds(read=30, replay_entries=10, sub_type="Key_Shared")
    story.at(2).holds(read=30, replay_entries=10, sub_type="Key_Shared").reads()
    assert charged(story.beats(5).from_its_first_state())[("keys_blocked",)] == 4


def test_what_moved_unseen_moved_until_the_broker_said_so() -> None:
    """Then five seconds without a sign of life are needed."""
    story = Stated().puts(500).holds(read=0).misses(1).at(10).holds(read=200, acked=200)
    assert charged(story.beats(20).arrived())[("catching_up",)] == 5


def test_a_cap_that_is_on_unseen_is_known_by_the_state() -> None:
    story = Stated().puts(9).holds(read=0).reads().gives(5).misses(1)
    for second in (10, 20):
        story.at(second).holds(read=5, blocked=True)
    assert charged(story.beats(21).arrived())[("unacked_limit",)] == 11


def test_a_transaction_that_ended_unseen_is_known_by_the_state_of_the_topic() -> None:
    story = Stated().puts(9).reads()
    story.add("transaction_open", topic=TOPIC, open_transactions=1).misses(0.1).at(0.2).holds(read=0)
    positions = {"ledger": 5, "entry": 8, "entries": 9, "bytes": 900}
    story.at(0.3).add("topic_state", topic=TOPIC, as_of_seq=len(story.events), **positions, open_transactions=0)
    for second in range(1, 4):
        story.at(second).of_sub("read_done", entries=0, bytes=0).reads()
    assert ("transaction",) not in charged(story.beats(4).arrived())


def test_a_backlog_begins_where_the_state_of_the_topic_shows_entries_that_were_not_seen() -> None:
    story = Stated(consumer=False).holds(read=0, consumers=0, permits=0).at(1).puts(2).without(2)
    story.at(2).add("topic_state", topic=TOPIC, as_of_seq=len(story.events), ledger=5, entry=1, entries=2, bytes=200)
    story.at(3).holds(read=0, consumers=0, permits=0)
    assert charged(story.beats(9).arrived()) == {("no_consumer",): 7}


def test_a_cursor_that_ends_in_a_window_of_which_not_all_is_known_leaves_it_incomplete() -> None:
    """Its last `state` is of the same window as the loss."""
    story = Stated(consumer=False).puts(9).at(1).of_sub("consumer_open", consumer=0, conn=1).misses(5)
    story.at(20).holds(read=0, permits=0).at(30).of_sub("cursor_close")
    assert completes(story.beats(90).arrived()) == [False]


def test_a_dispatcher_that_has_a_read_out_is_not_throttled() -> None:
    story = Stated().puts(100).holds(read=0).reads(topic_msgs=0, topic_bytes=0).misses(0.5).at(1).holds(read=0, read_out=True)
    assert charged(story.beats(2).arrived()) == {("throttled", "topic", "msg"): 1, ("catching_up",): 1}


@pytest.mark.parametrize(("read_waits", "is_stuck"), [(True, True), (False, False)])
def test_a_read_that_waits_for_entries_that_are_there_is_a_fault_of_the_broker(read_waits: bool, is_stuck: bool) -> None:
    """One that is at storage may be slow."""
    story = measured_and_lost().at(2).holds(read=16, acked=16, read_out=True, read_waits=read_waits)
    story.of_sub("consumer_blocked", cap="consumer", consumer=0, conn=1, on=False)
    assert (("stuck",) in charged(story.beats(9).arrived())) == is_stuck


def measured_and_lost() -> Stated:
    """Nine entries wait."""
    story = Stated()
    measured(story)
    return story.at(1).puts(9).reads().misses(1.5)


def test_a_cap_of_a_subscription_of_which_the_end_is_lost_is_on_no_more() -> None:
    story = Stated().puts(9).holds(read=0).reads().gives(9)
    story.of_sub("consumer_blocked", cap="subscription", on=True).puts(20)
    story.at(1).of_sub("consumer_blocked", cap="subscription", on=False).without(1)
    story.at(1.2).holds(read=9, blocked=False)
    assert charged(story.beats(2).arrived())[("catching_up",)] == pytest.approx(0.8)


def test_a_cap_that_is_on_with_nothing_unacknowledged_may_be_one_of_a_consumer_that_came_unseen() -> None:
    story = Stated().puts(9).misses(1)
    for second in (2, 12):
        story.at(second).holds(read=0, blocked=True)
    found = charged(story.beats(20).arrived())
    assert found[("unacked_limit",)] == 3
    assert "stuck" not in {cause for cause, *_ in found}


def test_for_a_moment_after_a_proof_a_transaction_is_what_reads_wait_for() -> None:
    """More waits than the lost event may have been a delivery of."""
    story = Stated().puts(150).reads()
    story.add("transaction_open", topic=TOPIC, open_transactions=1).misses(0.1).at(0.2).holds(read=0).misses(0.3)
    story.at(0.4).of_sub("read_done", entries=0, bytes=0).reads()
    assert charged(story.beats(1.4).arrived())[("transaction",)] == pytest.approx(1)


def test_after_a_loss_a_read_that_comes_back_empty_shows_that_something_waits() -> None:
    """A delivery is lost: it may have had all nine. But a transaction is open, and reads bring nothing."""
    story = Stated().puts(9).holds(read=0).reads().misses(0.1)
    story.add("transaction_open", topic=TOPIC, open_transactions=1)
    for tenth in range(2, 20):
        story.at(tenth / 10).of_sub("read_done", entries=0, bytes=0).reads()
    assert charged(story.beats(2).arrived())[("transaction",)] == pytest.approx(1.8, abs=0.1)


def test_where_most_is_with_consumers_a_loss_does_not_make_that_doubtful() -> None:
    """An unseen delivery may have had the ten that wait: then all is with consumers."""
    story = Stated().puts(100).holds(read=0).reads().gives(90).misses(1).at(1.1).reads()
    assert charged(story.beats(2.5).arrived()) == {("in_flight",): 2.5}


def spans(story: Stated, first: int, last: int) -> Stated:
    """A delivery of all from entry `first` to `last`."""
    size = last - first + 1
    of_span = {"first_ledger": 5, "first_entry": first, "last_ledger": 5, "last_entry": last}
    return story.of_sub("dispatch", entries=size, msgs=size, bytes=100 * size, **of_span)


def test_a_delivery_that_says_how_far_it_went_shows_that_the_rest_waits() -> None:
    """Each of three lost events may have been a delivery of ten."""
    story = spans(Stated().puts(40).holds(read=0).reads(), 0, 9).misses(1).misses(1.1).misses(1.2)
    assert charged(spans(story.at(1.3).reads(), 10, 19).beats(2).arrived())[("catching_up",)] >= 0.7


@pytest.mark.parametrize(
    ("sub_type", "held", "cause"),
    [
        ("Shared", {"delayed_entries": 5}, "delayed"),
        ("Shared", {"replay_entries": 5}, "catching_up"),
        ("Key_Shared", {"replay_entries": 5}, "keys_blocked"),
    ],
)
def test_what_is_held_or_given_back_was_read_and_is_not_with_consumers(sub_type: str, held: dict[str, int], cause: str) -> None:
    story = Stated(sub_type=sub_type).puts(9).reads().misses(0.1).at(0.2).holds(read=5, **held)
    story = spans(story.at(0.4).reads(), 5, 8).reads()
    assert (cause,) in charged(story.beats(1.8).arrived())


def test_a_delivery_that_was_lost_is_not_taken_for_entries_that_were_put_aside() -> None:
    """Key_Shared: all nine are with the consumer. Of the second read the delivery is lost."""
    story = Stated(sub_type="Key_Shared").puts(9).holds(read=0).reads()
    story.at(0.1).of_sub("read_done", entries=6, bytes=600).gives(6).reads()
    story.at(0.2).of_sub("read_done", entries=3, bytes=300).gives(3).without(1)
    for second in (0.3, 0.4, 0.5, 0.6):
        story.at(second).reads()
    found = charged(story.beats(1.5).at(10).holds(read=9).beats(11).arrived())
    assert ("keys_blocked",) not in found
    assert found[("in_flight",)] == pytest.approx(1.2)
