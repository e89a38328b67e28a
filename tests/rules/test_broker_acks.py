"""The broker acknowledges by itself: entries that nobody gets, and those of a transaction that is committed (`broker_ack`, version 1.2)."""

from typing import Any

from cause_story import Story
from lane_tables import tables_of
from log_builder import TOPIC
from test_causes import charged


def acks_itself(story: Story, *entries: int, **fields: Any) -> Story:
    for entry in entries:
        story.of_sub("broker_ack", ack_type="individual", ledger=5, entry=entry, **fields)
    return story


def gives(story: Story, first: int, last: int) -> Story:
    entries = last - first + 1
    positions = {"first_ledger": 5, "first_entry": first, "last_ledger": 5, "last_entry": last}
    return story.of_sub("dispatch", entries=entries, msgs=entries, bytes=100 * entries, **positions)


def at_check(story: Story) -> tuple[int, int, int]:
    story.add("quota_check", topic=TOPIC, duration_us=1)
    (row,) = tables_of(story.events)["subscription_backlog"]
    assert row["unexplained_entries"] == 0
    return row["msg_backlog"], row["in_flight_entries"], row["acknowledged_entries"]


def test_entries_that_were_read_and_nobody_gets_are_not_in_the_backlog_any_more() -> None:
    """Messages of an aborted transaction, 3 to 5: what was delivered before them is still with the consumer."""
    story = gives(Story("1.2").puts(9).reads(), 0, 2)
    assert at_check(acks_itself(story, 3, 4, 5)) == (6, 3, 3)


def test_what_waits_is_counted_from_behind_them() -> None:
    story = gives(Story("1.2").puts(6).reads(), 0, 2)
    acks_itself(story.at(1), 3, 4, 5).at(10)
    assert charged(story.beats(10)) == {("catching_up",): 1, ("in_flight",): 9}


def test_entries_of_a_committed_transaction_are_with_no_consumer_any_more() -> None:
    story = gives(Story("1.2").puts(9).reads(), 0, 8)
    assert at_check(acks_itself(story, 1, 2)) == (7, 7, 2)


def test_an_entry_is_acknowledged_once() -> None:
    story = gives(Story("1.2").puts(9).reads(), 0, 2)
    assert at_check(acks_itself(story, 4, 4, 1, 1)) == (7, 2, 2)


def test_after_a_seek_nothing_was_delivered() -> None:
    story = gives(Story("1.2").puts(9).reads(), 0, 8)
    story.of_sub("mark_delete", ledger=5, entry=-1, persisted=False, reset=True)
    assert at_check(acks_itself(gives(story.reads(), 0, 1), 2)) == (8, 2, 1)


def test_a_part_of_a_batch_leaves_its_entry() -> None:
    story = gives(Story("1.2").puts(3).reads(), 0, 0)
    assert at_check(acks_itself(story, 2, batch_index=1)) == (3, 1, 0)
