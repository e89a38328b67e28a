"""Every table of the warehouse, in the order in which data reaches them."""

from schemas.field import Table
from schemas.packages import PACKAGES
from schemas.tables.backfills import BACKFILLS
from schemas.tables.bookkeeping import BATCH_MANIFEST, INGEST_FILES, LANE_CONTROL, NAMES
from schemas.tables.broker_windows import BROKER_WINDOWS
from schemas.tables.bronze import DISPATCH_EVENTS, QUARANTINE, QUARANTINE_REPLAYS
from schemas.tables.gaps import LATE_EVENTS, LOG_GAPS
from schemas.tables.lane_snapshots import LANE_SNAPSHOTS
from schemas.tables.quality import QUALITY_RESULTS
from schemas.tables.watch import QUERY_PROGRESS, RUN_LEDGER

#: What the packages of rules compute.
PACKAGE_TABLES: tuple[Table, ...] = tuple(table for package in PACKAGES for table in package.tables)
#: What lanes report of the log and of themselves.
_LANE_TABLES: tuple[Table, ...] = (BROKER_WINDOWS, LOG_GAPS, LATE_EVENTS, LANE_SNAPSHOTS)
#: All that lanes write.
LANE_TABLES: tuple[Table, ...] = (*PACKAGE_TABLES, *_LANE_TABLES)
#: What the job writes, batch_manifest last; of quarantine_replays it makes the empty table.
JOB_TABLES: tuple[Table, ...] = (
    DISPATCH_EVENTS,
    QUARANTINE,
    QUARANTINE_REPLAYS,
    NAMES,
    INGEST_FILES,
    LANE_CONTROL,
    *PACKAGE_TABLES,
    *_LANE_TABLES,
    BATCH_MANIFEST,
)
#: What the job reports of itself. It goes on without them: their rows are not computed from the log, and a rebuild keeps them.
WATCH_TABLES: tuple[Table, ...] = (RUN_LEDGER, QUERY_PROGRESS)
#: They report on the others. No micro-batch writes them: they are no part of a consistent cut, and an older warehouse may lack them.
REPORT_TABLES: tuple[Table, ...] = (QUALITY_RESULTS, BACKFILLS, *WATCH_TABLES)
TABLES: tuple[Table, ...] = (*JOB_TABLES, *REPORT_TABLES)
TABLES_BY_NAME = {table.name: table for table in TABLES}
