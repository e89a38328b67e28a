"""All events of one broker through its lane, to the end of its log."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.ingest.rejected_lines import Tombstone
from pipeline.lanes.lane import Lane, LaneTiming
from pipeline.lanes.packets.packet import in_order, unpacked_rows
from pipeline.load.outcome_files import OutcomeFiles
from pipeline.load.packets import PacketPlace, packet_at
from pipeline.rules.array import Array
from schemas.events import DRAIN_CODE, TOMBSTONE_CODE
from schemas.lane_columns import COLUMN, LANE_COLUMNS

_PLACE = ("epoch", "seq", "ts", "ns")


@dataclass(frozen=True)
class BrokerLog:
    """A broker's part of a log: its packets, in any order, and its tombstones, sorted by their places."""

    broker_id: int
    packets: Sequence[PacketPlace]
    tombstones: Sequence[Tombstone]

    @property
    def size(self) -> int:
        """Bytes of its packets."""
        return sum(place.size for place in self.packets)


def drain_lane(log: BrokerLog, ingest_batch: int, settings: LaneTiming, into: OutcomeFiles) -> None:
    """Fold the whole log, then drain; outcomes and the lane's report go into the files as they come.

    Packets come by their places. So when one comes that lies beyond all before it, nothing can come any more that is missing there.
    """
    lane, tombstones = Lane(settings), list(log.tombstones)
    for turn in in_order((place.head, place) for place in log.packets):
        if turn.is_beyond:
            gone = _until(tombstones, turn.begin)
            lane.offer(_rows(tombstones[:gone], TOMBSTONE_CODE, ingest_batch))
            del tombstones[:gone]
            lane.settle()
            into.add(log.broker_id, lane.taken_outcomes())
        lane.offer(unpacked_rows(packet_at(turn.packet)), at_once=turn.is_alone)
    lane.offer(_rows(tombstones, TOMBSTONE_CODE, ingest_batch))
    lane.offer(_rows([Tombstone(log.broker_id, 0, 0, 0, 0)], DRAIN_CODE, ingest_batch))
    into.add(log.broker_id, lane.finish(), last=True)


def _until(tombstones: Sequence[Tombstone], begin: tuple[int, int]) -> int:
    """How many of them, the first ones, lie before the place `begin`."""
    return next((number for number, place in enumerate(tombstones) if (place.epoch, place.seq) >= begin), len(tombstones))


def _rows(places: Sequence[Tombstone], type_code: int, ingest_batch: int) -> Array:
    """Control rows: int64 [n, LANE_COLUMNS]."""
    rows = np.zeros((len(places), len(LANE_COLUMNS)), dtype=np.int64)
    for row, place in zip(rows, places, strict=True):
        row[[COLUMN[name] for name in _PLACE]] = [getattr(place, name) for name in _PLACE]
    rows[:, COLUMN["type_code"]] = type_code
    rows[:, COLUMN["ingest_batch"]] = ingest_batch
    return rows
