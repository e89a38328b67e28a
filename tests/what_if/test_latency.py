"""How long reads take: the mean of those of a backlog, the usual one of those that a publish woke."""

from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.what_if.frequent import COLUMNS, Events, columns_of
from pipeline.what_if.latency import ENOUGH_READS, RETRY_NS, USUAL_READ_NS, Latency, latency_of
from pipeline.what_if.record import Record

US, MS = 1_000, 1_000_000
SUB = 7
#: From the end of each read to its delivery.
TO_DELIVERY_NS = 300_000


def record_of_reads(reads: Sequence[tuple[int, int]]) -> Record:
    """A read each 10 ms: (entries, duration in µs). Each is delivered at once."""
    ends = np.arange(len(reads)) * 10 * MS
    frequent: dict[str, Events] = {name: dict.fromkeys(columns_of(name), np.zeros(0, dtype=np.int64)) for name in COLUMNS}
    entries, durations = np.array(reads, dtype=np.int64).reshape(-1, 2).T
    of_sub = {"sub_id": np.full(len(reads), SUB)}
    frequent["read_done"] |= {"ns": ends, "entries": entries, "duration_us": durations, **of_sub}
    frequent["dispatch"] |= {"ns": ends + TO_DELIVERY_NS, **of_sub}
    return Record("b", 1, frequent, [], {}, np.zeros((0, 3), dtype=np.int64), is_apart=False)


def of(read_us: float, wake_us: float) -> Latency:
    return Latency(int(read_us * US) + TO_DELIVERY_NS, int(wake_us * US) + TO_DELIVERY_NS)


MANY = [(50, 2_000)] * 39 + [(50, 402_000)]
FEW = [(1, 1_000)] * 59 + [(5, 900_000)]


@pytest.mark.parametrize(
    ("reads", "latency"),
    [
        ([*FEW, *MANY], of(12_000, 1_000)),
        ([*MANY, *FEW[: ENOUGH_READS - 1]], of(12_000, 2_000)),
        ([*FEW[:59], *MANY[: ENOUGH_READS - 1]], of((59 * 1_000 + 19 * 2_000) / 78, 1_000)),
    ],
    ids=["both", "too few that a publish woke", "too few of a backlog"],
)
def test_a_stall_is_in_the_mean_of_a_backlog_and_not_in_the_usual_read(reads: list[tuple[int, int]], latency: Latency) -> None:
    assert latency_of(record_of_reads(reads)) == latency


def test_a_log_without_reads_has_the_usual_ones() -> None:
    assert latency_of(record_of_reads([])) == Latency(USUAL_READ_NS, USUAL_READ_NS, RETRY_NS)
