"""Rows about a topic as a whole, as of an instant: its newest quota check, all cursors of it, what its quotas did. It only asks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pipeline.diagnosis.own_cursors import COMPACTION, REPLICATOR, kind_of
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted

Row = dict[str, Any]
#: After so long a broker closes an open ledger (§2.8).
ROLLOVER = "managedLedgerMaxLedgerRolloverTimeMinutes"
#: It adds up to a twentieth by chance, so that not all ledgers close at once (ManagedLedgerImpl).
_LATEST = 1.05


@dataclass(frozen=True)
class TopicRows:
    """`check`: of topic_backlog, null where none was seen. `cursors`: of subscription_backlog at that check. `decisions`: rows of
    quota_evictions since the last check that decided nothing, the oldest first: what lasts. `moves`: of quota_eviction_moves, all.
    `producer_events`: since the last of `decisions` that closed producers, by `type`: how many asked for the age, were opened, and were
    refused.
    `compactions`: `at` and `error` of those that ended. `replicators`: each that the log has, whether it has its producer in the other
    cluster, `since` when, how many tries failed since, and how the newest of these did. `log_version` is null for a log of version 1.0.
    `tells_refusals`: the log has producers that were refused. `is_age_precise`: the broker reads the oldest message, and does not go by
    ledgers (preciseTimeBasedBacklogQuotaCheck). `closes_by`: when the broker closes the open ledger at the latest, where an age quota waits
    for that; null: it does not, or the log does not tell.
    """

    check: Row | None
    cursors: list[Row]
    decisions: list[Row]
    moves: list[Row]
    producer_events: list[Row]
    compactions: list[Row]
    replicators: list[Row]
    log_version: str | None
    tells_refusals: bool
    is_age_precise: bool
    closes_by: datetime | None


def topic_rows(look: Queries, broker: str, epoch: int, topic: str, until: datetime, known_until: datetime | None = None) -> TopicRows:
    """Of the topic on this broker up to `until`; events of its producers up to `known_until`, if that is given."""
    of_broker = f"broker = {quoted(broker)} AND epoch = {epoch}"
    here = f"{of_broker} AND topic = {quoted(topic)}"
    checks = look.rows(f"SELECT * FROM topic_backlog WHERE {here} AND check_time <= {instant(until)} ORDER BY check_number DESC LIMIT 1")
    check = checks[0] if checks else None
    at = f"{here} AND check_number = {check['check_number']}" if check is not None else ""
    cursors = look.rows(f"SELECT * FROM subscription_backlog WHERE {at} ORDER BY subscription") if at else []
    kinds = {kind_of(row["subscription"], row) for row in cursors}
    decisions = _decisions(look, here, until) if check is not None and check["decision"] in ("size", "time") else []
    started = _started(look, of_broker)
    is_precise = started.get("precise") == "true"
    counts_from_ledger = check is not None and not is_precise and _sees_no_age(check)
    return TopicRows(
        check=check,
        cursors=cursors,
        decisions=decisions,
        moves=look.rows(
            f"SELECT * FROM quota_eviction_moves WHERE {here} AND decided_at <= {instant(until)} ORDER BY check_number, subscription"
        ),
        producer_events=_producer_events(look, here, decisions, known_until or until),
        compactions=_compactions(look, here, until) if COMPACTION in kinds else [],
        replicators=_replicators(look, here, until) if REPLICATOR in kinds else [],
        log_version=started.get("log_version"),
        tells_refusals=bool(started.get("tells_refusals")),
        is_age_precise=is_precise,
        closes_by=_closes_by(look, here, until, started.get("rollover")) if counts_from_ledger else None,
    )


def _replicators(look: Queries, here: str, until: datetime) -> list[Row]:
    """Events of version 1.2 alone have them. A connection that is lost is in states only: its producer connects again by itself."""
    told = (
        f"SELECT sub AS subscription, seq, timestamp_micros(ts) AS at, connected, error FROM dispatch_events WHERE {here}"
        f" AND type IN ('replicator_connection', 'state') AND connected IS NOT NULL AND timestamp_micros(ts) <= {instant(until)}"
    )
    newest = f"SELECT *, first_value(connected) OVER (PARTITION BY subscription ORDER BY seq DESC) AS is_connected FROM ({told})"
    before = "max(CASE WHEN connected <> is_connected THEN seq END) OVER (PARTITION BY subscription) AS before"
    failed = "FILTER (WHERE error IS NOT NULL)"
    return look.rows(
        "SELECT subscription, bool_and(is_connected) AS connected, min(at) AS since, max(at) AS seen_at, count(error) AS failed,"
        f" max_by(error, seq) {failed} AS error, max(at) {failed} AS failed_at"
        f" FROM (SELECT *, {before} FROM ({newest})) WHERE seq > coalesce(before, 0) GROUP BY subscription ORDER BY subscription"
    )


def _started(look: Queries, of_broker: str) -> Row:
    """The log's version, whether it has refusals, and settings of ages; empty where the log does not have the start."""
    rows = look.rows(
        f"SELECT log_version, settings['{ROLLOVER}'] AS rollover, settings['preciseTimeBasedBacklogQuotaCheck'] AS precise,"
        " log_version NOT IN ('1.0', '1.1') AND NOT coalesce(array_contains(missing_points, 'producer_refused'), false) AS tells_refusals"
        f" FROM dispatch_events WHERE seq = 1 AND type = 'broker_start' AND {of_broker}"
    )
    return rows[0] if rows else {}


