"""Rows of a replay for what is published: topics, ledgers and entries follow each other."""

from typing import Any

import numpy as np

from pipeline.rules.replay.kinds import PUBLISH
from pipeline.what_if.demand import Demand, copies, demand_of
from pipeline.what_if.given_table import by_time, rows_of
from pipeline.what_if.scale import Scale


def numbers(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def scale(earlier: tuple[int, ...], mean_bytes: tuple[int, ...], publishes: list[tuple[int, int, int, int]]) -> Scale:
    """Ledgers 10, 11 …; publishes are (ns, ledger, messages, bytes)."""
    ledgers = np.arange(10, 10 + len(earlier), dtype=np.int64)
    ns, of, msgs, size = (numbers(*(row[k] for row in publishes)) for k in range(4))
    entries = numbers(*earlier) + np.bincount(of - 10, minlength=len(earlier))
    columns = {"ns": ns, "ledger": of, "entry": np.zeros_like(of), "msgs": msgs, "bytes": size, "publish_ts": ns // 1_000_000}
    return Scale(1, ledgers, np.cumsum(entries) - entries, entries, numbers(*earlier), columns, numbers(*mean_bytes))


def demand(*factors: float) -> Demand:
    """Of a topic with entries from before, one without an entry, and one that begins with the record."""
    old = scale((3, 0), (200, 0), [(5_000_000, 11, 2, 50), (7_000_000, 11, 1, 30)])
    new = scale((0,), (0,), [(6_000_000, 10, 1, 10)])
    return demand_of([old, scale((0,), (0,), []), new], [1, 2, 1], factors or (1.0, 1.0, 1.0))


def test_topics_ledgers_and_entries_follow_each_other() -> None:
    one = demand()
    topics, ledgers = one.topics(), one.ledgers()
    assert topics["first_entry"].tolist() == [0, 5, 5]
    assert topics["published"].tolist() == [3, 0, 0]
    assert topics["room"].tolist() == [5, 1, 1]
    assert topics["first_ledger"].tolist() == [0, 2, 3]
    assert topics["ledgers"].tolist() == [1, 0, 0]
    assert topics["first_sub"].tolist() == [0, 1, 3]
    assert topics["limiter"].tolist() == [1, 2, 3]
    assert ledgers["first"].tolist() == [0, 3, 0, 0]
    assert ledgers["entries"].tolist() == [3, 0, 0, 0]
    assert ledgers["bytes"].tolist() == [600, 0, 0, 0]
    assert one.entries["ledger"].tolist() == [0, 0, 0, 1, 1, 3]
    assert one.entries["msgs"].tolist() == [1, 1, 1, 2, 1, 1]
    assert one.entries["bytes"].tolist() == [200, 200, 200, 50, 30, 10]
    assert one.entries["publish_ms"].tolist() == [0, 0, 0, 5, 7, 6]


def test_publishes_of_all_topics_come_by_time() -> None:
    assert [tuple(row[:3]) for row in demand().publishes.tolist()] == [
        (5_000_000, PUBLISH, 0), (6_000_000, PUBLISH, 2), (7_000_000, PUBLISH, 0),
    ]  # fmt: skip


def test_twice_as_many_entries_are_each_entry_twice() -> None:
    one = demand(2.0, 1.0, 1.0)
    assert [row[2] for row in one.publishes.tolist()] == [0, 0, 2, 0, 0]
    assert one.topics()["room"].tolist() == [7, 1, 1]
    assert one.entries["bytes"].tolist() == [200, 200, 200, 50, 50, 30, 30, 10]
    assert one.ledgers()["first"].tolist() == [0, 3, 0, 0]


def test_each_life_begins_with_ledgers_of_its_own() -> None:
    one = demand()
    one.ledgers()["entries"] += 1
    assert one.ledgers()["entries"].tolist() == [3, 0, 0, 0]


def test_copies_are_even() -> None:
    assert copies(4, 1.0).tolist() == [1, 1, 1, 1]
    assert copies(4, 0.5).tolist() == [0, 1, 0, 1]
    assert copies(4, 1.5).tolist() == [1, 2, 1, 2]


def test_of_one_instant_rows_of_an_earlier_part_come_first() -> None:
    one, other = rows_of(numbers(5, 1), 8, 0), rows_of(numbers(5, 3), 9, numbers(1, 2), 7)
    assert by_time(one, other).tolist() == [[1, 8, 0, 0, 0, 0, 0], [3, 9, 2, 7, 0, 0, 0], [5, 8, 0, 0, 0, 0, 0], [5, 9, 1, 7, 0, 0, 0]]
