"""The stateful operator: one group = one lane. Decodes the state blob, streams over the chunks, encodes the state, yields outcome rows.

It knows nothing of throttling: rules come with the codec. Never `pd.concat`: a lane may have millions of rows in one micro-batch.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from pipeline.faults import invariant
from pipeline.lanes.codec import decode, encode
from pipeline.lanes.lane import Lane, LaneTiming
from pipeline.lanes.outcome_frames import PACKET_COLUMNS, packet_frame
from pipeline.lanes.packets.packet import packets_in_order
from pipeline.rules.array import Array
from schemas.lane_columns import COLUMN, LANE_COLUMNS, LANE_KEY, PACKET, ROW

#: A lane's whole state is one opaque, versioned blob.
STATE_TYPE = StructType([StructField("blob", BinaryType(), False)])
#: What it gives: packets of outcomes.
PACKETS_TYPE = StructType(
    [*(StructField(name, LongType(), False) for name in PACKET_COLUMNS[:-1]), StructField(PACKET_COLUMNS[-1], BinaryType(), False)]
)


def rows_of(chunk: pd.DataFrame) -> Array:
    """A chunk as int64 [n, LANE_COLUMNS].

    Raises BrokenInvariant for any column that is not int64: a float has already lost ids above 2^53.
    """
    rows = np.empty((len(chunk), len(LANE_COLUMNS)), dtype=np.int64)
    for position, name in enumerate(LANE_COLUMNS):
        column = chunk[name].to_numpy()
        invariant(column.dtype == np.int64, f"lane column {name} came as {column.dtype}, not int64")
        rows[:, position] = column
    return rows


def _rows_in_order(chunks: Iterable[pd.DataFrame]) -> Iterator[tuple[Array, bool]]:
    """Control rows as they came, then packets by their places: what is offered in order is applied at once, and never kept unpacked.

    With each whether it may be applied at once: not where packets have a place in common.
    """
    packets: list[bytes] = []
    for chunk in chunks:
        rows = [row for row in chunk[ROW] if len(row)]
        if rows:
            yield np.stack(rows), True
        packets += (packet for packet in chunk[PACKET] if packet)
    yield from packets_in_order(packets)


def runs_of(chunks: Iterable[pd.DataFrame]) -> Iterator[tuple[int, Array]]:
    """Sorted lane rows (LANE_KEY, LANE_COLUMNS) as (broker id, rows of one epoch: int64 [n, LANE_COLUMNS]), never empty."""
    for chunk in chunks:
        lanes, rows = chunk[LANE_KEY].to_numpy(), rows_of(chunk)
        borders = (np.diff(lanes) != 0) | (np.diff(rows[:, COLUMN["epoch"]]) != 0)
        for start, stop in pairwise([0, *(np.flatnonzero(borders) + 1).tolist(), len(rows)]):
            if stop > start:
                yield int(lanes[start]), rows[start:stop]


def lane_operator(settings: LaneTiming) -> Callable[[tuple[Any, ...], Iterator[pd.DataFrame], Any], Iterator[pd.DataFrame]]:
    """The function for `applyInPandasWithState`, grouped by LANE_KEY, NoTimeout."""

    def operate(key: tuple[Any, ...], chunks: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
        lane = decode(bytes(state.get[0]), settings) if state.exists else Lane(settings)
        for rows, alone in _rows_in_order(chunks):
            lane.offer(rows, at_once=alone)
        outcomes = lane.finish()
        blob = encode(lane)
        state.update((blob,))  # before the first yield: a generator may never be resumed
        outcomes[-1].columns["state_bytes"] = len(blob)
        yield packet_frame(int(key[0]), outcomes)

    return operate
