"""Every table of the warehouse, in the order in which data reaches them."""

from schemas.field import Table
from schemas.tables.backfills import BACKFILLS
from schemas.tables.backlog import SUBSCRIPTION_BACKLOG, TOPIC_BACKLOG
from schemas.tables.bookkeeping import BATCH_MANIFEST, INGEST_FILES, LANE_CONTROL, NAMES
from schemas.tables.bronze import DISPATCH_EVENTS, QUARANTINE, QUARANTINE_REPLAYS
from schemas.tables.channels import CHANNEL_BACKPRESSURE, CHANNEL_MEMORY, CHANNEL_TRANSITIONS, TOPIC_PUBLISH_PAUSES
from schemas.tables.gaps import LATE_EVENTS, LOG_GAPS
from schemas.tables.lane_answers import LANE_ANSWERS
from schemas.tables.lane_snapshots import LANE_SNAPSHOTS
from schemas.tables.limiter_windows import LIMITER_WINDOWS
from schemas.tables.quality import QUALITY_RESULTS
from schemas.tables.quotas import QUOTA_CHECKS, QUOTA_EVICTION_MOVES, QUOTA_EVICTIONS
from schemas.tables.subscription_throttle import SUBSCRIPTION_THROTTLE
from schemas.tables.watch import QUERY_PROGRESS, RUN_LEDGER

#: What lanes compute, in the order of their numbers on the way (pipeline/lanes/outcomes.py): new ones go to the end.
LANE_TABLES: tuple[Table, ...] = (
    SUBSCRIPTION_THROTTLE,
    LIMITER_WINDOWS,
    LOG_GAPS,
    LATE_EVENTS,
    TOPIC_BACKLOG,
    SUBSCRIPTION_BACKLOG,
    QUOTA_EVICTIONS,
    QUOTA_EVICTION_MOVES,
    QUOTA_CHECKS,
    LANE_SNAPSHOTS,
    LANE_ANSWERS,
    CHANNEL_BACKPRESSURE,
    CHANNEL_TRANSITIONS,
    TOPIC_PUBLISH_PAUSES,
    CHANNEL_MEMORY,
)
#: What the job writes, batch_manifest last; of quarantine_replays it makes the empty table.
JOB_TABLES: tuple[Table, ...] = (
    DISPATCH_EVENTS,
    QUARANTINE,
    QUARANTINE_REPLAYS,
    NAMES,
    INGEST_FILES,
    LANE_CONTROL,
    SUBSCRIPTION_THROTTLE,
    LIMITER_WINDOWS,
    TOPIC_BACKLOG,
    SUBSCRIPTION_BACKLOG,
    QUOTA_EVICTIONS,
    QUOTA_EVICTION_MOVES,
    QUOTA_CHECKS,
    CHANNEL_BACKPRESSURE,
    CHANNEL_TRANSITIONS,
    TOPIC_PUBLISH_PAUSES,
    CHANNEL_MEMORY,
    LOG_GAPS,
    LATE_EVENTS,
    LANE_SNAPSHOTS,
    LANE_ANSWERS,
    BATCH_MANIFEST,
)
#: What the job tells of itself. It goes on without them: their rows are not computed from the log, and a rebuild keeps them.
WATCH_TABLES: tuple[Table, ...] = (RUN_LEDGER, QUERY_PROGRESS)
#: Tell of the others. No micro-batch writes them: they are no part of a consistent cut, and an older warehouse may lack them.
REPORT_TABLES: tuple[Table, ...] = (QUALITY_RESULTS, BACKFILLS, *WATCH_TABLES)
TABLES: tuple[Table, ...] = (*JOB_TABLES, *REPORT_TABLES)
TABLES_BY_NAME = {table.name: table for table in TABLES}
