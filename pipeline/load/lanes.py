"""The packets of bronze through their lanes into all tables of lanes, as one micro-batch."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.ingest.rejected import Tombstone
from pipeline.lanes.control import issue_drain
from pipeline.lanes.lane import LaneSettings
from pipeline.lanes.outcome_packets import OutcomePacket, opened_outcomes
from pipeline.load.broker_lane import drained_lane
from pipeline.load.ingest import BATCH
from pipeline.load.processes import Processes
from pipeline.parse.line import ParseLimits
from pipeline.run_context import RunContext
from pipeline.sinks.append import app_id_of, append_rows
from pipeline.sinks.manifest import append_manifest
from pipeline.sinks.outcomes import NamedOutcomes
from pipeline.sinks.seq_taken import quarantine_taken, repeats_of
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import STREAMED, read_whole_entry
from schemas.outcomes import KINDS, LANE_REPORT, LANE_REPORT_COLUMNS
from schemas.tables import TABLES_BY_NAME
from schemas.tables.bookkeeping import NAMES
from schemas.tables.bronze import LANE_PACKET, QUARANTINE

QUERY = "lanes"
#: Tables that are written at the same time.
_AT_ONCE = 4
_TABLES = {kind: name for name, kind in KINDS.items()}


def packets_in(files: Sequence[str]) -> dict[int, list[bytes]]:
    """Packets by lane, in Parquet files of bronze in which every event is in a packet."""
    found: dict[int, list[bytes]] = {}
    for file in files:
        rows = pq.read_table(file, columns=["broker_id", LANE_PACKET], partitioning=None)
        rows = rows.filter(pc.is_valid(rows[LANE_PACKET]))
        for lane, packet in zip(rows["broker_id"].to_pylist(), rows[LANE_PACKET].to_pylist(), strict=True):
            found.setdefault(lane, []).append(packet)
    return found


def begin_lanes(
    processes: Processes, packets: Mapping[int, Sequence[bytes]], tombstones: Sequence[Tombstone], settings: LaneSettings
) -> list[Future[list[OutcomePacket]]]:
    """Let the processes fold each lane to the end of its log, those with most events first."""
    places: dict[int, list[Tombstone]] = {}
    for place in tombstones:
        places.setdefault(place.lane, []).append(place)
    sizes = {lane: sum(map(len, packets.get(lane, ()))) for lane in packets.keys() | places.keys()}
    return [
        processes.submit(drained_lane, lane, packets.get(lane, ()), places.get(lane, ()), BATCH, settings)
        for lane in sorted(sizes, key=lambda lane: (-sizes[lane], lane))
    ]


def write_outcomes(
    warehouse: Warehouse, packets: Sequence[OutcomePacket], run: RunContext, query_id: str, limits: ParseLimits
) -> dict[str, int]:
    """Write the rows of all lanes to their tables; returns the counts of batch_manifest. `names` and bronze must be written."""
    issue_drain(warehouse, run)
    by_table: dict[str, list[bytes]] = {}
    for packet in packets:
        by_table.setdefault(_TABLES.get(packet.kind, LANE_REPORT), []).append(packet.outcome)
    reports = by_table.pop(LANE_REPORT, [])
    outcomes = {name: opened_outcomes(name, of_table) for name, of_table in by_table.items()}
    named = NamedOutcomes(outcomes, arrow_rows(warehouse.table(NAMES.name)))

    def append(name: str) -> None:
        append_rows(warehouse, TABLES_BY_NAME[name], named.slices_of(TABLES_BY_NAME[name]), (app_id_of(query_id, name), BATCH))

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        largest_first = sorted(outcomes, key=lambda name: -outcomes[name].num_rows)
        for written in [threads.submit(append, name) for name in largest_first]:
            written.result()
    report = opened_outcomes(LANE_REPORT, reports) if reports else None
    if report is not None:
        quarantine_taken(warehouse, repeats_of(report), run.now(), limits, (app_id_of(query_id, QUARANTINE.name), BATCH))
    counts = dict.fromkeys(LANE_REPORT_COLUMNS, 0) if report is None else _summed(report)
    append_manifest(warehouse, run, QUERY, query_id, BATCH, counts, read_whole_entry(*_versions(warehouse)))
    return counts


def _summed(reports: pa.Table) -> dict[str, int]:
    return {name: pc.sum(reports[name]).as_py() for name in LANE_REPORT_COLUMNS}


def _versions(warehouse: Warehouse) -> tuple[int, ...]:
    """Of the tables that lanes read, in the order of their sources."""
    return tuple(newest_version_at(warehouse.table(table)) for table in STREAMED)
