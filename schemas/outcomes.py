"""How an outcome travels from a lane to its table: one int64 row, text left behind as ids, nulls as NULL.

An outcome row of a table is `topic_id, sub_id`, then the table's columns in declared order without the text that ids stand for;
`completeness` travels as the two counts it is the quotient of. Booleans are 0 and 1, enumerations positions in ENUMS, timestamps µs.
"""

from schemas.completeness import INCOMPLETE_REASONS
from schemas.lane_columns import united
from schemas.packages import PACKAGES
from schemas.tables import LANE_TABLES
from schemas.tables.lane_snapshots import MILESTONES

#: Stands for null: no value of ours is the smallest int64.
NULL = -(2**63)
#: Columns whose text is joined back from `names` by id, and the level of the name that they show.
TEXT_OF_IDS = {
    "broker": "broker",
    "topic": "topic",
    "subscription": "subscription",
    "oldest_backlog_message_subscription_name": "subscription",
}
#: The column that is no number: it travels beside the row, as its payload.
PAYLOAD = "state"
#: Columns that a lane leaves null.
FILLED_LATER = ("backfilled_by",)
#: Columns whose text travels as its position: those that lanes report, and the packages'.
ENUMS: dict[str, tuple[str, ...]] = united(
    (
        {
            "milestone": MILESTONES,
            "kind": ("lost", "clock_step"),
            "reason": ("given_up", "quarantined", "epoch_over"),
            "incomplete_reason": tuple(INCOMPLETE_REASONS),
        },
        *(package.enumerations for package in PACKAGES),
    )
)


def texts_of(table: str, column: str) -> tuple[str, ...] | None:
    """The texts of a column whose text travels as its position, or None: it is no such column."""
    return ENUMS.get(f"{table}.{column}", ENUMS.get(column))


#: What one lane reports of one micro-batch: sums of it go into batch_manifest.
LANE_REPORT = "lane_report"
LANE_REPORT_COLUMNS = ("rows_in", "quarantined", "applied", "duplicates", "late", "held", "lost", "state_bytes")
#: The one that is no sum: greatest `ts` (µs) among the rows that came, 0 without any.
LANE_REPORT_NEWEST = "newest_ts"
#: Bounds of the events that were left out because their places were taken, 0 without any: which events to compare with those.
LANE_REPORT_REPEATS = ("repeats_first_epoch", "repeats_last_epoch", "repeats_first_seq", "repeats_last_seq")

#: The newest epoch of which an event was applied, and the greatest `ts` (µs) of its clock segment by then; NULL where none was applied.
LANE_REPORT_REACHED = ("reached_epoch", "reached_ts")


def _columns(names: tuple[str, ...]) -> tuple[str, ...]:
    kept: list[str] = ["topic_id", "sub_id"]
    for name in names:
        if name == "completeness":
            kept += ["window_applied", "window_missing"]
        elif name not in TEXT_OF_IDS and name not in (PAYLOAD, *FILLED_LATER):
            kept.append(name)
    return tuple(kept)


#: Columns of each kind of outcome row.
OUTCOME_COLUMNS: dict[str, tuple[str, ...]] = {
    **{table.name: _columns(table.names) for table in LANE_TABLES},
    LANE_REPORT: ("topic_id", "sub_id", *LANE_REPORT_COLUMNS, LANE_REPORT_NEWEST, *LANE_REPORT_REPEATS, *LANE_REPORT_REACHED),
}
#: Number by which a row names its table, on its way within one micro-batch.
KINDS = {name: number for number, name in enumerate(OUTCOME_COLUMNS)}
