"""How an outcome travels from a lane to its table: one int64 row, text left behind as ids, nulls as NULL.

An outcome row of a table is `topic_id, sub_id`, then the table's columns in declared order without the text that ids stand for;
`completeness` travels as the two counts it is the quotient of. Booleans are 0 and 1, enumerations positions in ENUMS, timestamps µs.
"""

import numpy as np

from pipeline.machines.array import Array
from pipeline.machines.outcome import Rows
from schemas.events import LIMITER_KINDS, LIMITER_LEVELS, QUOTA_POLICIES, SUB_TYPES, THROTTLE_TYPES
from schemas.tables import LANE_TABLES
from schemas.tables.backlog import CHECK_SOURCES, DECISIONS
from schemas.tables.channels import CHANNEL_CHANGES, LEVEL_SOURCES, SETTINGS_VOCABULARIES, TRANSITION_CAUSES
from schemas.tables.lane_answers import ANSWERS
from schemas.tables.lane_snapshots import SNAPSHOT_MARKS
from schemas.tables.quotas import ACTIONS, DISAGREEMENTS, QUOTA_TYPE_LABELS

#: Columns whose text is joined back from `names` by id, and the level of the name that they show.
TEXT_OF_IDS = {
    "broker": "broker",
    "topic": "topic",
    "subscription": "subscription",
    "oldest_backlog_message_subscription_name": "subscription",
}
#: The column that is no number: it travels beside the row, as `Rows.payload`.
PAYLOAD = "state"
#: Columns that a lane leaves null.
FILLED_LATER = ("backfilled_by",)
SOURCES = ("observed", "modelled", "mixed", "none")
ENUMS: dict[str, tuple[str, ...]] = {
    "mark": SNAPSHOT_MARKS,
    "answer": ANSWERS,
    "kind": ("lost", "clock_step"),
    "sub_type": SUB_TYPES,
    "source": SOURCES,
    "level": LIMITER_LEVELS,
    "limiter": LIMITER_KINDS,
    "dimension": ("msg", "bytes"),
    "check_source": CHECK_SOURCES,
    "decision": DECISIONS,
    "quota_type": QUOTA_TYPE_LABELS,
    "broker_quota_type": QUOTA_TYPE_LABELS,
    "action": ACTIONS,
    "disagreement": DISAGREEMENTS,
    **dict.fromkeys(("policy", "policy_size", "policy_time", "broker_policy"), QUOTA_POLICIES),
    "settings_vocabulary": SETTINGS_VOCABULARIES,
    "change": CHANNEL_CHANGES,
    "throttle_type": THROTTLE_TYPES,
    "cause": TRANSITION_CAUSES,
    "known_from": LEVEL_SOURCES,
    "reason": ("given_up", "quarantined", "epoch_over"),
}
#: What one lane reports of one micro-batch: sums of it go into batch_manifest.
LANE_REPORT = "lane_report"
LANE_REPORT_COLUMNS = ("rows_in", "quarantined", "applied", "duplicates", "late", "held", "lost", "state_bytes")
#: The one that is no sum: greatest `ts` (µs) among the rows that came, 0 without any.
LANE_REPORT_NEWEST = "newest_ts"


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
    LANE_REPORT: ("topic_id", "sub_id", *LANE_REPORT_COLUMNS, LANE_REPORT_NEWEST),
}
#: Number by which a row says what it is; never reused.
KINDS = {name: number for number, name in enumerate(OUTCOME_COLUMNS)}
#: Values after `topic_id, sub_id` in the widest row: every row travels at this width.
OUTCOME_WIDTH = max(len(columns) for columns in OUTCOME_COLUMNS.values())


def encode_rows(rows: Rows) -> Array:
    """int64 [rows.count, len(OUTCOME_COLUMNS[rows.table])]; ids that are not given are 0.

    Raises KeyError for a column that is missing, or not of the table.
    """
    columns = OUTCOME_COLUMNS[rows.table]
    unknown = set(rows.columns) - set(columns)
    missing = set(columns) - set(rows.columns) - {"topic_id", "sub_id"}
    if unknown or missing:
        raise KeyError(f"outcome of {rows.table}: unknown {sorted(unknown)}, missing {sorted(missing)}")
    encoded = np.zeros((rows.count, len(columns)), dtype=np.int64, order="F")
    for name, value in rows.columns.items():
        encoded[:, columns.index(name)] = value
    return encoded
