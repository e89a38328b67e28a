"""The packets of bronze through their lanes into all tables of lanes, as one micro-batch."""

import heapq
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.ingest.rejected_lines import Tombstone
from pipeline.lanes.control import issue_drain
from pipeline.lanes.lane import LaneTiming
from pipeline.lanes.newest_events import NewestEvents
from pipeline.lanes.seq_taken import quarantine_taken, repeats_of
from pipeline.load.broker_lane import BrokerLog, drain_lane
from pipeline.load.ingest import BATCH
from pipeline.load.outcome_files import OutcomeFiles
from pipeline.load.packets import PacketPlace
from pipeline.load.processes import BROKERS_DONE, Processes, count
from pipeline.run_context import RunContext
from pipeline.sources.parse.line import ParseLimits
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.append import app_id_of, append_files
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import LANES, Warehouse
from pipeline.warehouse.manifest import append_manifest
from pipeline.warehouse.offsets import STREAMED, read_whole_entry
from schemas.outcomes import LANE_REPORT_COLUMNS
from schemas.tables import TABLES_BY_NAME
from schemas.tables.bronze import QUARANTINE

#: Tables that are committed at the same time.
_AT_ONCE = 4


class Folded(NamedTuple):
    """Of some brokers: files of each table by its name, and the lanes' reports; None without any."""

    files: dict[str, list[NewFile]]
    reports: pa.Table | None


class Folding(NamedTuple):
    """How lanes are folded, and where to. No other load may use `run_id`; `names` has the text of all ids (columns of that table)."""

    settings: LaneTiming
    warehouse: Warehouse
    run_id: str
    names: pa.Table


def broker_logs(packets: Mapping[int, Sequence[PacketPlace]], tombstones: Sequence[Tombstone]) -> list[BrokerLog]:
    """The log of each broker of which there are packets or tombstones, those with most events first."""
    places: dict[int, list[Tombstone]] = {}
    for place in tombstones:
        places.setdefault(place.lane, []).append(place)
    logs = [BrokerLog(lane, packets.get(lane, ()), places.get(lane, ())) for lane in packets.keys() | places.keys()]
    return sorted(logs, key=lambda log: (-log.size, log.broker_id))


def begin_lanes(processes: Processes, logs: Sequence[BrokerLog], how: Folding) -> list[Future[Folded]]:
    """Let the processes share the brokers, whose logs come largest first, and fold each to the end of its log."""
    shares: list[list[BrokerLog]] = [[] for _ in range(min(processes.count, len(logs)))]
    loads = [(0, number) for number in range(len(shares))]
    for log in logs:
        load, number = heapq.heappop(loads)
        shares[number].append(log)
        heapq.heappush(loads, (load + log.size, number))
    return [processes.submit(fold_share, number, share, how) for number, share in enumerate(shares)]


def fold_share(number: int, share: Sequence[BrokerLog], how: Folding) -> Folded:
    """Fold the brokers of the share with this `number` one after the other. All of them write to the same files."""
    into = OutcomeFiles(how.warehouse, f"{how.run_id}-{BATCH}-{number}", how.names)
    for log in share:
        drain_lane(log, BATCH, how.settings, into)
        count(BROKERS_DONE, 1)
    return Folded(*into.close())


def write_outcomes(warehouse: Warehouse, folded: Sequence[Folded], run: RunContext, query_id: str, limits: ParseLimits) -> dict[str, int]:
    """Commit the rows of all lanes; returns the counts of batch_manifest. `names` and bronze must be written."""
    issue_drain(warehouse, run)
    files: dict[str, list[NewFile]] = {}
    for share in folded:
        for name, written in share.files.items():
            files.setdefault(name, []).extend(written)

    def append(name: str) -> None:
        append_files(warehouse.table(name), TABLES_BY_NAME[name], files[name], (app_id_of(query_id, name), BATCH))

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(append, files))
    reports = [share.reports for share in folded if share.reports is not None]
    counts, newest = dict.fromkeys(LANE_REPORT_COLUMNS, 0), NewestEvents()
    if reports:
        report = pa.concat_tables(reports)
        quarantine_taken(warehouse, repeats_of(report), run.now(), limits, (app_id_of(query_id, QUARANTINE.name), BATCH))
        counts = {name: pc.sum(report[name]).as_py() for name in LANE_REPORT_COLUMNS}
        newest.add(report)
    offsets_of = partial(read_whole_entry, *_versions(warehouse))
    append_manifest(warehouse, run, LANES, query_id, BATCH, counts, offsets_of, newest.rows)
    return counts


def _versions(warehouse: Warehouse) -> tuple[int, ...]:
    """Of the tables that lanes read, in the order of their sources."""
    return tuple(newest_version_at(warehouse.table(table)) for table in STREAMED)
