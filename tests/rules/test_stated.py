"""What the broker says it holds (`state`) puts right a cursor of which the log has not all: figures at the next check."""

from typing import Any

import pytest
from lane_tables import tables_of
from log_builder import TOPIC
from stated_story import Stated, checked, of_check
from test_causes import charged


def test_the_backlog_is_the_brokers_after_acknowledgements_are_lost() -> None:
    story = Stated().puts(9).reads().gives(9).at(1).acks(0, 1, 2).without(3)
    story.at(2).holds(read=9, acked=3)
    row = of_check(checked(story).arrived())
    seen = {name: row[name] for name in ("msg_backlog", "mark_delete_entry", "in_flight_entries", "unexplained_entries", "complete")}
    assert seen == {"msg_backlog": 6, "mark_delete_entry": 2, "in_flight_entries": 6, "unexplained_entries": 0, "complete": False}


def test_the_backlog_is_the_brokers_where_the_log_begins_in_the_middle() -> None:
    story = Stated().puts(9).reads().gives(4).holds(read=4, acked=1, deleted_entries=2, backlog_entries=6).puts(1)
    row = of_check(checked(story).from_its_first_state())
    seen = {name: row[name] for name in ("msg_backlog", "individually_deleted", "durable", "cursor_kind", "complete")}
    assert seen == {"msg_backlog": 7, "individually_deleted": 2, "durable": True, "cursor_kind": "subscription", "complete": False}


def test_a_reader_that_is_met_in_its_state_is_no_durable_cursor() -> None:
    story = Stated().puts(9).holds(read=4, acked=1, durable=False, cursor_kind="reader").puts(1)
    row = of_check(checked(story).from_its_first_state())
    assert (row["durable"], row["cursor_kind"]) == (False, "reader")


@pytest.mark.parametrize("fields", [{"moving": True}, {"as_of_seq": 1}])
def test_a_state_that_is_not_of_one_instant_or_of_a_cursor_that_was_closed_since_is_ignored(fields: dict[str, Any]) -> None:
    story = Stated(consumer=False).puts(9).at(1).of_sub("cursor_close").misses(2).at(3)
    story.holds(read=0, consumers=0, permits=0, **fields)
    assert tables_of(checked(story).arrived().events)["subscription_backlog"] == []


def test_entries_of_which_the_publish_is_lost_are_there_by_the_state_of_the_topic() -> None:
    """The newest three: the next publish would tell of them, and none comes."""
    story = Stated(consumer=False).puts(6).at(1).puts(3).without(3)
    story.at(2).add("topic_state", topic=TOPIC, as_of_seq=len(story.events), ledger=5, entry=8, entries=9, bytes=1_000)
    row = of_check(checked(story).arrived())
    assert (row["msg_backlog"], row["backlog_size"], row["unexplained_entries"]) == (9, 1_000, 0)


@pytest.mark.parametrize(("fields", "entries"), [({"moving": True}, 6), ({"entry": 4, "entries": 5}, 6), ({"entry": -1, "entries": 0}, 6)])
def test_a_state_of_the_topic_takes_nothing_away(fields: dict[str, Any], entries: int) -> None:
    story = Stated(consumer=False).puts(6).misses(1)
    known = {"ledger": 5, "entry": 8, "entries": 9, "bytes": 1_000}
    story.at(2).add("topic_state", topic=TOPIC, as_of_seq=len(story.events), **{**known, **fields})
    assert of_check(checked(story).arrived())["msg_backlog"] == entries


@pytest.mark.parametrize("entries", [0, 9])
def test_a_ledger_that_was_trimmed_does_not_come_back_with_the_last_confirmed_position(entries: int) -> None:
    """Also where the broker was asked before it was trimmed."""
    story = Stated(consumer=False).puts(9).misses(1)
    story.at(2).add("ledger_close", topic=TOPIC, ledger=5, entries=9, bytes=900, close_ts=1)
    story.add("ledger_open", topic=TOPIC, ledger=6, snapshot=False).of_sub("mark_delete", ledger=6, entry=-1, persisted=False)
    story.at(3).add("ledger_trim", topic=TOPIC, ledger=5)
    story.at(10).add("topic_state", topic=TOPIC, as_of_seq=len(story.events), ledger=5, entry=8, entries=entries, bytes=100 * entries)
    (row,) = tables_of(checked(story).arrived().events)["topic_backlog"]
    assert row["storage_size"] == 0
    assert of_check(story)["msg_backlog"] == 0


