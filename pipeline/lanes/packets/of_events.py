"""Events of bronze to packets: each packet holds events of one lane and one epoch, and lies beside the first of them."""

from itertools import pairwise

import numpy as np
import pyarrow as pa

from pipeline.lanes.packets.bronze_columns import lane_columns_of
from pipeline.lanes.packets.packet import packed_rows
from pipeline.rules.array import Array
from schemas.lane_columns import COLUMN, LAYOUT
from schemas.tables.bronze import LANE_LAYOUT, LANE_PACKET

#: Events that are turned into numbers at once, and packed at once at most: what is packed should stay in the processor's cache.
ROWS_AT_ONCE, PACKET_ROWS = 32_768, 16_384


def packet_columns(events: pa.RecordBatch) -> dict[str, pa.Array]:
    """LANE_LAYOUT and LANE_PACKET of rows of dispatch_events: every row is in a packet, the first row of each has it."""
    found = packets_of(events)
    places, packets = [place for place, _ in found], [packet for _, packet in found]
    numbers = np.full(events.num_rows, -1, dtype=np.int64)
    numbers[places] = np.arange(len(places))
    packet_of_row = pa.array(packets, pa.binary()).take(pa.array(numbers, mask=numbers < 0))
    return {LANE_LAYOUT: pa.array(np.full(events.num_rows, LAYOUT, dtype=np.int32)), LANE_PACKET: packet_of_row}


def packets_of(events: pa.RecordBatch) -> list[tuple[int, bytes]]:
    """Packets of rows of dispatch_events, each with the place of its first event."""
    starts = range(0, events.num_rows, ROWS_AT_ONCE)
    return [(first + place, packet) for first in starts for place, packet in _packets(events.slice(first, ROWS_AT_ONCE))]


def _packets(events: pa.RecordBatch) -> list[tuple[int, bytes]]:
    """Packets, each with the place of its first event. Events of a lane and an epoch keep their order."""
    lanes, rows = events.column("broker_id").to_numpy(zero_copy_only=False), lane_columns_of(events)
    epochs = rows[COLUMN["epoch"]]
    order = None
    if not (_is_one(lanes) and _is_one(epochs)):
        order = np.lexsort((epochs, lanes))
        lanes, rows, epochs = lanes[order], rows[:, order], epochs[order]
    borders = np.flatnonzero((np.diff(lanes) != 0) | (np.diff(epochs) != 0)) + 1
    runs = pairwise([0, *borders.tolist(), len(lanes)])
    parts = [(first, min(first + PACKET_ROWS, stop)) for start, stop in runs for first in range(start, stop, PACKET_ROWS)]
    return [(first if order is None else int(order[first]), packed_rows(rows[:, first:stop])) for first, stop in parts]


def _is_one(values: Array) -> bool:
    return len(values) > 0 and bool((values == values[0]).all())
