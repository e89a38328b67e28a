"""Every table of the warehouse, in the order in which data reaches them."""

from schemas.field import Table
from schemas.tables.bookkeeping import BATCH_MANIFEST, INGEST_FILES, LANE_CONTROL, NAMES
from schemas.tables.bronze import DISPATCH_EVENTS, QUARANTINE
from schemas.tables.gaps import LATE_EVENTS, LOG_GAPS
from schemas.tables.limiter_windows import LIMITER_WINDOWS
from schemas.tables.subscription_throttle import SUBSCRIPTION_THROTTLE

TABLES: tuple[Table, ...] = (
    DISPATCH_EVENTS,
    QUARANTINE,
    NAMES,
    INGEST_FILES,
    LANE_CONTROL,
    SUBSCRIPTION_THROTTLE,
    LIMITER_WINDOWS,
    LOG_GAPS,
    LATE_EVENTS,
    BATCH_MANIFEST,
)
TABLES_BY_NAME = {table.name: table for table in TABLES}
