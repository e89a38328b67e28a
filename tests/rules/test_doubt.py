"""What a loss of events makes doubtful, and what proves it."""

import pytest
from cause_story import measured
from stated_story import Stated
from test_causes import charged

UNKNOWN = ("unknown", "events_lost")


def test_where_the_books_agree_with_the_broker_nothing_was_lost_of_the_subscription() -> None:
    story = Stated(consumer=False).puts(9).holds(read=0, consumers=0, permits=0)
    for second in (10, 20, 30):
        story.misses(second - 9).at(second).holds(read=0, consumers=0, permits=0)
    assert charged(story.beats(31).arrived()) == {("no_consumer",): 31}


def test_without_a_state_the_same_is_unknown() -> None:
    assert charged(Stated(consumer=False).puts(9).misses(1).beats(31).arrived()) == {UNKNOWN: 31}


def test_a_cause_that_is_the_same_at_both_proofs_lasted_from_one_to_the_other() -> None:
    """Entries were acknowledged unseen, so the books differ. Consumers have all that is left at both ends."""
    story = Stated().puts(9).holds(read=0).reads().gives(9)
    story.misses(1).at(10).holds(read=9, acked=4)
    assert charged(story.beats(11).arrived()) == {("in_flight",): 11}


def test_a_cause_that_is_another_at_the_next_proof_is_known_for_a_moment() -> None:
    """A second and a half: who is served or blocked has another event within a second."""
    story = Stated().puts(9).holds(read=0).reads().gives(9)
    story.misses(1).at(10).holds(read=9, consumers=0, permits=0, replay_entries=9)
    assert charged(story.beats(11).arrived()) == {("in_flight",): 1.5, UNKNOWN: 8.5, ("no_consumer",): 1}


def test_what_is_in_doubt_at_the_end_of_a_window_stays_unknown() -> None:
    story = Stated(consumer=False).puts(9).holds(read=0, consumers=0, permits=0)
    for second in (50, 70, 100):
        story.misses(second - 5).at(second).holds(read=0, consumers=0, permits=0)
    assert charged(story.beats(101).arrived()) == {("no_consumer",): 92.5, UNKNOWN: 8.5}


def test_reading_goes_on_within_a_normal_turnaround_or_something_was_lost() -> None:
    story = Stated()
    measured(story)
    story.at(0.5).misses(0.6).at(1).holds(read=16, acked=16).at(2).puts(9).reads()
    normal, measured_s = 2**23 / 1e9, 0.016
    found = charged(story.misses(2.1).at(5).reads().gives(9).beats(6).arrived())
    assert found == {("catching_up",): pytest.approx(measured_s + normal), UNKNOWN: pytest.approx(3 - normal), ("in_flight",): 1}
