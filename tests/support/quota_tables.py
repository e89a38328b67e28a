"""The product's backlog tables in the words of the quota bookkeeper, so that the two can be compared row for row."""

from typing import Any

Row = dict[str, Any]
Tables = dict[str, list[Row]]
SUBSCRIPTION = {
    "durable": "durable",
    "msg_backlog": "msg_backlog",
    "backlog_size": "backlog_size",
    "msgs": "backlog_messages",
}
CHECK = {
    "epoch": "epoch",
    "topic": "topic",
    "check_time_us": "check_time",
    "backlog_size": "backlog_size",
    "oldest_name": "oldest_backlog_message_subscription_name",
    "evictions_size": "storage_backlog_quota_exceeded_evictions_size",
    "evictions_time": "storage_backlog_quota_exceeded_evictions_time",
    "complete": "complete",
}
SYSTEM_CURSORS = ("pulsar.dedup", "pulsar.repl")


def checks_of(tables: Tables) -> list[Row]:
    """Every check of a topic with life in the log, as the bookkeeper writes it, in the order of the checks of each topic."""
    by_check: dict[tuple[Any, ...], list[Row]] = {}
    for row in tables["subscription_backlog"]:
        if not row["subscription"].startswith(SYSTEM_CURSORS):
            by_check.setdefault((row["epoch"], row["check_number"]), []).append(row)
    alive = [row for row in tables["topic_backlog"] if row["backlog_size"] is not None]
    alive.sort(key=lambda row: (row["epoch"], row["topic"], row["check_number"]))
    return [_check(row, by_check.get((row["epoch"], row["check_number"]), [])) for row in alive]


def _check(row: Row, subscriptions: list[Row]) -> Row:
    age_s = row["oldest_backlog_message_age_seconds"]
    return {
        **{theirs: row[ours] for theirs, ours in CHECK.items()},
        "limit_size": -1 if row["backlog_quota_limit_size"] is None else row["backlog_quota_limit_size"],
        "limit_time": -1 if row["backlog_quota_limit_time"] is None else row["backlog_quota_limit_time"],
        "oldest_ts_ms": ms_of(row["oldest_believed_time"]),
        "age_s": -1 if age_s is None else age_s,
        "decision": row["decision"] if row["decision"] in ("size", "time") else None,
        "subscriptions": [_subscription(one) for one in sorted(subscriptions, key=lambda one: str(one["subscription"]))],
    }


def _subscription(row: Row) -> Row:
    return {
        "sub": row["subscription"],
        **{theirs: row[ours] for theirs, ours in SUBSCRIPTION.items()},
        "true_oldest_publish_ts_ms": ms_of(row["oldest_publish_time"]),
        "mark_delete": (row["mark_delete_ledger"], row["mark_delete_entry"]),
    }


def evictions_of(tables: Tables) -> list[Row]:
    """Every decision to act with its moves, as the bookkeeper writes it, in order."""
    moves: dict[tuple[int, int], list[Row]] = {}
    for row in tables["quota_eviction_moves"]:
        moves.setdefault((row["epoch"], row["check_number"]), []).append(row)
    decisions = sorted(tables["quota_evictions"], key=lambda row: (row["epoch"], row["topic"], row["check_number"]))
    return [
        {
            "epoch": row["epoch"],
            "time_us": row["decided_at"],
            "topic": row["topic"],
            "quota_type": row["quota_type"] if row["action"] != "none" else None,
            "agrees": row["agrees"],
            "moves": {
                move["subscription"]: ((move["planned_ledger"], move["planned_entry"]), move["entries_planned"])
                for move in moves.get((row["epoch"], row["check_number"]), [])
                if move["entries_planned"] > 0
            },
        }
        for row in decisions
    ]


def ms_of(us: int | None) -> int | None:
    """A time of the tables in ms."""
    return None if us is None else us // 1000
