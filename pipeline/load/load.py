"""A finished log to all tables: files are parsed by processes, then each broker's events go through its lane.

What `stream --once --drain` writes in two queries of Spark, one after the other, is written here as one micro-batch of each.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from pipeline.lanes.timing import lane_timing
from pipeline.load.ingest import BATCH, Ingested, begin_parsing, grown_files, ingested, write_ingested
from pipeline.load.lanes import Folding, begin_lanes, broker_logs, write_outcomes
from pipeline.load.packets import packet_places
from pipeline.load.parsing import Reading
from pipeline.load.processes import BROKERS_DONE, EVENTS_READ, Processes
from pipeline.run_context import RunContext
from pipeline.settings import Settings
from pipeline.sources.jsonl_files import JsonlFiles
from pipeline.sources.listing import ListedFile
from pipeline.sources.parquet_files import ParquetFiles
from pipeline.store.address import local_path
from pipeline.warehouse.guard import loaded_id
from pipeline.warehouse.layout import INGEST, LANES, Warehouse
from pipeline.warehouse.names import name_rows
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables.bronze import DISPATCH_EVENTS

#: Who waits hears how far it is as often.
REPORTED_EVERY_S = 2.0
#: Receives a line of progress.
Report = Callable[[str], None]
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Log:
    """A finished log: a source, and its files as they were listed."""

    source: JsonlFiles | ParquetFiles
    files: Sequence[ListedFile]


class Loaded(NamedTuple):
    """What a load did: the counts of batch_manifest by query, and how many files grew meanwhile."""

    books: dict[str, dict[str, int]]
    grown_files: int


def load(log: Log, warehouse: Warehouse, settings: Settings, run: RunContext, workers: Processes, report: Report) -> Loaded:
    """Load the log into a warehouse on the local file system in which nothing is yet. Whatever goes wrong, `workers` are to be ended.

    Raises BadWarehouse for a file that cannot be read, BrokenProcessPool if one of the processes is killed.
    """
    reading = Reading(log.source.kind.read, log.source.limits, warehouse, BATCH, run.run_id, run.now())
    shares = begin_parsing(workers, log.files, log.source.kind, reading)
    create_missing_tables(warehouse)
    parsed = _results(
        shares, lambda done: report(f"reading: {workers.counted(EVENTS_READ):,} events, {done} of {len(shares)} shares of files")
    )
    done = ingested(warehouse, parsed)
    logs = broker_logs(packet_places(_paths(warehouse, done)), done.tombstones)
    folding = Folding(lane_timing(settings), warehouse, run.run_id, name_rows(done.names))
    lanes = begin_lanes(workers, logs, folding)
    grown = grown_files(log.source.place, log.files)
    read = write_ingested(warehouse, done, log.files, grown, run, loaded_id(INGEST, run.run_id))  # while the processes fold
    folded = _results(lanes, lambda _: report(f"computing: {workers.counted(BROKERS_DONE)} of {len(logs)} brokers"))
    report("writing tables")
    computed = write_outcomes(warehouse, folded, run, loaded_id(LANES, run.run_id), log.source.limits)
    return Loaded({INGEST: read, LANES: computed}, len(grown))


def _paths(warehouse: Warehouse, done: Ingested) -> list[str]:
    """Files of bronze as this machine names them."""
    folder = local_path(warehouse.table(DISPATCH_EVENTS.name))
    return [f"{folder}/{file.path}" for file in done.files_of(DISPATCH_EVENTS)]


def _results(futures: Sequence[Future[_Result]], report: Callable[[int], None]) -> list[_Result]:
    """The results, in order; every while it is reported how many there are. Raises what one of them raises, at once."""
    done, waiting = wait(futures, REPORTED_EVERY_S, FIRST_EXCEPTION)
    while waiting and not any(future.exception() for future in done):
        report(len(done))
        done, waiting = wait(futures, REPORTED_EVERY_S, FIRST_EXCEPTION)
    for future in done:
        future.result()
    return [future.result() for future in futures]
