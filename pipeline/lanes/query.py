"""The lanes query: bronze and control in, outcome tables out, each exactly once per micro-batch."""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.state import GroupStateTimeout

from pipeline.faults import BadWarehouse
from pipeline.lanes.lane_input import all_packets, control_rows, packets, packets_anew, packets_hold_every_event
from pipeline.lanes.named_outcomes import NamedOutcomes, ids_in
from pipeline.lanes.newest_events import NewestEvents, newest_events
from pipeline.lanes.operator import PACKETS_TYPE, STATE_TYPE, lane_operator
from pipeline.lanes.outcome_packets import opened_outcomes
from pipeline.lanes.outcome_rows import UNNAMED, table_rows, unnamed_packets
from pipeline.lanes.seq_taken import Repeats, quarantine_taken, repeats_of
from pipeline.lanes.timing import lane_timing
from pipeline.lanes.unread_files import PackedFiles, unread_packed
from pipeline.run_context import RunContext
from pipeline.session_settings import FEW_ROWS_IN_JAVA, settings_of_query
from pipeline.settings import Settings
from pipeline.sources.kind import parse_limits
from pipeline.sources.parse.line import ParseLimits
from pipeline.store.files import files_at
from pipeline.warehouse.append import app_id_of, append_rows
from pipeline.warehouse.append_frame import append_in_tasks
from pipeline.warehouse.checkpoint import read_checkpoint, write_checkpoints_quickly
from pipeline.warehouse.layout import LANES, Warehouse
from pipeline.warehouse.log_cleanup import LogCleanup
from pipeline.warehouse.manifest import write_manifest
from pipeline.warehouse.names import known_names, name_rows
from schemas.field import Table
from schemas.lane_columns import LANE_KEY
from schemas.outcomes import KINDS, LANE_REPORT, LANE_REPORT_COLUMNS, LANE_REPORT_NEWEST
from schemas.tables import TABLES_BY_NAME
from schemas.tables.bookkeeping import NAMES
from schemas.tables.bronze import QUARANTINE

_LOG = logging.getLogger(__name__)

#: How long lanes wait for the names of a micro-batch that ingest is still finishing, in steps of NAMES_PAUSE_S.
NAMES_WAIT_S, NAMES_PAUSE_S = 120, 0.5
#: So many outcome rows of a micro-batch the driver takes and handles by itself, with so many bytes of states among them. A round of
#: checks over 100,000 topics gave 411,000 rows: the driver grew by 256 MB, and the micro-batch took 6 s where Spark's jobs made it 11 s.
FEW_ROWS, FEW_BYTES = 500_000, 20_000_000
#: Rows for which a micro-batch writes one more file into a table: most write one, and readers list fewer.
ROWS_PER_FILE = 200_000
#: Spark's setting for what opening a file of bronze costs, in bytes read: a millisecond. Of files of all sizes Spark gave one task most
#: bytes and the other most files: it takes opening one for as much as 4 MB of rows.
_OPENING, _OPENING_BYTES = "spark.sql.files.openCostInBytes", 262_144
#: Tables that the driver writes at the same time: a small commit waits for the file system, or the store, more than it works.
FEW_AT_ONCE = 16
_TABLES = {kind: name for name, kind in KINDS.items()}


def files_for(rows: int) -> int:
    """Files, and so tasks, for so many rows of one table."""
    return 1 + rows // ROWS_PER_FILE


def lane_outcomes(
    spark: SparkSession, warehouse: Warehouse, settings: Settings, *, packets_only: bool = False, after_rebuild: bool = False
) -> DataFrame:
    """The streaming frame of the operator's output (PACKETS_TYPE). `packets_only`: every event that it will read is in a packet."""
    bronze = _stream(spark, warehouse, "dispatch_events", after_rebuild, settings.lanes.max_bytes_per_batch)
    control = _stream(spark, warehouse, "lane_control", after_rebuild)
    if packets_only:
        events = packets(bronze)
    elif after_rebuild and not _packets_are_whole(spark, warehouse):
        events = packets_anew(bronze)
    else:
        events = all_packets(bronze)
    return (
        events.unionByName(control_rows(control))
        .groupBy(LANE_KEY)
        .applyInPandasWithState(lane_operator(lane_timing(settings)), PACKETS_TYPE, STATE_TYPE, "update", GroupStateTimeout.NoTimeout)
    )


def _stream(spark: SparkSession, warehouse: Warehouse, table: str, after_rebuild: bool, max_bytes: str | None = None) -> DataFrame:
    # OPTIMIZE and backfills rewrite files; lanes read what is appended
    path = warehouse.table(table)
    reader = spark.readStream.format("delta").option("skipChangeCommits", "true")
    if max_bytes is not None and not after_rebuild:
        reader = reader.option("maxBytesPerTrigger", max_bytes)
    is_new = not after_rebuild and not read_checkpoint(warehouse, LANES).planned
    if is_new and files_at(path).exists(f"{path}/_delta_log/{0:020}.json"):
        # A new query reads commit by commit. To read the table as it stands costs Delta some jobs before the first micro-batch.
        # One that goes on has its offsets. Told to begin at 0, Delta would refuse a table that `rebuild` made as it is declared.
        reader = reader.option("startingVersion", "0")
    return reader.load(path)


