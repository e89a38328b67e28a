"""No progress is not progress: reads in vain, blocked keys, open transactions, redeliveries, caps left on (docs/design/causes.md)."""

import pytest
from cause_story import Story
from lane_tables import tables_of
from log_builder import SUB, TOPIC
from test_causes import charged


def done(story: Story, entries: int, **fields: object) -> Story:
    return story.of_sub("read_done", entries=entries, bytes=100 * entries, **fields)


def transaction(story: Story, action: str) -> Story:
    story.add("transaction", topic=TOPIC, transaction_action=action)
    return story


def asks_in_vain(story: Story, *seconds: int) -> Story:
    """Once a second a read comes back with nothing, and the next one goes out."""
    for second in seconds:
        done(story.at(second), 0).reads()
    return story


def test_nothing_behind_an_open_transaction_is_delivered() -> None:
    story = transaction(Story().puts(1).reads(), "publish").puts(9)
    asks_in_vain(story, *range(1, 12))
    transaction(story.at(11.5), "commit")
    done(story.at(12), 10).gives(10)
    assert charged(story.beats(13)) == {("catching_up",): 1, ("transaction",): 11, ("in_flight",): 1}


def test_a_transaction_explains_nothing_while_reads_bring_entries() -> None:
    story = transaction(Story().puts(9).reads(), "publish")
    for second in range(1, 4):
        done(story.at(second), 3).gives(3).acks(*range(3 * second - 3, 3 * second)).reads()
    assert ("transaction",) not in charged(story)


def test_one_of_several_transactions_ended_and_reads_still_bring_nothing() -> None:
    """Which one ended no log of 1.1 has. After five seconds in vain it is one that is open still."""
    story = transaction(transaction(Story().puts(9).reads(), "publish"), "commit")
    asks_in_vain(story, *range(1, 12))
    assert charged(story) == {("catching_up",): 5, ("transaction",): 6}


def test_a_log_of_1_2_has_how_many_transactions_are_open() -> None:
    """The first of two ends at second 4, the other at second 8."""
    story = Story("1.2").puts(9).reads()
    story.add("transaction_open", topic=TOPIC, open_transactions=2)
    asks_in_vain(story, 1, 2, 3, 4)
    transaction(story, "commit").add("transaction_end", topic=TOPIC, open_transactions=1)
    asks_in_vain(story, 5, 6, 7, 8)
    story.add("transaction_end", topic=TOPIC, open_transactions=0)
    assert charged(done(story.at(9), 9).gives(9).beats(10)) == {("catching_up",): 1, ("transaction",): 8, ("in_flight",): 1}


def test_reads_that_bring_nothing_are_no_progress_where_the_log_has_no_reason() -> None:
    story = asks_in_vain(Story().puts(9).reads(), *range(1, 12))
    assert charged(story) == {("catching_up",): 5, ("unknown", "not_in_this_log"): 6}


def test_an_acknowledgement_is_progress() -> None:
    story = asks_in_vain(Story().puts(9).reads().gives(2).reads(), 1, 2, 3).acks(0)
    asks_in_vain(story, *range(4, 12))
    assert charged(story) == {("catching_up",): 8, ("unknown", "not_in_this_log"): 3}


def test_no_dispatcher_is_called_stuck_while_a_transaction_is_open() -> None:
    story = transaction(Story().puts(9).reads().gives(2), "publish")
    assert charged(story.beats(20)) == {("catching_up",): 5, ("unknown", "not_in_this_log"): 15}


def test_keys_are_blocked_where_all_that_waits_was_read_and_nobody_took_it() -> None:
    story = Story(sub_type="Key_Shared").reads()
    for second in range(1, 11):
        done(story.at(second).puts(1), 1).reads()
    assert charged(story.beats(14)) == {("keys_blocked",): 13}


def test_entries_that_were_read_while_nothing_waited_are_not_those_that_are_published_later() -> None:
    """A log without some deliveries has such reads."""
    story = done(Story(sub_type="Key_Shared").reads(), 3).at(1).puts(3)
    assert charged(story.beats(5)) == {("catching_up",): 4}


def test_of_a_key_shared_dispatcher_that_does_not_ask_any_more_nothing_is_known() -> None:
    story = Story(sub_type="Key_Shared").reads()
    done(story.at(1).puts(1), 1).reads()
    assert charged(story.beats(20)) == {("keys_blocked",): 5, ("unknown", "not_in_this_log"): 14}


def test_keys_are_blocked_where_the_dispatcher_asks_every_ten_ms_and_does_not_read() -> None:
    """One entry lies aside, nine were not read. The third time with the same permits shows it; a grant would be a reason to ask."""
    story = Story(sub_type="Key_Shared").puts(10).reads()
    done(story, 1).reads()
    for number in range(1, 1001):
        story.at(number / 100).reads()
    assert charged(story) == pytest.approx({("catching_up",): 0.03, ("keys_blocked",): 9.97})


def test_asking_with_other_permits_does_not_show_that_keys_are_blocked() -> None:
    story = Story(sub_type="Key_Shared").puts(10).reads()
    done(story, 1).reads()
    for number in range(1, 300):
        story.at(number / 100).reads(permits=1000 + number)
    assert charged(story).keys() == {("catching_up",)}


