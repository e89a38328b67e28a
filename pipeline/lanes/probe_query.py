"""Probes of many epochs at once, in Spark's tasks."""

from collections.abc import Iterator

import pandas as pd

from pipeline.lanes.lane import LaneSettings
from pipeline.lanes.operator import runs_of
from pipeline.lanes.outcome_frames import output_frame
from pipeline.lanes.probe import EPOCH, Probe


def probe_lanes(chunks: Iterator[pd.DataFrame], now_us: int, settings: LaneSettings) -> Iterator[pd.DataFrame]:
    """Lane rows (LANE_KEY, LANE_COLUMNS) of one epoch per lane, sorted by lane and `seq`, to operator output: the rows of a probe.

    For `mapInPandas` over partitions that hold whole lanes: rows stream by, one lane's state is in memory at a time.
    """
    broker_id, probe = 0, None
    for lane, rows in runs_of(chunks):
        if probe is None or lane != broker_id:
            yield from _probe_frames(broker_id, probe, now_us)
            broker_id, probe = lane, Probe(int(rows[0, EPOCH]), settings)
        probe.offer(rows)
    yield from _probe_frames(broker_id, probe, now_us)


def _probe_frames(broker_id: int, probe: Probe | None, now_us: int) -> Iterator[pd.DataFrame]:
    for rows in probe.at(now_us) if probe is not None else ():
        yield output_frame(broker_id, rows)
