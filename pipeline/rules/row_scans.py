"""What a lane asks about all rows that came, each question answered in one compiled pass.

numpy needs a pass for each column and question. Of rows as wide as these each pass costs as much as reading all of them.
"""

from typing import NamedTuple

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.compiled import compiled, compiled_allocating
from pipeline.rules.integers import INT64_MIN
from schemas.events import CODES, TOMBSTONE_CODE
from schemas.lane_columns import COLUMN

_SEQ, _TS, _NS, _TYPE, _EPOCH, _BATCH = (COLUMN[name] for name in ("seq", "ts", "ns", "type_code", "epoch", "ingest_batch"))
_STOP = CODES["broker_stop"]
#: Rows that are turned at a time.
_BLOCK = 32


class Glance(NamedTuple):
    """What rows are, at a glance; the maxima are INT64_MIN where there is nothing."""

    orders: int  # control rows but tombstones
    tombstones: int
    newest_ts: int
    newest_batch: int  # ingest batch
    newest_batch_of_bronze: int  # of rows that are no tombstones
    is_of_one_epoch: int
    is_contiguous: int  # each `seq` is one more than that of the row before
    stop: int  # position of the first `broker_stop`; the number of rows, if there is none


def glance(rows: Array) -> Glance:
    """A glance at int64 [n, LANE_COLUMNS]."""
    return Glance(*map(int, _glance(np.ascontiguousarray(rows))))  # not compiled they would be numpy's, which no state's header can hold


@compiled
def _glance(rows: Array) -> tuple[int, int, int, int, int, int, int, int]:
    count = rows.shape[0]
    orders, tombstones, is_of_one_epoch, is_contiguous, stop = 0, 0, 1, 1, count
    newest_ts, newest_batch, newest_of_bronze = INT64_MIN, INT64_MIN, INT64_MIN
    for k in range(count):
        code, batch = rows[k, _TYPE], rows[k, _BATCH]
        newest_ts, newest_batch = max(newest_ts, rows[k, _TS]), max(newest_batch, batch)
        if code > TOMBSTONE_CODE:
            orders += 1
        if code == TOMBSTONE_CODE:
            tombstones += 1
        else:
            newest_of_bronze = max(newest_of_bronze, batch)
        if code == _STOP and stop == count:
            stop = k
        if k > 0:
            if rows[k, _EPOCH] != rows[0, _EPOCH]:
                is_of_one_epoch = 0
            if rows[k, _SEQ] != rows[k - 1, _SEQ] + 1:
                is_contiguous = 0
    return orders, tombstones, newest_ts, newest_batch, newest_of_bronze, is_of_one_epoch, is_contiguous, stop


@compiled
def until_clock_step(rows: Array, start: int, clock_step_us: int) -> int:
    """Position of the first row after `start` at which the wall clock was set: it went further than the monotonic one, or less far.

    Also where the monotonic one falls back as far: it is made of the wall clock there (pipeline/lanes/windows.py). The number of rows, if
    there is none. `rows`: int64 [n, LANE_COLUMNS].
    """
    for k in range(start + 1, rows.shape[0]):
        gone_ns = rows[k, _NS] - rows[k - 1, _NS]
        jump_us = rows[k, _TS] - rows[k - 1, _TS] - gone_ns // 1000
        if abs(jump_us) > clock_step_us or gone_ns < -1000 * clock_step_us:
            return k
    return rows.shape[0]


@compiled
def until_next_window(rows: Array, start: int, time_us: int, window_us: int) -> tuple[int, int, int, int]:
    """The window of the row at `start`, where time stands at `time_us` before it: (position of the first row of a later one, start of the
    window, time at the last row before that position, tombstones up to there). Time is the greatest `ts` so far.
    """
    time = max(time_us, rows[start, _TS])
    window, tombstones = time // window_us * window_us, 0
    for k in range(start, rows.shape[0]):
        later = max(time, rows[k, _TS])
        if later - window >= window_us:
            return k, window, time, tombstones
        time = later
        if rows[k, _TYPE] == TOMBSTONE_CODE:
            tombstones += 1
    return rows.shape[0], window, time, tombstones


@compiled_allocating
def rows_of_columns(columns: Array, stepped: Array) -> Array:
    """int64 [n, columns] of int64 [columns, n]; a column that `stepped` names (its position) holds steps, and is summed up.

    In blocks that stay in the processor's cache.
    """
    width, count = columns.shape
    rows = np.empty((count, width), dtype=np.int64)
    sums, is_stepped = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    for position in stepped:
        is_stepped[position] = 1
    for begin in range(0, count, _BLOCK):
        end = min(count, begin + _BLOCK)
        for position in range(width):
            if is_stepped[position] == 1:
                total = sums[position]
                for k in range(begin, end):
                    total += columns[position, k]
                    rows[k, position] = total
                sums[position] = total
            else:
                for k in range(begin, end):
                    rows[k, position] = columns[position, k]
    return rows
