"""The behaviour of consumers, estimated from deliveries and acknowledgements that a small client makes."""

from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.what_if.behaviour import Behaviour, Flow, behaviour_of
from pipeline.what_if.frequent import COLUMNS, columns_of
from pipeline.what_if.record import Record

MS, SECOND = 1_000_000, 1_000_000_000
SUB = 5


def record(grants: Sequence[tuple[int, int]] = (), reads: Sequence[int] = (), consumers: Sequence[int] = ()) -> Record:
    """A record with the grants of consumers, (ns, messages) each, and with reads that saw so many permits. `consumers`: 0 without them."""
    frequent = {name: {column: np.zeros(0, dtype=np.int64) for column in columns_of(name)} for name in COLUMNS}
    for name, rows in (("flow", grants), ("read", [(0, permits) for permits in reads])):
        frequent[name] = {column: np.zeros(len(rows), dtype=np.int64) for column in columns_of(name)}
        frequent[name]["sub_id"][:] = SUB
        frequent[name]["ns"], frequent[name]["permits"] = (np.array([row[k] for row in rows], dtype=np.int64) for k in (0, 1))
    if consumers:
        frequent["flow"]["consumer"] = np.array(consumers, dtype=np.int64)
    return Record("b", 1, frequent, [], {}, np.zeros((0, 3), dtype=np.int64), is_apart=False)


def flow(handed: Sequence[tuple[int, int]], acked: Sequence[tuple[int, int]], consumers: int = 1) -> Flow:
    """(ns, messages) of deliveries and of acknowledgements."""
    rows = sorted([(ns, msgs, 0) for ns, msgs in handed] + [(ns, 0, msgs) for ns, msgs in acked])
    ns, out, back = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(3))
    none = np.zeros(0, dtype=np.int64)
    return Flow(ns, out, back, np.full(len(rows), consumers, dtype=np.int64), none, none)


