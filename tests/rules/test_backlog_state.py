"""The state of backlogs: nothing depends on where it was cut, and a long backlog costs little."""

import random

import numpy as np
from bookkeeper.quota_books import Event
from bookkeeper.quota_random import quota_logs
from hypothesis import given, settings
from hypothesis import strategies as st
from lane_rows import lane_rows
from lane_tables import SETTINGS, as_tables, drain_row, run_lane, tables_of
from suite.examples import examples

from pipeline.lanes.codec import encode
from pipeline.lanes.lane import Lane
from pipeline.rules.broker.marks import MOST_MARKS
from pipeline.rules.model import BrokerModel
from schemas.events import CODES
from schemas.lane_columns import COLUMN, LANE_COLUMNS, SLOT_FIELDS

TOPIC, SUB = 11, 12
START_MS = 1_700_000_000_000
MS_APART = 7


def event_rows(event_type: str, count: int, first_seq: int, times_ms: np.ndarray, **fields: int | np.ndarray) -> np.ndarray:
    """`count` lane rows of one topic's (and subscription's) events of a type."""
    rows = np.zeros((count, len(LANE_COLUMNS)), dtype=np.int64)
    for name, value in {
        "epoch": START_MS, "seq": np.arange(first_seq, first_seq + count), "ts": times_ms * 1000, "ns": times_ms * 1_000_000,
        "type_code": CODES[event_type], "topic_id": TOPIC, "sub_id": SUB,
    }.items():  # fmt: skip
        rows[:, COLUMN[name]] = value
    for slot, name in enumerate(SLOT_FIELDS.get(event_type, ())):
        if name in fields:
            rows[:, COLUMN[f"s{slot}"]] = fields[name]
            rows[:, COLUMN["mask"]] |= 1 << slot
    return rows


def places(number: np.ndarray, per_ledger: int) -> dict[str, np.ndarray]:
    """Ledger and entry of a topic's entries by their number."""
    return {"ledger": 1 + number // per_ledger, "entry": number % per_ledger}


def long_backlog(entries: int, per_ledger: int, acked: np.ndarray) -> np.ndarray:
    """A topic with one cursor at its beginning, `entries` published MS_APART ms apart, those in `acked` acknowledged, then a check."""
    number, acks = np.arange(entries), 5 + entries
    times = START_MS + MS_APART * number
    last = times[-1:] + 1
    parts = [
        event_rows("topic_load", 1, 1, times[:1]),
        event_rows("backlog_quota", 1, 2, times[:1], quota_type=0, limit=-1, policy=0),
        event_rows("ledger_open", 1, 3, times[:1], ledger=1),
        event_rows("cursor_open", 1, 4, times[:1], ledger=1, entry=-1, durable=1),
        event_rows("publish", entries, 5, times, **places(number, per_ledger), msgs=3, bytes=100, publish_ts=times),
        event_rows("ack", len(acked), acks, np.repeat(last, len(acked)), **places(acked, per_ledger), ack_type=0),
        event_rows("quota_check", 1, acks + len(acked), last, duration_us=1),
    ]  # fmt: skip
    return np.concatenate(parts)


def subscription_row(model: BrokerModel, rows: np.ndarray) -> dict[str, int]:
    """The last check's row; before it there are checks by interval, as the log has none for hours."""
    found = [rows for rows in model.fold(rows) if rows.table == "subscription_backlog"][-1]
    return {name: int(np.atleast_1d(value)[-1]) for name, value in found.columns.items()}


@settings(max_examples=examples(60), deadline=None)
@given(quota_logs(), st.integers(0, 2**32))
def test_tables_do_not_depend_on_cuts_or_restarts(events: list[Event], seed: int) -> None:
    """Every micro-batch ends in a blob from which the next one goes on; rows come in any order within what is known to be missing."""
    rng, rows = random.Random(seed), lane_rows(events)
    cuts = sorted(rng.randrange(len(rows) + 1) for _ in range(rng.randrange(1, 6)))
    micro_batches = [[rows[begin:end]] for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    outcomes, _ = run_lane([*micro_batches, [drain_row()]], restart=True)
    assert as_tables(outcomes, events) == tables_of(events)


def test_publish_times_are_exact_while_a_topic_retains_few_entries() -> None:
    row = subscription_row(BrokerModel(), long_backlog(MOST_MARKS, 5_000, np.arange(100)))
    assert row["exact_to_ms"] == 0
    assert row["oldest_publish_time"] == (START_MS + 100 * MS_APART) * 1000
    assert (row["msg_backlog"], row["backlog_messages"]) == (MOST_MARKS - 100, 3 * (MOST_MARKS - 100))


def test_a_million_entries_cost_a_bounded_state_and_their_age_is_exact_to_what_the_row_says() -> None:
    """Also with every other of half a million entries acknowledged: 62 of them are one word."""
    entries, acked = 1_000_000, np.arange(1, 500_001, 2)
    model = BrokerModel()
    row = subscription_row(model, long_backlog(entries, 50_000, acked))
    assert (row["msg_backlog"], row["backlog_messages"]) == (entries - len(acked), 3 * (entries - len(acked)))
    assert row["exact_to_ms"] < MS_APART  # an even rate is a line
    assert START_MS * 1000 - row["exact_to_ms"] * 1000 <= row["oldest_publish_time"] <= START_MS * 1000
    arrays = model.arrays()
    assert len(arrays["marks"]) <= MOST_MARKS
    assert len(arrays["words"]) <= 500_000 // 62 + 20
    assert sum(array.nbytes for array in arrays.values()) < 1_000_000


def test_the_blob_of_a_million_entries_is_small() -> None:
    lane = Lane(SETTINGS)
    lane.offer(long_backlog(1_000_000, 50_000, np.arange(0)))
    lane.finish()
    assert len(encode(lane)) < 200_000
