"""The packets of a log where they lie: in files of bronze. Their places are held; the packets come when it is their turn."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.lanes.packets.packet import HEAD_BYTES
from schemas.tables.bronze import LANE_PACKET

#: Row groups of which the packets are held: files of one broker may overlap.
_GROUPS_HELD, _FILES_HELD = 8, 4


class PacketPlace(NamedTuple):
    """The packet `number` of a row group of a file; `head` is what `in_order` needs of it, `size` its bytes."""

    file: str
    group: int
    number: int
    size: int
    head: bytes


def packet_places(files: Sequence[str]) -> dict[int, list[PacketPlace]]:
    """By lane the packets in Parquet files of bronze in which every event is in a packet."""
    found: dict[int, list[PacketPlace]] = {}
    for file in files:
        with pq.ParquetFile(file) as opened:
            for group in range(opened.num_row_groups):
                rows = opened.read_row_group(group, columns=["broker_id", LANE_PACKET])
                rows = rows.filter(pc.is_valid(rows[LANE_PACKET]))
                heads = pc.binary_slice(rows[LANE_PACKET], 0, HEAD_BYTES).to_pylist()
                sizes = pc.binary_length(rows[LANE_PACKET]).to_pylist()
                for number, (lane, size, head) in enumerate(zip(rows["broker_id"].to_pylist(), sizes, heads, strict=True)):
                    found.setdefault(lane, []).append(PacketPlace(file, group, number, size, head))
    return found


def packet_at(place: PacketPlace) -> bytes:
    """The packet. Those beside it are held for a while: they come next."""
    packet: bytes = _packets_of(place.file, place.group)[place.number].as_py()
    return packet


@lru_cache(maxsize=_GROUPS_HELD)
def _packets_of(file: str, group: int) -> pa.ChunkedArray:
    return _opened(file).read_row_group(group, columns=[LANE_PACKET])[LANE_PACKET].drop_null()


@lru_cache(maxsize=_FILES_HELD)
def _opened(file: str) -> pq.ParquetFile:
    return pq.ParquetFile(file)