def busy(message_ns: int, messages: int, consumers: int = 1, start_ns: int = 0) -> list[tuple[int, int]]:
    """Acknowledgements every 100 ms of consumers that are never idle."""
    ends = start_ns + np.arange(1, messages + 1) * message_ns // consumers
    ticks = -(-ends // (100 * MS)) * 100 * MS
    found, counts = np.unique(ticks, return_counts=True)
    return list(zip(found.tolist(), counts.tolist(), strict=True))


def estimate(one: Flow, grants: Sequence[tuple[int, int]] = ()) -> Behaviour:
    return behaviour_of(record(grants), SUB, one)


@pytest.mark.parametrize("consumers", [1, 3])
def test_the_pace_of_consumers_that_are_never_idle_is_seen(consumers: int) -> None:
    found = estimate(flow([(0, 3000)], busy(10 * MS, 3000, consumers), consumers))
    assert found.known
    assert found.usual_ns == pytest.approx(10 * MS, rel=0.05)
    assert found.spread < 0.05
    assert found.busy_share > 0.9


def test_consumers_that_are_mostly_idle_give_only_a_bound() -> None:
    """A message every 20 ms, acknowledged with the next 100 ms: consumers hold some all the time, and are never full."""
    handed = [(k * 20 * MS, 1) for k in range(500)]
    found = estimate(flow(handed, [((k // 5 + 1) * 100 * MS + 5 * MS, 1) for k in range(500)], 3))
    assert not found.known
    assert found.usual_ns >= 0


def test_a_pause_is_a_part_of_its_own() -> None:
    before, after = busy(10 * MS, 500), busy(10 * MS, 500, start_ns=25 * SECOND)
    found = estimate(flow([(0, 1000)], before + after))
    paused = [at for at, pace in found.paces if pace < 0]
    assert len(paused) == 1
    assert paused[0] == pytest.approx(5 * SECOND, abs=100 * MS)
    assert found.usual_ns == pytest.approx(10 * MS, rel=0.05)


def bursts(count: int, start_ns: int = 0) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(Deliveries, acknowledgements): forty messages each second, acknowledged together after 100 ms."""
    begins = [start_ns + k * SECOND for k in range(count)]
    return [(at, 40) for at in begins], [(at + 100 * MS, 40) for at in begins]


@pytest.mark.parametrize(("slow_s", "known", "usual_ns"), [(3, False, 2.5 * MS), (12, True, 60 * MS)])
def test_a_stall_is_no_pace(slow_s: int, known: bool, usual_ns: float) -> None:
    """Messages that come each 60 ms are acknowledged 1.2 s later: for some seconds that is a stall. For long it is a pace, of that time."""
    before, acked_before = bursts(20)
    after, acked_after = bursts(20, start_ns=40 * SECOND)
    handed = [(20 * SECOND + k * 60 * MS, 1) for k in range(slow_s * 1000 // 60)]
    acked = [(at + 1200 * MS, 1) for at, _ in handed]
    # There are more of these stretches than of all others; they have few of the messages.
    single = [(60 * SECOND + k * SECOND // 2, 1) for k in range(80)]
    after, acked_after = after + single, acked_after + [(at + 100 * MS, 1) for at, _ in single]
    found = estimate(flow([*before, *handed, *after], [*acked_before, *acked, *acked_after]))
    assert found.known == known
    assert found.usual_ns == pytest.approx(usual_ns, rel=0.2)
    assert min(pace for _, pace in found.paces) <= 2.5 * MS, "of all other times"


def test_who_never_acknowledges_takes_nothing() -> None:
    found = estimate(flow([(0, 100), (SECOND, 100)], []))
    assert [pace for _, pace in found.paces if pace >= 0] == []


def test_a_pace_that_changes_is_followed() -> None:
    quick, slow = busy(10 * MS, 1500), busy(30 * MS, 500, start_ns=15 * SECOND)
    paces = dict(estimate(flow([(0, 2000)], quick + slow)).paces)
    assert min(pace for pace in paces.values() if pace > 0) == pytest.approx(10 * MS, rel=0.1)
    assert max(paces.values()) == pytest.approx(30 * MS, rel=0.1)


def test_the_receiver_queue_is_the_first_grant_and_later_ones_are_its_half() -> None:
    found = estimate(flow([(0, 1)], [(MS, 1)]), grants=[(0, 50), (SECOND, 25), (2 * SECOND, 25)])
    assert (found.receiver_queue, found.grant_at) == (50, 25)


def test_without_grants_the_queue_is_the_most_permits_that_a_read_saw() -> None:
    found = behaviour_of(record(reads=[10, 200, 7]), SUB, flow([(0, 1)], [(MS, 1)]))
    assert (found.receiver_queue, found.grant_at) == (200, 100)


@pytest.mark.parametrize(
    ("flows", "queue", "grant_at"),
    [
        ([(0, 1000)], 1000, 500),
        ([(0, 1000), (0, 500), (0, 500)], 1000, 500),
        # Whoever made the subscription asked once, and left. The mean of both queues is nobody's.
        ([(0, 10), (1, 1000), (1, 500)], 1000, 500),
        ([(0, 1000), (1, 20), *[(1, 10)] * 120], 20, 10),
        ([(0, 20), (1, 40), (0, 10), (1, 20), (2, 40), (2, 20)], 40, 20),
        # Of two that work it is by messages, not by how often they ask.
        ([(0, 1000), (0, 500), (1, 20), *[(1, 10)] * 60], 1000, 10),
    ],
)
def test_the_receiver_queue_is_that_of_the_consumers_that_ask_most(flows: list[tuple[int, int]], queue: int, grant_at: int) -> None:
    """(consumer, permits) of each grant."""
    grants = record([(0, permits) for _, permits in flows], consumers=[consumer for consumer, _ in flows])
    found = behaviour_of(grants, SUB, flow([], []))
    assert (found.receiver_queue, found.grant_at) == (queue, grant_at)
