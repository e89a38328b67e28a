"""What travels packed is what was packed: lane rows on their way in, outcomes on their way out."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from bronze_events import random_events
from busy_log import busy_log
from lane_rows import lane_rows
from lane_tables import SETTINGS, drain_row

from pipeline.faults import BadWarehouse
from pipeline.lanes import outcome_packets
from pipeline.lanes.lane import Lane
from pipeline.lanes.outcome_frames import PACKET_COLUMNS, packet_frame
from pipeline.lanes.outcome_packets import opened_outcomes
from pipeline.lanes.outcomes import encoded
from pipeline.lanes.packets import of_events
from pipeline.lanes.packets.bronze_columns import columns_read, lane_columns_of
from pipeline.lanes.packets.of_events import packet_columns
from pipeline.lanes.packets.packet import packed_rows, packets_in_order, unpacked_rows
from pipeline.rules.outcome import Rows
from schemas import lane_columns
from schemas.lane_columns import COLUMN, LANE_COLUMNS, LAYOUT, PACKET_FORMAT
from schemas.outcomes import KINDS, OUTCOME_COLUMNS, PAYLOAD
from schemas.tables.bronze import LANE_LAYOUT, LANE_PACKET

GOLDEN = Path(__file__).parents[1] / "fixtures" / f"lane_packet_v{PACKET_FORMAT}.bin"

LEAST, MOST = -(2**63), 2**63 - 1


@pytest.mark.parametrize("rows", [1, 2, 1000])
def test_a_packet_holds_its_rows(rows: int) -> None:
    chance = np.random.default_rng(rows)
    columns = chance.integers(LEAST, MOST, (len(LANE_COLUMNS), rows), dtype=np.int64, endpoint=True)
    columns[:, 0], columns[:, -1] = LEAST, MOST  # steps beyond 64 bits
    packet = packed_rows(columns)
    assert np.array_equal(unpacked_rows(packet), columns.T)


def opened(columns: dict[str, pa.Array]) -> dict[int, np.ndarray]:
    """The rows of each packet by the place of its first event."""
    return {place: unpacked_rows(packet) for place, packet in enumerate(columns[LANE_PACKET].to_pylist()) if packet is not None}


@pytest.mark.parametrize("at_once", [7, 400])
def test_packets_hold_every_event_once_in_order(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(of_events, "ROWS_AT_ONCE", at_once)
    monkeypatch.setattr(of_events, "PACKET_ROWS", 50)
    events = random_events(5, 400).select(columns_read()).combine_chunks().to_batches()[0]
    columns = packet_columns(events)
    assert columns[LANE_LAYOUT].to_pylist() == [LAYOUT] * 400
    wanted, lanes = lane_columns_of(events).T, events["broker_id"].to_numpy()
    found: dict[tuple[int, int], list[np.ndarray]] = {}
    for place, rows in sorted(opened(columns).items()):
        assert len(rows) <= 50
        assert np.array_equal(rows[0], wanted[place]), "a packet lies beside its first event"
        found.setdefault((int(lanes[place]), int(rows[0, COLUMN["epoch"]])), []).append(rows)
    assert len(found) == 4, "two lanes of two epochs"
    for (lane, epoch), packets in found.items():
        own = (lanes == lane) & (wanted[:, COLUMN["epoch"]] == epoch)
        assert np.array_equal(np.concatenate(packets), wanted[own])


def packet_of(first: int, last: int, epoch: int = 1, arrival: int = 0) -> bytes:
    """A packet of these places."""
    rows = np.zeros((len(LANE_COLUMNS), last - first + 1), dtype=np.int64)
    rows[COLUMN["epoch"]], rows[COLUMN["seq"]], rows[COLUMN["arrival"]] = epoch, np.arange(first, last + 1), arrival
    return packed_rows(rows)


def test_packets_come_in_order_and_those_with_a_place_in_common_say_so() -> None:
    packets = [
        packet_of(30, 39),
        packet_of(1, 9, epoch=2),
        packet_of(15, 24, arrival=5),
        packet_of(40, 40),
        packet_of(10, 19),
        packet_of(1, 9),
    ]
    found = [(int(rows[0, COLUMN["epoch"]]), int(rows[0, COLUMN["seq"]]), alone) for rows, alone in packets_in_order(packets)]
    assert found == [(1, 1, True), (1, 10, False), (1, 15, False), (1, 30, True), (1, 40, True), (2, 1, True)]
    twice = [(int(rows[0, COLUMN["arrival"]]), alone) for rows, alone in packets_in_order([packet_of(1, 9, arrival=7), packet_of(1, 9)])]
    assert twice == [(0, False), (7, False)]
    assert list(packets_in_order([])) == []
    assert [alone for _, alone in packets_in_order([packet_of(1, 90), packet_of(2, 3), packet_of(80, 95)])] == [False] * 3


def test_bytes_that_changed_stop_the_lane_with_the_way_out() -> None:
    packet = packed_rows(np.ones((len(LANE_COLUMNS), 5), dtype=np.int64))
    damaged = packet[:-3] + bytes([packet[-3] ^ 1]) + packet[-2:]
    with pytest.raises(BadWarehouse, match=r"packet of 5 events from epoch 1, seq 1 has another checksum.*spark-submit.sh rebuild all"):
        unpacked_rows(damaged)


def test_the_golden_packet_opens() -> None:
    """If this fails the format has changed: raise PACKET_FORMAT, and make the fixture anew (packets of another layout are read as rows)."""
    columns = np.arange(5 * len(LANE_COLUMNS), dtype=np.int64).reshape(len(LANE_COLUMNS), 5)
    assert np.array_equal(unpacked_rows(GOLDEN.read_bytes()), columns.T)


def test_the_layout_follows_from_what_lane_rows_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lane_columns._layout() == LAYOUT
    monkeypatch.setitem(lane_columns.ENUM_SLOTS, "level", ("topic", "broker", "subscription"))
    assert lane_columns._layout() != LAYOUT


def lane_outcomes() -> list[Rows]:
    """Of a log with lost and late events and windows."""
    lane = Lane(SETTINGS)
    rows = lane_rows(busy_log(seconds=150))
    lane.offer(np.delete(rows, [50, 51, 300], axis=0))
    lane.offer(rows[-1:] + np.eye(1, rows.shape[1], COLUMN["seq"], dtype=np.int64) * 5)
    lane.offer(drain_row())
    return [*lane.finish(), Rows("lane_snapshots", dict.fromkeys(OUTCOME_COLUMNS["lane_snapshots"][2:], 3), 2, b"\x00state")]


def test_the_smallest_packets_of_a_lane_come_with_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = packet_frame(7, lane_outcomes())
    sizes = frame["outcome"].map(len).sort_values()
    monkeypatch.setattr(outcome_packets, "WITH_COUNTS_BYTES", int(sizes.iloc[:3].sum()))
    frame = packet_frame(7, lane_outcomes())
    assert set(frame.index[frame["with_counts"] == 1]) == set(sizes.index[:3])


@pytest.mark.parametrize("most_rows", [3, 100_000])
def test_outcomes_come_out_as_they_went_in(monkeypatch: pytest.MonkeyPatch, most_rows: int) -> None:
    monkeypatch.setattr(outcome_packets, "MOST_ROWS", most_rows)
    outcomes = lane_outcomes()
    frame = packet_frame(7, outcomes)
    assert tuple(frame.columns) == PACKET_COLUMNS
    assert frame["with_counts"].all()
    assert len({rows.table for rows in outcomes}) > 4
    for table in {rows.table for rows in outcomes}:
        own = frame[frame["kind"] == KINDS[table]]
        opened = opened_outcomes(table, own["outcome"])
        assert opened.num_rows == own["rows"].sum() == sum(rows.count for rows in outcomes if rows.table == table)
        assert (own["rows"] <= most_rows).all()
        states = opened[PAYLOAD].to_pylist() if PAYLOAD in opened.column_names else []
        assert sum(map(len, states)) == own["payload_bytes"].sum()
        wanted = np.concatenate([encoded(table, [rows]) for rows in outcomes if rows.table == table], axis=1)
        assert np.array_equal(np.array([opened[name].to_numpy() for name in OUTCOME_COLUMNS[table]]), wanted)
        assert set(opened["broker_id"].to_pylist()) == {7}
        assert states == [rows.payload for rows in outcomes if rows.table == table for _ in range(rows.count)] or not states
