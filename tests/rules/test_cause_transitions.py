"""Rows of the cause that holds a subscription now: soon after a change, none for a flicker, the same however the log is cut."""

from typing import Any

import numpy as np
import pytest
from capture_events import capture_events
from cause_story import Story, measured
from lane_rows import lane_rows
from lane_tables import drain_row, run_lane, tables_of
from log_builder import TOPIC
from real_captures import CAPTURES, EVERY_CAPTURE

from pipeline.rules.cause.majority import HOLDS_NS
from pipeline.rules.cause.transitions import LOOK_EVERY_NS

SECOND_US = 1_000_000
#: The limiter of the subscription leaves nothing.
BLOCKED = {"sub_msgs": 0, "sub_bytes": -1}
#: From a change to its row, where events come all the time.
NOTICED_S = (HOLDS_NS + LOOK_EVERY_NS) / 1e9


def transitions(story: Story) -> list[tuple[Any, ...]]:
    """(cause, since, noticed, backlog, waiting), in seconds since the log began."""
    start = story.events[0]["ts"]
    rows = sorted(tables_of(story.events)["cause_transitions"], key=lambda row: row["seq"])
    return [
        (row["cause"], (row["since"] - start) / SECOND_US, (row["noticed_at"] - start) / SECOND_US, row["backlog"], row["waiting"])
        for row in rows
    ]


def beaten(story: Story, begin: float, end: float) -> Story:
    """Heartbeats all the time: looks need events."""
    return story.beats(*(begin + number / 4 for number in range(1, round((end - begin) * 4))))


def test_a_change_has_its_row_soon() -> None:
    story = beaten(Story(consumer=False).puts(10), 0, 20)
    story.at(20).of_sub("consumer_open", consumer=0, conn=1).reads().gives(10)
    beaten(story, 20, 30).at(30).acks(*range(10))
    beaten(story, 30, 40)
    found = transitions(story)
    assert [(cause, since, backlog, waiting) for cause, since, _, backlog, waiting in found] == [
        ("no_consumer", 0, 10, 10),
        ("in_flight", 20, 10, 0),
        (None, 30, 0, 0),
    ]
    assert all(0 < noticed - since <= NOTICED_S + 0.25 for _, since, noticed, _, _ in found), found


def test_a_standstill_without_any_event_of_its_own_is_noticed() -> None:
    story = measured(Story()).at(1).puts(30).reads(**BLOCKED)
    beaten(story, 1, 12)
    assert [(cause, since) for cause, since, *_ in transitions(story)][-1] == ("stuck", 6)


def test_permits_that_nobody_uses_are_noticed_long_after_the_subscription_came_to_rest() -> None:
    story = Story().of_sub("flow", consumer=0, conn=1, permits=2).puts(9).reads(permits=2).gives(2)
    beaten(story, 0, 10).at(10).of_sub("flow", consumer=0, conn=1, permits=5)
    beaten(story, 10, 20)
    assert [(cause, since) for cause, since, *_ in transitions(story)] == [("no_permits", 0), ("stuck", 15)]


def test_a_loss_is_noticed_at_the_end_of_the_window_at_the_latest() -> None:
    story = Story().puts(10).reads().gives(10)
    beaten(story, 0, 29)
    story.at(30).of_sub("flow", consumer=0, conn=1, permits=5)
    beaten(story, 30, 70).loses(30)
    found = transitions(story)
    # All time that was not charged is unknown (docs/design/causes.md, "After a loss"), but for that which a look had counted.
    assert [(cause, since) for cause, since, *_ in found] == [("in_flight", 0), ("unknown", found[0][2])]
    assert found[-1][2] < 63


def test_what_comes_and_goes_within_a_second_is_no_change() -> None:
    story = beaten(Story(consumer=False).puts(10), 0, 10)
    for second in range(10, 20):
        story.at(second).of_sub("consumer_open", consumer=second, conn=1).at(second, 300_000_000)
        story.of_sub("consumer_close", consumer=second, conn=1)
    beaten(story, 20, 25)
    assert [cause for cause, *_ in transitions(story)] == ["no_consumer"]


def test_most_of_each_second_counts() -> None:
    """Blocked for nine tenths of each second, and reading in between: it is held back all the time."""
    story = measured(Story())
    for second in range(1, 15):
        story.at(second).puts(5).reads(**BLOCKED).at(second, 900_000_000).reads().at(second, 990_000_000).gives(1)
    assert [cause for cause, *_ in transitions(story)] == ["throttled"]


def test_a_topic_that_is_unloaded_holds_nothing() -> None:
    story = beaten(Story(consumer=False).puts(10), 0, 10).at(10).add("topic_unload", topic=TOPIC)
    beaten(story, 10, 15)
    assert [(cause, since) for cause, since, *_ in transitions(story)] == [("no_consumer", 0), (None, 10)]


def rows_of(parts: list[np.ndarray[Any, Any]]) -> list[dict[str, list[int]]]:
    outcomes = run_lane([*([part] for part in parts), [drain_row()]], restart=True)[0]
    found = [rows.columns for rows in outcomes if rows.table == "cause_transitions"]
    return [{name: np.asarray(value).tolist() for name, value in columns.items()} for columns in found]


def flat(parts: list[dict[str, list[int]]]) -> list[tuple[int, ...]]:
    return sorted(row for part in parts for row in zip(*(part[name] for name in sorted(part) if name != "epoch"), strict=True))


@pytest.mark.captures
@EVERY_CAPTURE
def test_a_cut_changes_no_row(name: str) -> None:
    rows = lane_rows(capture_events(CAPTURES / name, until_as_of=False))
    cut = [rows[: len(rows) // 3], rows[len(rows) // 3 : len(rows) // 2], rows[len(rows) // 2 :]]
    assert flat(rows_of([rows])) == flat(rows_of(cut))