def begins_after_rebuild(warehouse: Warehouse) -> bool:
    """Whether the query begins over a table that may have been OPTIMIZEd.

    Delta then gives its files in no order, and only one whole micro-batch cannot mistake disorder for loss.
    """
    # Any planned micro-batch is one too many: of a query that has long begun Spark keeps the newest only.
    return files_at(warehouse.root).exists(warehouse.rebuild_marker) and not read_checkpoint(warehouse, LANES).planned


def _packets_are_whole(spark: SparkSession, warehouse: Warehouse) -> bool:
    """Whether lanes can read packets: somebody may have deleted events of dispatch_events by hand, packets or events in packets."""
    whole = packets_hold_every_event(spark.read.format("delta").load(warehouse.table("dispatch_events")))
    if not whole:
        _LOG.warning("dispatch_events: rows were deleted by hand, so packets hold other events than its rows; lanes pack the rows anew")
    return whole


def start_lanes(spark: SparkSession, warehouse: Warehouse, settings: Settings, run: RunContext, trigger: dict[str, Any]) -> StreamingQuery:
    """Start the lanes query with `trigger` (keyword arguments of DataStreamWriter.trigger)."""
    write_checkpoints_quickly(spark, warehouse)
    after_rebuild = begins_after_rebuild(warehouse)
    packed = unread_packed(warehouse, LANES, after_rebuild=after_rebuild)
    with settings_of_query(spark, {_OPENING: _OPENING_BYTES, **(FEW_ROWS_IN_JAVA if packed is not None else {})}):
        return (
            lane_outcomes(spark, warehouse, settings, packets_only=packed is not None, after_rebuild=after_rebuild)
            .writeStream.queryName(LANES)
            .outputMode("update")
            .option("checkpointLocation", warehouse.checkpoint(LANES))
            .foreachBatch(
                _writer(warehouse, run, parse_limits(settings.ingest), packed, LogCleanup(warehouse, settings.stream.keep_versions))
            )
            .trigger(**trigger)
            .start()
        )


def _writer(
    warehouse: Warehouse, run: RunContext, limits: ParseLimits, packed: PackedFiles | None, logs: LogCleanup
) -> Callable[[DataFrame, int], None]:
    newest = newest_events(warehouse)

    def write(batch: DataFrame, batch_id: int) -> None:
        run.before_micro_batch()
        if packed is not None:
            packed.check()
        spark = batch.sparkSession
        query_id = spark.sparkContext.getLocalProperty("sql.streaming.queryId") or ""
        batch.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            report, newest_ts, repeats, sizes, in_hand = _count(batch, newest)
            few, many = shared_out(sizes)
            _write_few(_packets_of(batch, few, sizes, in_hand), few, warehouse, run, query_id, batch_id)
            _write_many(_of_tables(batch, many), many, sizes, warehouse, run, query_id, batch_id)
            if repeats:
                taken = (app_id_of(query_id, QUARANTINE.name), batch_id)
                quarantine_taken(warehouse, repeats, run.now(), limits, taken)
            logs.after(write_manifest(warehouse, run, LANES, query_id, batch_id, report, newest.rows))
            run.after_micro_batch(LANES, batch_id, {**report, LANE_REPORT_NEWEST: newest_ts})
        finally:
            batch.unpersist()

    return write


@dataclass(frozen=True)
class Size:
    """How much one table gets: rows, bytes of states among them, and in how many packets."""

    rows: int
    payload_bytes: int
    packets: int = 1

    def and_packet(self, rows: int, payload_bytes: int) -> "Size":
        """With one packet more."""
        return Size(self.rows + rows, self.payload_bytes + payload_bytes, self.packets + 1)


#: Packets of outcomes by table.
Packets = Mapping[str, list[bytes]]


def _count(batch: DataFrame, newest: NewestEvents) -> tuple[dict[str, int], int, list[Repeats], dict[str, Size], Packets]:
    """One full action over the persisted batch: every lane runs and commits its state here, once.

    Adds to `newest` the lanes' newest events. Returns the summed report, the greatest `ts` that was read (µs; 0: none), the bounds of
    repeats, how much each table gets, and the packets that come with the counts.
    """
    at_once = F.when(F.col("with_counts") == 1, F.col("outcome")).alias("outcome")
    packets = batch.select("kind", "rows", "payload_bytes", at_once).toArrow().to_pylist()
    reports = [packet["outcome"] for packet in packets if packet["kind"] == KINDS[LANE_REPORT]]
    report, newest_ts = dict.fromkeys(LANE_REPORT_COLUMNS, 0), 0
    repeats: list[Repeats] = []
    if reports:
        lanes = opened_outcomes(LANE_REPORT, reports)
        report = {name: pc.sum(lanes[name]).as_py() for name in LANE_REPORT_COLUMNS}
        newest_ts = pc.max(lanes[LANE_REPORT_NEWEST]).as_py()
        repeats = repeats_of(lanes)
        newest.add(lanes)
    sizes: dict[str, Size] = {}
    in_hand: dict[str, list[bytes]] = {}
    for packet in packets:
        if packet["kind"] != KINDS[LANE_REPORT]:
            name = _TABLES[packet["kind"]]
            sizes[name] = sizes.get(name, Size(0, 0, 0)).and_packet(packet["rows"], packet["payload_bytes"])
            if packet["outcome"] is not None:
                in_hand.setdefault(name, []).append(packet["outcome"])
    return report, newest_ts, repeats, sizes, in_hand