def test_a_shared_dispatcher_has_no_keys() -> None:
    story = Story().puts(10).reads()
    done(story, 1).reads()
    for number in range(1, 300):
        story.at(number / 100).reads()
    assert ("keys_blocked",) not in charged(story)


def storm(story: Story, *seconds: float) -> Story:
    """All that is with the consumer is given back, and delivered again."""
    for second in seconds:
        story.at(second).of_sub("redeliver", cause="requested", entries=9).reads().gives(9)
    return story


def test_redelivery_once_each_entry_was_delivered_again_more_than_twice() -> None:
    story = storm(Story().puts(9).reads().gives(9), 1, 2, 3, 4)
    assert charged(story.beats(6)) == {("in_flight",): 3, ("redelivery",): 3}


def test_acknowledgements_make_up_for_redeliveries() -> None:
    """Each consumer acknowledges as many entries as it gives back."""
    story = Story().puts(90).reads().gives(9)
    for second in range(1, 9):
        story.at(second).acks(*range(9 * second - 9, 9 * second)).of_sub("redeliver", cause="requested", entries=9)
        story.reads().gives(9).gives(9)
    assert ("redelivery",) not in charged(story)


def test_consumers_that_leave_without_an_acknowledgement() -> None:
    story = Story().puts(9)
    for second in range(0, 10, 2):
        story.at(second).reads().gives(9).at(second + 1).of_sub("consumer_close", consumer=0, conn=1)
        story.of_sub("consumer_open", consumer=0, conn=1)
    found = charged(story)
    assert found == {("in_flight",): 3, ("no_flow",): 3, ("redelivery",): 3}


def test_consumers_that_acknowledge_again_make_up_for_a_storm_however_long_it_was() -> None:
    """Nine entries went round twenty times. From second 21 on one is acknowledged a second, and another one is delivered."""
    story = storm(Story().puts(90).reads().gives(9), *range(1, 21))
    for number in range(40):
        story.at(21 + number).acks(number).reads().gives(1)
    found = charged(story)
    assert found[("redelivery",)] == pytest.approx(18 + 9, abs=1)


def test_acknowledgements_of_a_topic_that_was_unloaded_since_do_not_count() -> None:
    """The broker counts anew. Each entry of the second life is delivered twice."""
    story = storm(Story().puts(99).reads().gives(99).acks(*range(90)), 1)
    story.at(2).acks(*range(90, 99))
    story.add("topic_unload", topic=TOPIC).add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=6)
    story.add("cursor_open", topic=TOPIC, sub=SUB, durable=True, ledger=6, entry=-1)
    story.of_sub("dispatcher_open", sub_type="Shared").of_sub("consumer_open", consumer=0, conn=1)
    for entry in range(9):
        story.add("publish", topic=TOPIC, ledger=6, entry=entry, msgs=1, bytes=100, publish_ts=1)
    story.reads().gives(9)
    assert charged(storm(story, 3).beats(6)) == {("in_flight",): 6}


def test_redeliveries_are_forgotten_two_minutes_after_the_latest() -> None:
    story = storm(Story().puts(9).reads().gives(9), 1, 2, 3)
    assert charged(story.beats(300)) == {("in_flight",): 3 + 120, ("redelivery",): 177}


def test_redeliveries_of_some_entries_while_others_wait_are_no_progress() -> None:
    """Two of a hundred go round and round, once a second: too few times yet to weigh more than the eighty that were delivered once."""
    story = Story().puts(100).reads().gives(80)
    done(story.reads(), 0)
    for second in range(1, 15):
        story.at(second).of_sub("redeliver", cause="requested", entries=30).reads()
        done(story, 30, replay=True).gives(30).reads()
    found = charged(story)
    assert found.keys() <= {("in_flight",), ("redelivery",)}


@pytest.mark.parametrize("cap", ["consumer", "subscription", "broker"])
def test_a_cap_that_stays_on_while_nothing_is_unacknowledged_is_a_fault_of_the_broker(cap: str) -> None:
    """After five seconds: a broker that takes the cap away does so at once."""
    story = Story().puts(9).reads().gives(2).of_sub("consumer_blocked", cap=cap, on=True)
    story.at(6).acks(0, 1)
    assert charged(story.beats(20)) == {("unacked_limit",): 11, ("stuck",): 9}


def test_tables_tell_which_cap_it_is() -> None:
    story = Story().puts(9).reads().gives(2).of_sub("consumer_blocked", cap="subscription", on=True)
    story.at(6).acks(0, 1).beats(20)
    caps = {row["cause"]: row["cap"] for row in tables_of(story.events)["subscription_causes"]}
    assert caps == {"unacked_limit": "subscription", "stuck": "subscription"}


def test_failing_reads_are_slow_storage() -> None:
    story = Story().puts(20)
    for number in range(16):
        story.at(number / 100).reads().at(number / 100, 1_000_000).gives(1)
    story.at(1).reads()
    for second in range(2, 12):
        story.at(second).of_sub("read_done", entries=0, bytes=0, error="BKReadException")
    found = charged(story.beats(12))
    assert found[("reading",)] > 10


