"""Each pass over rows answers as numpy does, column by column."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.integers import INT64_MIN
from pipeline.rules.row_scans import glance, rows_of_columns, until_clock_step, until_next_window
from schemas.events import CODES, TOMBSTONE_CODE
from schemas.lane_columns import COLUMN, LANE_COLUMNS

TYPES = (CODES["publish"], CODES["broker_stop"], TOMBSTONE_CODE, TOMBSTONE_CODE + 1)
Rows = Any


@st.composite
def rows(draw: st.DrawFn, least: int = 0) -> Rows:
    """Up to forty rows: mostly in order of `seq` and of one epoch; clocks mostly agree."""
    count = draw(st.integers(least, 40))
    found = np.zeros((count, len(LANE_COLUMNS)), dtype=np.int64)
    steps = st.lists(st.integers(0, 400), min_size=count, max_size=count)
    found[:, COLUMN["ts"]] = 1_000 + np.cumsum(draw(steps))
    found[:, COLUMN["ns"]] = found[:, COLUMN["ts"]] * 1_000
    for place in draw(st.lists(st.integers(0, count - 1), max_size=1)) if count else []:
        found[place:, COLUMN["ns"]] -= 5_000_000
    found[:, COLUMN["seq"]] = 7 + np.arange(count)
    found[:, COLUMN["ingest_batch"]] = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    found[:, COLUMN["type_code"]] = draw(st.lists(st.sampled_from(TYPES), min_size=count, max_size=count))
    for name, by in (("seq", 1), ("epoch", 1), ("ts", 5_000), ("ts", -5_000)):
        for place in draw(st.lists(st.integers(0, count - 1), max_size=1)) if count else []:
            found[place:, COLUMN[name]] += by
    return found


@settings(max_examples=examples(200), deadline=None)
@given(rows())
def test_a_glance(found: Rows) -> None:
    codes, seq, epochs = found[:, COLUMN["type_code"]], found[:, COLUMN["seq"]], found[:, COLUMN["epoch"]]
    stops = np.flatnonzero(codes == CODES["broker_stop"])
    batches = found[:, COLUMN["ingest_batch"]]
    assert glance(np.asfortranarray(found)) == (
        (codes > TOMBSTONE_CODE).sum(),
        (codes == TOMBSTONE_CODE).sum(),
        max(found[:, COLUMN["ts"]], default=INT64_MIN),
        max(batches, default=INT64_MIN),
        max(batches[codes != TOMBSTONE_CODE], default=INT64_MIN),
        int(len(set(epochs.tolist())) <= 1),
        int((np.diff(seq) == 1).all()),
        stops[0] if len(stops) else len(found),
    )


@settings(max_examples=examples(200), deadline=None)
@given(rows(1), st.integers(0, 6_000))
def test_until_the_clock_is_set(found: Rows, step_us: int) -> None:
    gone_ns = np.diff(found[:, COLUMN["ns"]])
    jumps_us = np.diff(found[:, COLUMN["ts"]]) - gone_ns // 1_000
    steps = [*(np.flatnonzero((np.abs(jumps_us) > step_us) | (gone_ns < -1_000 * step_us)) + 1).tolist(), len(found)]
    for start in range(len(found)):
        assert until_clock_step(found, start, step_us) == min(step for step in steps if step > start)


@settings(max_examples=examples(200), deadline=None)
@given(rows(1), st.sampled_from([INT64_MIN, 0, 1_500, 3_000]), st.integers(1, 2_000))
def test_until_the_next_window(found: Rows, before_us: int, window_us: int) -> None:
    start, time_us = 0, before_us
    times = np.maximum.accumulate(np.maximum(found[:, COLUMN["ts"]], before_us))
    windows = times // window_us * window_us
    seen = []
    while start < len(found):
        stop, window, time_us, tombstones = until_next_window(found, start, time_us, window_us)
        assert tombstones == (found[start:stop, COLUMN["type_code"]] == TOMBSTONE_CODE).sum()
        assert time_us == times[stop - 1]
        seen += [window] * (stop - start)
        start = stop
    assert seen == windows.tolist()


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 100), st.integers(1, 5), st.sets(st.integers(0, 4)), st.integers(0, 2**32))
def test_columns_are_turned_and_steps_are_summed_up(count: int, width: int, stepped: set[int], seed: int) -> None:
    columns = np.random.default_rng(seed).integers(-(2**62), 2**62, (width, count))
    stepped = {position for position in stepped if position < width}
    wanted = columns.T.copy()
    for position in stepped:
        wanted[:, position] = np.cumsum(columns[position])
    assert np.array_equal(rows_of_columns(columns, np.array(sorted(stepped), dtype=np.int64)), wanted)