def _packets_of(batch: DataFrame, tables: Sequence[Table], sizes: Mapping[str, Size], in_hand: Packets) -> Packets:
    """All packets of the tables: those in hand, and of tables with larger ones what a job fetches."""
    missing = [table for table in tables if len(in_hand.get(table.name, [])) < sizes[table.name].packets]
    fetched = _of_tables(batch, missing).select("kind", "outcome").toArrow() if missing else None
    found = {table.name: in_hand[table.name] for table in tables if table not in missing}
    for table in missing:
        assert fetched is not None
        found[table.name] = fetched.filter(pc.equal(fetched["kind"], KINDS[table.name]))["outcome"].to_pylist()
    return found


def shared_out(sizes: Mapping[str, Size]) -> tuple[list[Table], list[Table]]:
    """The tables whose rows the driver takes, the smallest first as long as they are few together; and the others."""
    few: list[Table] = []
    rows = payload_bytes = 0
    by_size = sorted(sizes, key=lambda name: (sizes[name].rows, sizes[name].payload_bytes, name))
    for name in by_size:
        more_rows, more_bytes = rows + sizes[name].rows, payload_bytes + sizes[name].payload_bytes
        if more_rows <= FEW_ROWS and more_bytes <= FEW_BYTES:
            rows, payload_bytes = more_rows, more_bytes
            few.append(TABLES_BY_NAME[name])
    return few, [TABLES_BY_NAME[name] for name in by_size if TABLES_BY_NAME[name] not in few]


def _of_tables(batch: DataFrame, tables: Sequence[Table]) -> DataFrame:
    return batch.where(F.col("kind").isin([KINDS[table.name] for table in tables]))


def _write_few(packets: Packets, tables: Sequence[Table], warehouse: Warehouse, run: RunContext, query_id: str, batch_id: int) -> None:
    """By way of the driver: a job of Spark per table would take longer than everything else."""
    if not tables:
        return
    outcomes = {name: opened_outcomes(name, of_table) for name, of_table in packets.items()}

    def resolved() -> NamedOutcomes | None:
        few = NamedOutcomes(outcomes, name_rows(known_names(warehouse, ids_in(outcomes.values()).to_pylist())))
        return None if few.lacks_text() else few

    few = _when_named(resolved, warehouse, run)
    with ThreadPoolExecutor(FEW_AT_ONCE) as threads:
        appended = [
            threads.submit(append_rows, warehouse, table, partial(few.slices_of, table), (app_id_of(query_id, table.name), batch_id))
            for table in tables
        ]
        for waiting in appended:
            waiting.result()


def _write_many(
    outcomes: DataFrame,
    tables: Sequence[Table],
    sizes: Mapping[str, Size],
    warehouse: Warehouse,
    run: RunContext,
    query_id: str,
    batch_id: int,
) -> None:
    """By the tasks: they write files, and the driver commits them."""
    if not tables:
        return
    names = warehouse.table(NAMES.name)

    def named() -> bool | None:
        rows = outcomes.mapInArrow(partial(unnamed_packets, names), UNNAMED).where("packets > 0")
        return True if rows.isEmpty() else None

    _when_named(named, warehouse, run)

    def append(table: Table) -> None:
        packets = _of_tables(outcomes, [table]).repartition(min(sizes[table.name].packets, files_for(sizes[table.name].rows)))
        once, name = (app_id_of(query_id, table.name), batch_id), f"{run.run_id}-{batch_id}"
        append_in_tasks(packets, warehouse, table, once, name, partial(table_rows, table, names))

    with ThreadPoolExecutor(len(tables)) as pool:
        for written in [pool.submit(append, table) for table in tables]:
            written.result()


#: What is there when every id has its text.
Resolved = TypeVar("Resolved", bool, NamedOutcomes)


def _when_named(resolved: Callable[[], Resolved | None], warehouse: Warehouse, run: RunContext) -> Resolved:
    """What `resolved` gives when every id has its text. Ingest writes bronze before names, so a name may still be on its way."""
    for _ in range(int(NAMES_WAIT_S / NAMES_PAUSE_S)):
        found = resolved()
        if found is not None:
            return found
        run.pause(NAMES_PAUSE_S)
    raise BadWarehouse(
        f"names of ids in {warehouse.table('dispatch_events')} are missing: ingest did not finish its micro-batch; start `stream` again"
    )
