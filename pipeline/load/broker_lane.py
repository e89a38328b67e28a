"""All events of one broker through its lane, to the end of its log."""

from collections.abc import Sequence

import numpy as np

from pipeline.ingest.rejected import Tombstone
from pipeline.lanes.lane import Lane, LaneSettings
from pipeline.lanes.outcome_packets import OutcomePacket, outcome_packets
from pipeline.machines.array import Array
from pipeline.packets.packet import packets_in_order
from schemas.events import DRAIN_CODE, TOMBSTONE_CODE
from schemas.lane_columns import COLUMN, LANE_COLUMNS


def drained_lane(
    broker_id: int, packets: Sequence[bytes], tombstones: Sequence[Tombstone], ingest_batch: int, settings: LaneSettings
) -> list[OutcomePacket]:
    """Outcomes of a whole log, and the lane's report: packets of events in any order, places of rejected lines, then the drain."""
    lane = Lane(settings)
    for rows, alone in packets_in_order(packets):
        lane.offer(rows, at_once=alone)
    lane.offer(_control_rows(tombstones, ingest_batch))
    return outcome_packets(broker_id, lane.finish())


def _control_rows(tombstones: Sequence[Tombstone], ingest_batch: int) -> Array:
    """The tombstones, and the drain behind them: int64 [n, LANE_COLUMNS]."""
    rows = np.zeros((len(tombstones) + 1, len(LANE_COLUMNS)), dtype=np.int64)
    for row, place in zip(rows, tombstones, strict=False):
        row[[COLUMN[name] for name in ("epoch", "seq", "ts", "ns")]] = (place.epoch, place.seq, place.ts, place.ns)
    rows[:, COLUMN["type_code"]] = TOMBSTONE_CODE
    rows[:, COLUMN["ingest_batch"]] = ingest_batch
    rows[-1, COLUMN["type_code"]] = DRAIN_CODE
    return rows
