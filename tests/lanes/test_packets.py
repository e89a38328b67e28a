"""What travels packed is what was packed: lane rows on their way in, outcomes on their way out."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bronze_events import random_events
from busy_log import busy_log
from lane_rows import lane_rows
from lane_tables import SETTINGS, drain_row

from pipeline.lanes import bronze_files, outcome_packets
from pipeline.lanes.bronze_columns import columns_read, lane_columns_of
from pipeline.lanes.bronze_files import PACKET_ROWS, packed_events, packets_of_file
from pipeline.lanes.lane import Lane
from pipeline.lanes.operator import output_frame
from pipeline.lanes.outcome_packets import PACKET_COLUMNS, WIDE_COLUMNS, narrow_rows, opened_outcomes, packed_outcomes, wide_rows
from pipeline.lanes.packet import packed_rows, unpacked_rows
from pipeline.machines.outcome import Rows
from schemas.lane_columns import COLUMN, LANE_COLUMNS
from schemas.outcomes import KINDS, OUTCOME_COLUMNS, PAYLOAD

LEAST, MOST = -(2**63), 2**63 - 1


@pytest.mark.parametrize("rows", [1, 2, 1000])
def test_a_packet_holds_its_rows(rows: int) -> None:
    chance = np.random.default_rng(rows)
    columns = chance.integers(LEAST, MOST, (len(LANE_COLUMNS), rows), dtype=np.int64, endpoint=True)
    columns[:, 0], columns[:, -1] = LEAST, MOST  # steps beyond 64 bits
    packet = packed_rows(columns)
    assert np.array_equal(unpacked_rows(packet), columns.T)


def test_a_packet_is_of_one_lane_and_one_epoch_and_keeps_the_order() -> None:
    events = random_events(5, 400).select(columns_read()).combine_chunks().to_batches()[0]
    wanted = lane_columns_of(events).T
    lanes = events["broker_id"].to_numpy()
    packets = packed_events(events).to_pylist()
    assert len(packets) == 4, "two lanes of two epochs"
    for packet in packets:
        rows = unpacked_rows(packet["packet"])
        own = (lanes == packet["lane"]) & (wanted[:, COLUMN["epoch"]] == packet["epoch"])
        assert np.array_equal(rows, wanted[own])
        assert rows[0, COLUMN["seq"]] == packet["seq"]


def test_a_file_is_read_piece_by_piece(tmp_path) -> None:
    events = random_events(6, 100)
    whole = pa.concat_tables([events] * (2 * PACKET_ROWS // 100 + 1))
    path = tmp_path / "a b%20.parquet"
    pq.write_table(whole.drop_columns(["event_date", "batch_index"]), path)
    packets = [packet for batch in packets_of_file(str(path)) for packet in batch.to_pylist()]
    counts = [len(unpacked_rows(packet["packet"])) for packet in packets]
    assert sum(counts) == whole.num_rows
    assert max(counts) <= PACKET_ROWS


def lane_outcomes() -> list[Rows]:
    """Of a log with lost and late events and windows."""
    lane = Lane(SETTINGS)
    rows = lane_rows(busy_log(seconds=150))
    lane.offer(np.delete(rows, [50, 51, 300], axis=0))
    lane.offer(rows[-1:] + np.eye(1, rows.shape[1], COLUMN["seq"], dtype=np.int64) * 5)
    lane.offer(drain_row())
    return [*lane.finish(), Rows("lane_snapshots", dict.fromkeys(OUTCOME_COLUMNS["lane_snapshots"][2:], 3), 2, b"\x00state")]


@pytest.mark.parametrize("most_rows", [3, 100_000])
def test_outcomes_come_out_as_they_went_in(monkeypatch: pytest.MonkeyPatch, most_rows: int) -> None:
    monkeypatch.setattr(outcome_packets, "MOST_ROWS", most_rows)
    outcomes = lane_outcomes()
    (frame,) = packed_outcomes(7, outcomes)
    assert tuple(frame.columns) == PACKET_COLUMNS
    assert len({rows.table for rows in outcomes}) > 4
    for table in {rows.table for rows in outcomes}:
        own = frame[frame["kind"] == KINDS[table]]
        opened = opened_outcomes(table, own["outcome"])
        assert opened.num_rows == own["rows"].sum() == sum(rows.count for rows in outcomes if rows.table == table)
        assert (own["rows"] <= most_rows).all()
        states = opened[PAYLOAD].to_pylist() if PAYLOAD in opened.column_names else []
        assert sum(map(len, states)) == own["payload_bytes"].sum()
        wide = pa.Table.from_batches(wide_rows(iter(pa.Table.from_pandas(own, preserve_index=False).to_batches())))
        assert narrow_rows(wide, table).equals(opened)
        wanted = [output_frame(7, rows) for rows in outcomes if rows.table == table]
        numbers = np.concatenate([one[list(WIDE_COLUMNS)].to_numpy() for one in wanted])
        assert np.array_equal(np.array([wide[name].to_numpy() for name in WIDE_COLUMNS]).T, numbers)
        assert wide[PAYLOAD].to_pylist() == [state for one in wanted for state in one[PAYLOAD]]


@pytest.mark.parametrize(
    ("settings", "plain"),
    [
        ({}, True),
        ({"delta.enableDeletionVectors": "true"}, False),
        ({"delta.columnMapping.mode": "name"}, False),
        ({"delta.enableDeletionVectors": "false", "delta.columnMapping.mode": "none"}, True),
    ],
)
def test_files_that_do_not_hold_the_table_s_rows_are_left_to_spark(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], plain: bool
) -> None:
    table = SimpleNamespace(metadata=lambda: SimpleNamespace(configuration=settings))
    monkeypatch.setattr(bronze_files, "opened", lambda _: table)
    assert bronze_files.has_plain_files("file:/warehouse/dispatch_events") is plain
    assert not bronze_files.has_plain_files("s3a://lake/dispatch_events")
