"""Rows about a topic as a whole, as of an instant: its newest quota check, all cursors of it, what its quotas did. It only asks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.packages.broker import KINDS_BY_NAME
from schemas.render.ddl import quoted

Row = dict[str, Any]
_COMPACTION = next(name for name, kind in KINDS_BY_NAME.items() if kind == "compaction")


@dataclass(frozen=True)
class TopicRows:
    """`check`: of topic_backlog, null where none was seen. `cursors`: of subscription_backlog at that check. `decisions`: rows of
    quota_evictions since the last check that decided nothing, the oldest first: what lasts. `moves`: of quota_eviction_moves, all.
    `producer_events`: since the first of `decisions`, by `type`: how many producers asked for the age, and were opened.
    `compactions`: `at` and `error` of those that ended. `log_version` is null for a log of version 1.0.
    """

    check: Row | None
    cursors: list[Row]
    decisions: list[Row]
    moves: list[Row]
    producer_events: list[Row]
    compactions: list[Row]
    log_version: str | None


def topic_rows(look: Queries, broker: str, epoch: int, topic: str, until: datetime) -> TopicRows:
    """Of the topic on this broker up to `until`."""
    of_broker = f"broker = {quoted(broker)} AND epoch = {epoch}"
    here = f"{of_broker} AND topic = {quoted(topic)}"
    checks = look.rows(f"SELECT * FROM topic_backlog WHERE {here} AND check_time <= {instant(until)} ORDER BY check_number DESC LIMIT 1")
    check = checks[0] if checks else None
    at = f"{here} AND check_number = {check['check_number']}" if check is not None else ""
    cursors = look.rows(f"SELECT * FROM subscription_backlog WHERE {at} ORDER BY subscription") if at else []
    decisions = _decisions(look, here, until) if check is not None and check["decision"] in ("size", "time") else []
    started = look.rows(f"SELECT log_version FROM dispatch_events WHERE seq = 1 AND type = 'broker_start' AND {of_broker}")
    return TopicRows(
        check=check,
        cursors=cursors,
        decisions=decisions,
        moves=look.rows(
            f"SELECT * FROM quota_eviction_moves WHERE {here} AND decided_at <= {instant(until)} ORDER BY check_number, subscription"
        ),
        producer_events=_producer_events(look, here, decisions, until),
        compactions=_compactions(look, here, until) if any(row["subscription"] == _COMPACTION for row in cursors) else [],
        log_version=started[0]["log_version"] if started else None,
    )


def _decisions(look: Queries, here: str, until: datetime) -> list[Row]:
    """Since the last check that decided nothing."""
    quiet = look.rows(
        f"SELECT max(check_number) AS last FROM topic_backlog WHERE {here} AND check_time <= {instant(until)}"
        " AND decision NOT IN ('size', 'time')"
    )[0]["last"]
    return look.rows(
        f"SELECT * FROM quota_evictions WHERE {here} AND decided_at <= {instant(until)} AND check_number > {quiet or 0}"
        " ORDER BY check_number"
    )


def _producer_events(look: Queries, here: str, decisions: list[Row], until: datetime) -> list[Row]:
    """Events alone have them. A `quota_check` that a producer caused is there where an age quota has a policy producer_* (§2.4)."""
    if not decisions:
        return []
    ts = "timestamp_micros(ts)"
    return look.rows(
        f"SELECT type, count(*) AS n FROM dispatch_events WHERE {here} AND {ts} > {instant(decisions[0]['decided_at'])}"
        f" AND {ts} <= {instant(until)} AND (type = 'producer_open' OR type = 'quota_check' AND cause = 'producer') GROUP BY type"
    )


def _compactions(look: Queries, here: str, until: datetime) -> list[Row]:
    """Events alone have them: only asked where the topic has a cursor of compaction."""
    return look.rows(
        "SELECT timestamp_micros(ts) AS at, error FROM dispatch_events"
        f" WHERE {here} AND type = 'compaction' AND phase = 'end' AND timestamp_micros(ts) <= {instant(until)} ORDER BY seq"
    )