def _sees_no_age(check: Row) -> bool:
    """Whether the topic has an age quota, and the broker no age: it counts from the end of a ledger that is open (§2.4, step 5)."""
    return bool((check["backlog_quota_limit_time"] or 0) > 0 and check["oldest_backlog_message_age_seconds"] == -1)


def _closes_by(look: Queries, here: str, until: datetime, rollover: str | None) -> datetime | None:
    """The newest ledger is the open one. Without a setting above 0 no timer closes it."""
    if not (rollover or "").isdigit() or int(rollover or 0) <= 0:
        return None
    opened: datetime | None = look.rows(
        f"SELECT max(timestamp_micros(ts)) AS at FROM dispatch_events WHERE {here} AND type = 'ledger_open'"
        f" AND timestamp_micros(ts) <= {instant(until)}"
    )[0]["at"]
    return None if opened is None else opened + timedelta(minutes=int(rollover or 0) * _LATEST)


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


def last_cut(decisions: Sequence[Row]) -> Row:
    """The last of these decisions that closed producers: since then they are out. Before it they came back. Without one the first."""
    return next((row for row in reversed(decisions) if row["producers_closed"]), decisions[0])


def _producer_events(look: Queries, here: str, decisions: list[Row], until: datetime) -> list[Row]:
    """Events alone have them. A log of version 1.2 has refusals. A `quota_check` that a producer caused is in all, where an age quota has a
    policy producer_* (§2.4).
    """
    if not decisions:
        return []
    ts, since = "timestamp_micros(ts)", last_cut(decisions)["decided_at"]
    return look.rows(
        f"SELECT type, sum(coalesce(commands, 1)) AS n FROM dispatch_events WHERE {here} AND {ts} > {instant(since)}"
        f" AND {ts} <= {instant(until)} AND (type = 'producer_open' OR type = 'quota_check' AND cause = 'producer'"
        " OR type = 'producer_refused' AND quota_type IS NOT NULL) GROUP BY type"
    )


def _compactions(look: Queries, here: str, until: datetime) -> list[Row]:
    """Events alone have them: only asked where the topic has a cursor of compaction."""
    return look.rows(
        "SELECT timestamp_micros(ts) AS at, error FROM dispatch_events"
        f" WHERE {here} AND type = 'compaction' AND phase = 'end' AND timestamp_micros(ts) <= {instant(until)} ORDER BY seq"
    )
