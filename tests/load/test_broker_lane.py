"""A broker's whole log through its lane, packet by packet: as if all of it had come at once, though little of it waits."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from lane_rows import lane_rows
from lane_tables import SETTINGS, as_tables, drain_row
from upkeep_log import capture, first_epoch, second_epoch

from pipeline.ingest.rejected_lines import Tombstone
from pipeline.lanes.lane import Lane
from pipeline.lanes.packets.packet import HEAD_BYTES, packed_rows
from pipeline.load import broker_lane
from pipeline.load.broker_lane import BrokerLog, drain_lane
from pipeline.load.packets import PacketPlace
from pipeline.rules.outcome import Rows
from schemas.events import TOMBSTONE_CODE
from schemas.lane_columns import COLUMN, LANE_COLUMNS
from schemas.outcomes import LANE_REPORT

BROKER_ID = 7
SEEDS = range(12)


class Taken:
    """Takes outcomes where a load writes them to files; `early` came before the log was over."""

    def __init__(self) -> None:
        self.outcomes: list[Rows] = []
        self.early = 0

    def add(self, broker_id: int, outcomes: Sequence[Rows], *, last: bool = False) -> None:
        assert broker_id == BROKER_ID
        self.outcomes += outcomes
        self.early += 0 if last else sum(rows.count for rows in outcomes)


def folded(packets: list[np.ndarray], tombstones: list[Tombstone], monkeypatch: pytest.MonkeyPatch) -> Taken:
    """The outcomes of a load."""
    stored = [packed_rows(np.ascontiguousarray(rows.T)) for rows in packets]
    monkeypatch.setattr(broker_lane, "packet_at", lambda place: stored[place.number])
    places = [PacketPlace("file", 0, number, len(packet), packet[:HEAD_BYTES]) for number, packet in enumerate(stored)]
    taken = Taken()
    drain_lane(BrokerLog(BROKER_ID, places, tombstones), 0, SETTINGS, taken)  # type: ignore[arg-type]  # it stands for OutcomeFiles
    return taken


def at_once(packets: list[np.ndarray], tombstones: list[Tombstone]) -> list[Rows]:
    """The outcomes of a lane that is offered all before it settles any."""
    lane = Lane(SETTINGS)
    for rows in packets:
        lane.offer(rows, at_once=False)
    for place in tombstones:
        row = np.zeros((1, len(LANE_COLUMNS)), dtype=np.int64)
        for name in ("epoch", "seq", "ts", "ns"):
            row[0, COLUMN[name]] = getattr(place, name)
        row[0, COLUMN["type_code"]] = TOMBSTONE_CODE
        lane.offer(row, at_once=False)
    lane.offer(drain_row())
    return lane.finish()


def pieces(rows: np.ndarray, chance: random.Random) -> list[np.ndarray]:
    """Packets of one epoch each, in no order; some overlap, as those of two files of one broker do."""
    found: list[np.ndarray] = []
    for epoch in np.unique(rows[:, COLUMN["epoch"]]):
        own = rows[rows[:, COLUMN["epoch"]] == epoch]
        start = 0
        while start < len(own):
            size = chance.choice((1, 7, 60))
            part = own[start : start + 2 * size]
            mixed = chance.random() < 0.3
            found += [part[::2], part[1::2]] if mixed and len(part) > 1 else [part]
            start += 2 * size
    chance.shuffle(found)
    return found


def report_of(outcomes: list[Rows]) -> dict[str, Any]:
    (report,) = (rows for rows in outcomes if rows.table == LANE_REPORT)
    return {name: int(value) for name, value in report.columns.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_gaps_repeats_and_rejected_lines_end_as_if_all_had_come_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    events = (first_epoch() + second_epoch()) if seed % 2 else capture("p1_batches")
    left = [event for event in events if chance.random() > 0.02]
    rejected = [event for event in events if event not in left and chance.random() < 0.5]
    rejected += chance.sample(left, 3)  # a place that is taken, too
    rows = lane_rows(left + chance.sample(left, 5))
    rows = rows[np.lexsort((rows[:, COLUMN["seq"]], rows[:, COLUMN["epoch"]]))]
    tombstones = sorted(Tombstone(BROKER_ID, event["epoch"], event["seq"], event["ts"], event["ns"]) for event in rejected)
    packets = pieces(rows, chance)
    taken, wanted = folded(packets, tombstones, monkeypatch), at_once(packets, tombstones)
    again = f"pytest tests/load/test_broker_lane.py -k 'once and {seed}'"
    assert report_of(taken.outcomes) == report_of(wanted), again
    ours, theirs = (as_tables([rows for rows in one if rows.table != LANE_REPORT], events) for one in (taken.outcomes, wanted))
    assert ours == theirs, again
    assert ours["log_gaps"] != []


def test_events_behind_a_gap_do_not_wait_for_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    events = capture("f_limit_above_need")
    rows = lane_rows(events[:40] + events[41:])
    packets = [rows[start : start + 50] for start in range(0, len(rows), 50)]
    most, settle = 0, Lane.settle

    def watched(lane: Lane) -> None:
        nonlocal most
        settle(lane)
        most = max(most, *(len(epoch.held) for epoch in lane.epochs.values()), 0) if lane.epochs else most

    monkeypatch.setattr(Lane, "settle", watched)
    taken = folded(packets, [], monkeypatch)
    assert most == 0, "rows are held"
    assert taken.early > 0