@pytest.mark.parametrize("opens", [True, False])
def test_in_a_topic_whose_life_is_whole_a_cursor_begins_with_its_opening(opens: bool) -> None:
    """Whoever asks the broker may see a cursor before its opening is written, or one that is gone."""
    story = Stated(consumer=False)
    story.add("topic_unload", topic=TOPIC).add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=5, snapshot=True)
    story.puts(9).at(1).holds(read=0, consumers=0, permits=0, as_of_seq=1).at(3)
    if opens:
        story.of_sub("cursor_open", durable=True, ledger=5, entry=-1)
    rows = tables_of(checked(story).events)["subscription_backlog"]
    assert [row["opened_at"] == story.events[-1]["ts"] for row in rows] == [True] * opens


def test_a_seek_that_was_lost_brings_entries_back() -> None:
    story = (
        Stated().puts(9).reads().gives(9).of_sub("mark_delete", ledger=5, entry=4, persisted=False).misses(1).at(2).holds(read=2, acked=2)
    )
    row = of_check(checked(story).arrived())
    assert (row["msg_backlog"], row["sought_entries"], row["unexplained_entries"]) == (7, 3, 0)


def test_which_entries_are_acknowledged_is_forgotten_where_the_broker_has_fewer() -> None:
    """They come again, and are acknowledged again."""
    story = Stated().puts(9).reads().gives(9).acks(2, 3, 4).misses(1).at(2).holds(read=9).acks(3)
    row = of_check(checked(story).arrived())
    assert (row["msg_backlog"], row["individually_deleted"]) == (8, 1)


def test_how_many_messages_unseen_deliveries_had_nobody_knows() -> None:
    story = Stated().puts(9).reads().gives(4).at(1).gives(5).without(1).at(2).holds(read=9)
    row = of_check(checked(story).arrived())
    assert (row["in_flight_entries"], row["unacked_messages"]) == (9, None)


def test_a_cursor_that_is_met_in_its_state_holds_the_topics_entries() -> None:
    """Its opening is lost. The other one has acknowledged all."""
    story = Stated().puts(9)
    story.at(1).add("cursor_open", topic=TOPIC, sub="late", durable=True, ledger=5, entry=-1).without(1)
    met = {"ledger": 5, "entry": 1, "read_ledger": 5, "read_entry": 2, "deleted_entries": 0, "backlog_entries": 7, "durable": True}
    of_dispatcher = {"consumers": 0, "permits": 0, "delayed_entries": 0}
    story.at(2).add("state", topic=TOPIC, sub="late", as_of_seq=len(story.events), **met, **of_dispatcher)
    story.at(3).of_sub("mark_delete", ledger=5, entry=8, persisted=True)
    (row,) = tables_of(checked(story).arrived().events)["topic_backlog"]
    assert row["backlog_size"] == 700


def test_in_a_whole_log_a_late_state_of_a_consumer_brings_nobody_back() -> None:
    """The only consumer that is there has an unwritable channel."""
    story = Stated().puts(9).reads()
    story.of_sub("consumer_open", consumer=1, conn=2).at(1).of_sub("consumer_close", consumer=1, conn=2)
    story.of_sub("consumer_state", conn=2, consumer=1, as_of_seq=len(story.events) - 1, permits=0, unacked_msgs=0)
    story.at(2).add("writability", conn=1, writable=False, pending_bytes=70_000)
    assert charged(story.beats(9))[("channel",)] == 7


def test_where_the_broker_reads_in_a_ledger_that_the_log_does_not_know_nobody_knows_what_is_beyond() -> None:
    story = Stated().puts(9).at(1)
    positions = {"ledger": 4, "entry": -1, "read_ledger": 4, "read_entry": 7, "deleted_entries": 0, "backlog_entries": 1_010}
    story.of_sub("state", as_of_seq=len(story.events), **positions, consumers=1, permits=9, delayed_entries=0)
    story.at(2).puts(1).reads(permits=9).beats(61)
    (row,) = tables_of(story.from_its_first_state().events)["subscription_throttle"]
    assert row["waiting_entries"] == 0


@pytest.mark.parametrize("sub_type", ["Exclusive", "Shared", "Failover", "Key_Shared"])
def test_the_type_of_a_dispatcher_of_which_the_opening_is_not_in_the_log_is_in_its_state(sub_type: str) -> None:
    story = Stated(sub_type=sub_type).puts(9).at(1).holds(read=0, sub_type=sub_type).at(2).reads(permits=9).beats(61)
    (row,) = tables_of(story.from_its_first_state().events)["subscription_throttle"]
    assert row["sub_type"] == sub_type