def second_consumer(story: Story) -> Story:
    """It comes on connection 2."""
    return story.of_sub("consumer_open", consumer=1, conn=2)


def grants(story: Story, consumer: int, permits: int) -> Story:
    return story.of_sub("flow", consumer=consumer, conn=consumer + 1, permits=permits)


def leaves(story: Story, consumer: int) -> Story:
    return story.of_sub("consumer_close", consumer=consumer, conn=consumer + 1)


@pytest.mark.parametrize(("sub_type", "cause"), [("Failover", "no_permits"), ("Exclusive", "no_permits"), ("Shared", "stuck")])
def test_permits_of_a_standby_consumer_are_none_that_the_dispatcher_looks_at(sub_type: str, cause: str) -> None:
    """The active consumer hangs with two messages. The other one has granted a thousand."""
    story = grants(second_consumer(grants(Story(sub_type=sub_type), 0, 2)), 1, 1000)
    story.puts(9).reads(permits=2).gives(2)
    expected = {("no_permits",): 20} if cause == "no_permits" else {("no_permits",): 5, ("stuck",): 15}
    assert charged(story.beats(20)) == expected


def test_a_single_consumer_of_failover_granted_what_the_dispatcher_looks_at() -> None:
    story = grants(Story(sub_type="Failover"), 0, 2).puts(9).reads(permits=2).gives(2)
    assert charged(grants(story.at(3), 0, 5).beats(10)) == {("no_permits",): 8, ("stuck",): 2}


def test_another_active_consumer_may_have_granted_nothing() -> None:
    """It comes, and may be the active one from then on. The dispatcher reads no more."""
    story = second_consumer(Story(sub_type="Failover").puts(9).reads().gives(2).at(1))
    assert charged(story.beats(20)) == {("catching_up",): 6, ("unknown", "not_in_this_log"): 14}


@pytest.mark.parametrize("sub_type", ["Shared", "Failover"])
def test_permits_of_a_consumer_that_left_are_none(sub_type: str) -> None:
    """Nobody knows whose the permits of the latest read were. The next read tells what the other one has."""
    story = leaves(second_consumer(Story(sub_type=sub_type)).puts(9).reads().gives(2).at(1), 0)
    assert charged(story.beats(10)) == {("catching_up",): 6, ("unknown", "not_in_this_log"): 4}
    asks = leaves(second_consumer(Story(sub_type=sub_type)).puts(9).reads().gives(2).at(1), 0).reads().gives(1)
    assert charged(asks.beats(10)) == {("catching_up",): 6, ("stuck",): 4}


def test_permits_of_a_consumer_at_its_cap_are_none_that_the_dispatcher_looks_at() -> None:
    """Of two consumers one is at its cap and has a thousand permits. The other one hangs with the last two that it granted."""
    story = second_consumer(grants(Story(), 0, 1000).puts(20)).reads().gives(2)
    story.of_sub("consumer_blocked", cap="consumer", on=True)
    assert charged(story.beats(20)) == {("catching_up",): 5, ("unknown", "not_in_this_log"): 15}
    story = grants(second_consumer(grants(Story(), 0, 2).puts(20)), 1, 2).reads(permits=4).gives(4)
    grants(story.of_sub("consumer_blocked", cap="consumer", on=True), 0, 1000)
    assert charged(story.beats(20)) == {("no_permits",): 20}


def test_a_consumer_that_leaves_may_have_been_the_one_at_its_cap() -> None:
    """Of two. Nothing says that the other one is at its cap."""
    story = second_consumer(Story().puts(9)).reads().gives(2).of_sub("consumer_blocked", cap="consumer", on=True)
    leaves(story.at(2), 0).acks(0, 1)
    assert charged(story.beats(20)) == {("catching_up",): 7, ("unknown", "not_in_this_log"): 13}


def test_where_all_consumers_are_at_their_caps_the_one_that_leaves_was() -> None:
    story = second_consumer(Story().puts(9)).reads().gives(2)
    for _ in range(2):
        story.of_sub("consumer_blocked", cap="consumer", on=True)
    assert charged(leaves(story.at(2), 0).beats(20)) == {("unacked_limit",): 20}


def test_a_cap_of_a_consumer_that_is_written_twice_is_one() -> None:
    """Two consumers, of which each has reached its cap; one has room again."""
    story = second_consumer(Story().puts(9)).reads().gives(2)
    for _ in range(3):
        story.of_sub("consumer_blocked", cap="consumer", on=True)
    story.at(5).of_sub("consumer_blocked", cap="consumer", on=False)
    assert charged(story.beats(8)) == {("unacked_limit",): 5, ("catching_up",): 3}


def test_what_was_lost_before_a_cursor_has_a_position_is_no_reason_to_doubt_what_waits_now() -> None:
    """Its opening is lost; the position comes with a move."""
    story = Story()
    story.events = [event for event in story.events if event["type"] != "cursor_open"]
    story.at(1).puts(4).of_sub("mark_delete", ledger=5, entry=0, persisted=False).reads()
    assert charged(story.beats(4)) == {("catching_up",): 3}
