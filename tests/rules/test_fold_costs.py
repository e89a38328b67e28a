"""What an event costs does not grow with what is there. Rows moved inside arenas are counted, not seconds."""

import numpy as np
import pytest
from test_backlog_state import START_MS, event_rows, places

from pipeline.rules.blocks import BLOCK
from pipeline.rules.model import LAYOUT, BrokerModel
from pipeline.rules.segments import MOVES
from schemas.lane_columns import COLUMN

#: Rows that an event may move on average: in each list that it adds to, two for doubling it and three for laying out all of them anew.
MOST_MOVES = 16.0
CHUNK = 16_384


def moves_of(model: BrokerModel) -> int:
    """Rows moved so far, in all arenas and pools of the model."""
    rows = model.state.rows
    in_arenas = sum(int(rows[f"{arena.name}_ends"][MOVES]) for arena in LAYOUT.arenas)
    return in_arenas + sum(int(rows[pool.name].ends[MOVES] + rows[pool.name].directory_ends[MOVES]) for pool in LAYOUT.pools)


def moves_per_event(model: BrokerModel, rows: np.ndarray) -> float:
    """Rows moved on average by an event of `rows`, folded as a lane does, in slices."""
    before = moves_of(model)
    for start in range(0, len(rows), CHUNK):
        model.fold(rows[start : start + CHUNK])
    return (moves_of(model) - before) / len(rows)


def published(topics: int, entries: int) -> np.ndarray:
    """Publishes of `topics` in turn, `entries` each."""
    number = np.repeat(np.arange(entries), topics)
    times = START_MS + number
    rows = event_rows("publish", len(number), 1, times, **places(number, 50_000), msgs=1, bytes=100, publish_ts=times)
    rows[:, COLUMN["topic_id"]] = 1 + np.tile(np.arange(topics), entries)
    return rows


def acknowledged(numbers: np.ndarray, per_ledger: int = 50_000) -> np.ndarray:
    """Individual acknowledgements of one topic's entries, by their number."""
    return event_rows("ack", len(numbers), 1, np.full(len(numbers), START_MS), **places(numbers, per_ledger), ack_type=0)


def with_cursors(cursors: int, topic_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(openings, rows of every cursor in turn) for one topic."""
    rows = np.repeat(topic_rows, cursors, axis=0)
    subs = np.arange(1, cursors + 1)
    rows[:, COLUMN["sub_id"]] = np.tile(subs, len(topic_rows))
    opened = event_rows("cursor_open", cursors, 1, np.full(cursors, START_MS), ledger=1, entry=-1, durable=1)
    opened[:, COLUMN["sub_id"]] = subs
    return opened, rows


@pytest.mark.parametrize(("topics", "entries"), [(1, 1_000), (1, 100_000), (100, 1_000), (10_000, 10), (1_000, 300)])
def test_publishing_moves_a_constant_number_of_rows(topics: int, entries: int) -> None:
    """Topics in turn: each grows while all others do."""
    assert moves_per_event(BrokerModel(), published(topics, entries)) < MOST_MOVES


def test_topics_that_are_idle_cost_nothing() -> None:
    """Fifty thousand with a ledger each, and ten that grow."""
    model, idle = BrokerModel(), 50_000
    rows = event_rows("ledger_open", idle, 1, np.full(idle, START_MS), ledger=1)
    rows[:, COLUMN["topic_id"]] = 100 + np.arange(idle)
    model.fold(rows)
    assert moves_per_event(model, published(10, 5_000)) < MOST_MOVES


def test_a_model_that_was_restored_has_room_to_grow() -> None:
    """A state blob keeps no room: the first events after it must not move everything."""
    model = BrokerModel()
    model.fold(published(100, 1_000))
    restored = BrokerModel(model.arrays())
    kept = moves_of(restored)
    assert kept <= 100 * 1_000 * (1 + 2 / BLOCK)  # laid out once: rows, and a directory of their blocks
    rows = published(100, 1_100)[100 * 1_000 :]
    assert moves_per_event(restored, rows) == 0


def orders(count: int) -> dict[str, np.ndarray]:
    """Numbers of entries that are acknowledged, in orders from easy to nasty."""
    even = np.arange(0, count, 2)
    return {
        "from the near end": even,
        "from the far end": even[::-1],
        "at random": np.random.default_rng(1).permutation(even),
        "one in each word, from the far end": np.arange(0, count, 62)[::-1],
        "one in each word, at random": np.random.default_rng(1).permutation(np.arange(0, count, 62)),
        "holes from both ends": np.stack((even[: len(even) // 2], even[::-1][: len(even) // 2]), axis=1).ravel(),
    }


@pytest.mark.parametrize("retained", [1_000, 10_000, 100_000, 1_000_000])
def test_acknowledging_in_any_order_moves_no_more_than_a_block(retained: int) -> None:
    """One hole in two entries, however many there are."""
    for name, numbers in orders(retained).items():
        model = BrokerModel()
        opened, acks = with_cursors(1, acknowledged(numbers))
        model.fold(opened)
        assert moves_per_event(model, acks) < 2 * BLOCK, name


@pytest.mark.parametrize("cursors", [1, 10, 1_000])
def test_cursors_cost_each_other_nothing(cursors: int) -> None:
    """All acknowledge in turn, then go, the first that came first."""
    model = BrokerModel()
    opened, acks = with_cursors(cursors, acknowledged(np.arange(0, 2_000, 2)))
    model.fold(opened)
    assert moves_per_event(model, acks) < MOST_MOVES
    closed = event_rows("cursor_close", cursors, 1, np.full(cursors, START_MS))
    closed[:, COLUMN["sub_id"]] = opened[:, COLUMN["sub_id"]]
    assert moves_per_event(model, closed) < MOST_MOVES


@pytest.mark.parametrize("entries", [1_000, 100_000])
def test_entries_of_two_ledgers_in_turn(entries: int) -> None:
    """A ledger goes on being written while the next one is: its marks lie before those of the other."""
    times = START_MS + np.random.default_rng(1).integers(0, 10, entries) + 100 * np.arange(entries)
    number = np.arange(entries)
    place = {"ledger": 1 + number % 2, "entry": number // 2}
    rows = event_rows("publish", entries, 1, times, **place, msgs=1, bytes=100, publish_ts=times)
    assert moves_per_event(BrokerModel(), rows) < 2 * BLOCK


@pytest.mark.parametrize("passed_at_once", [1, 100])
def test_passing_holes_moves_nothing(passed_at_once: int) -> None:
    model = BrokerModel()
    opened, acks = with_cursors(1, acknowledged(np.arange(0, 100_000, 2)))
    model.fold(np.concatenate((published(1, 100_000), opened, acks)))
    numbers = np.arange(passed_at_once, 100_000, passed_at_once)
    moves = event_rows("mark_delete", len(numbers), 1, np.full(len(numbers), START_MS), **places(numbers, 50_000), persisted=0)
    assert moves_per_event(model, moves) == 0
