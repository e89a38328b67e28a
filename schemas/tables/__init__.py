"""Every table of the warehouse, in the order in which data reaches them."""

from schemas.field import Table
from schemas.tables.backlog import SUBSCRIPTION_BACKLOG, TOPIC_BACKLOG
from schemas.tables.bookkeeping import BATCH_MANIFEST, INGEST_FILES, LANE_CONTROL, NAMES
from schemas.tables.bronze import DISPATCH_EVENTS, QUARANTINE, QUARANTINE_REPLAYS
from schemas.tables.gaps import LATE_EVENTS, LOG_GAPS
from schemas.tables.limiter_windows import LIMITER_WINDOWS
from schemas.tables.quality import QUALITY_RESULTS
from schemas.tables.quotas import QUOTA_CHECKS, QUOTA_EVICTION_MOVES, QUOTA_EVICTIONS
from schemas.tables.subscription_throttle import SUBSCRIPTION_THROTTLE

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
    LOG_GAPS,
    LATE_EVENTS,
    BATCH_MANIFEST,
)
#: `quality_results` tells of the others. The job does not write it: it is no part of a consistent cut, and an older warehouse may lack it.
TABLES: tuple[Table, ...] = (*JOB_TABLES, QUALITY_RESULTS)
TABLES_BY_NAME = {table.name: table for table in TABLES}
