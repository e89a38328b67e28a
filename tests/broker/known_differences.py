"""Differences between our tables and a broker whose reason is known, and is not in the log: they are counted, and shown, and fail nothing.

Each is found by its reason, never by its figure. docs/guide/collector.md names them for users (known differences).
"""

from collections.abc import Callable
from typing import Any

#: The broker checks every 5 s in all scenarios but one.
ROUND_US = 5_000_000
#: A step of an eviction takes milliseconds.
BLOCKED_US = 1_000_000
Event = dict[str, Any]
Finding = tuple[Any, ...]


def eviction_while_entries_arrive(events: list[Event]) -> Callable[[Finding], bool]:
    """A size eviction of several steps is planned when it begins; the broker computes each step anew, from what has arrived until then."""
    meanwhile = _amid(events, "publish", "ack")
    return lambda finding: _evicted_by_size_otherwise(finding) and meanwhile(finding[1])


def eviction_while_a_ledger_goes(events: list[Event]) -> Callable[[Finding], bool]:
    """A ledger is trimmed between two steps of a size eviction, and the broker takes a size from before it for the one after it.

    `getEstimatedBacklogSize` of ManagedLedgerImpl adds up the ledgers under one lock, and looks under another for the one where the slowest
    cursor stands. If the trim comes between, the bytes of that ledger stay in the sum.
    """
    meanwhile = _amid(events, "ledger_trim")
    return lambda finding: _evicted_by_size_otherwise(finding) and finding[1]["cursors_planned"] > 1 and meanwhile(finding[1])


def _evicted_by_size_otherwise(finding: Finding) -> bool:
    return finding[0] == "moved otherwise" and finding[1]["disagreement"] == "other_target" and finding[1]["quota_type"] == "size"


def _amid(events: list[Event], *types: str) -> Callable[[dict[str, Any]], bool]:
    """Whether an event of these types was written for an eviction's topic between decision and end."""
    at: dict[str, list[int]] = {}
    for event in events:
        if event["type"] in types:
            at.setdefault(event["topic"], []).append(event["ts"])
    return lambda row: any(row["decided_at"] <= ts <= row["resolved_at"] for ts in at.get(row["topic"], []))


def eviction_that_was_interrupted(events: list[Event]) -> Callable[[Finding], bool]:
    """The topic was unloaded amid an eviction, which Pulsar blocks for 30 s where it needs its own thread: no check ended."""
    ends = {event["ts"] for event in events if event["type"] in ("quota_check", "broker_stop", "topic_unload")}
    closings = sorted(event["ts"] for event in events if event["type"] in ("broker_stop", "topic_unload"))

    def is_one(finding: Finding) -> bool:
        row = finding[1]
        return (
            finding[0] == "moved otherwise"
            and row["disagreement"] == "other_target"
            and any(row["resolved_at"] <= at <= row["resolved_at"] + ROUND_US for at in closings)
            and row["resolved_at"] in ends
            and row["resolved_at"] - row["decided_at"] > BLOCKED_US
        )

    return is_one


def unknown_deletions(events: list[Event]) -> Callable[[Finding], bool]:
    """A snapshot has how many entries behind a cursor are deleted, not which.

    So nobody knows what the cursor passes, nor where an eviction takes it. The rows say so: they are not complete.
    """
    of = {(e["topic"], e["sub"]) for e in events if e["type"] == "cursor_open" and e.get("snapshot") and e.get("entries", 0) > 0}

    def is_one(finding: Finding) -> bool:
        if finding[0] == "moved otherwise":
            row = finding[1]
            return (
                row["disagreement"] == "other_target"
                and row["incomplete_reason"] == "deletions_unknown"
                and row["topic"] in {t for t, _ in of}
            )
        if finding[0] == "the log does not tell":
            return bool(of)
        sub, _, figure = str(finding[2]).rpartition(".")
        return (finding[0], sub) in of and figure in ("msgBacklog", "backlogSize")

    return is_one


def look_before_the_check_ends(events: list[Event]) -> Callable[[Finding], bool]:
    """A precise check looks for the oldest message when its round runs, and ends when storage has answered. The log has the end.

    Where that comes after the end of the round, the look was earlier by as much: until the next check, age and subscription may differ.
    """
    late, round_end, last = set[tuple[str, int]](), 0, dict[str, list[int]]()
    for event in events:
        if event["type"] == "quota_round" and event["phase"] == "end":
            round_end = event["ts"]
        elif event["type"] == "quota_check" and "duration_us" in event:
            last.setdefault(event["topic"], []).append(event["ts"])
            if event["ts"] - event["duration_us"] < round_end < event["ts"]:
                late.add((event["topic"], event["ts"]))

    def is_one(finding: Finding) -> bool:
        topic, at, figure = finding[:3]
        before = [checked for checked in last.get(topic, []) if checked <= at]
        return str(figure).startswith("oldestBacklogMessage") and bool(before) and (topic, before[-1]) in late

    return is_one
