"""Points of the collector, by the names that `missing_points` has, and the event types that lack something where a point is missing.

collector/…/points/Points.java declares the same, and a test compares. A point of a later collector means nothing here.
"""

from collections.abc import Iterable

from schemas.events.types import CODES

POINTS: dict[str, tuple[str, ...]] = {
    "broker_start": ("broker_start",),
    "broker_stop": ("broker_stop",),
    "topic_load": ("topic_load", "topic_unload", "ledger_open", "ledger_close", "cursor_open", "backlog_quota"),
    "topic_unload": ("topic_unload",),
    "backlog_quota": ("backlog_quota", "policy_set"),
    "publish_rate": ("publish_rate",),
    "dispatch_rate": ("dispatch_rate",),
    "ledger_open": ("ledger_open",),
    "ledger_close": ("ledger_close",),
    "ledger_trim": ("ledger_trim",),
    "cursor_open": ("cursor_open",),
    "cursor_close": ("cursor_close",),
    "mark_delete": ("mark_delete",),
    "mark_delete_persisted": ("mark_delete",),
    "mark_delete_reset": ("mark_delete",),
    "cursor_heap": ("cursor_open",),
    "dispatcher_open": ("dispatcher_open",),
    "dispatcher_close": ("dispatcher_close",),
    "consumer_open": ("consumer_open",),
    "consumer_close": ("consumer_close",),
    "producer_open": ("producer_open",),
    "producer_close": ("producer_close",),
    "publish": ("publish",),
    "read": ("read",),
    "read_permits": ("read",),
    "read_answers_msgs": ("read",),
    "read_answers_bytes": ("read",),
    "read_asked": ("read_done",),
    "read_done": ("read_done",),
    "flow": ("flow",),
    "consumer_blocked": ("consumer_blocked",),
    "dispatcher_blocked": ("consumer_blocked",),
    "delayed": ("delayed",),
    "redeliver": ("redeliver",),
    "redeliver_of_closed": ("redeliver",),
    "compaction": ("compaction",),
    "transaction": ("transaction",),
    "dispatch": ("dispatch",),
    "ack_consumer": ("ack",),
    "ack": ("ack",),
    "quota_round": ("quota_round",),
    "quota_check": ("quota_check",),
    "quota_check_by_producer": ("quota_check",),
    "quota_exceeded": ("quota_exceeded",),
    "conn_open": ("conn_open",),
    "conn_close": ("conn_close",),
    "writability": ("writability",),
    "throttle": ("throttle",),
    "request": ("request",),
    "state": ("state", "topic_state", "consumer_state", "limiter_state"),
    "dispatch_share": ("dispatch_share",),
    "keys_blocked": ("keys_blocked",),
    "transaction_open": ("transaction_open",),
    "transaction_end": ("transaction_end",),
    "producer_refused": ("producer_refused",),
    "replicator_connection": ("replicator_connection",),
    "replicator_read": ("replicator_read",),
    "broker_ack": ("broker_ack",),
    "moved_by": (),
    "attach": ("broker_start",),
}


def bits_of(event_types: Iterable[str]) -> int:
    """A set of event types as a number: the bit of each is its code."""
    return sum(1 << CODES[name] for name in set(event_types))


#: Point → the event types that lack something without it, as bits.
BITS_OF_POINTS = {point: bits_of(types) for point, types in POINTS.items()}
