"""Quotas that will trip: exceeded now, or within a day at the growth of the last checks; with the command that makes room for a day."""

from collections.abc import Sequence
from typing import Any

from pipeline.diagnosis.commands import policy_of
from pipeline.diagnosis.counts import counted
from pipeline.diagnosis.duration import duration
from pipeline.query.room import ReadingRoom
from pipeline.what_if.changes import QUOTAS
from schemas.render.ddl import quoted

Document = dict[str, Any]
DAY_S = 86_400
#: Quota types of the view, as `--set` and as pulsar-admin name them.
_NAMES = {"size": ("size", QUOTAS["size"]), "time": ("age_s", QUOTAS["age_s"])}


def quotas_due(look: ReadingRoom, brokers: Sequence[str], topic: str | None, namespace: str | None) -> list[Document]:
    """A row for each quota of the newest check that is exceeded, or will be within a day; the soonest first."""
    of_topic = "" if topic is None else f" AND topic = {quoted(topic)}"
    rows = look.rows(
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY topic, quota_type ORDER BY check_time DESC) AS place FROM quota_forecasts"
        f" WHERE broker IN ({', '.join(map(quoted, brokers))}){of_topic})"
        f" WHERE place = 1 AND (exceeded OR breach_in_s <= {DAY_S}) ORDER BY exceeded DESC, breach_in_s, topic, quota_type"
    )
    return [_due(row) for row in rows if namespace is None or row["topic"].partition("://")[2].rpartition("/")[0] == namespace]


def _due(row: Document) -> Document:
    name, quota_type = _NAMES[row["quota_type"]]
    set_to = room_for_a_day(row)
    return {
        "topic": row["topic"],
        "broker": row["broker"],
        "quota": name,
        "policy": row["policy"],
        "limit": row["quota_limit"],
        "exceeded": row["exceeded"],
        "breach_at": row["breach_at"],
        "loses_first": row["loses_first"],
        "others_losing": list(row["others_losing"] or []),
        "set_to": set_to,
        "effect": _effect(row, set_to),
        "command": quota_command(row["topic"], quota_type, set_to, row["policy"]),
    }


def room_for_a_day(row: Document) -> int:
    """Bytes, or seconds: what is used now and comes in a day at the growth of now; never less than the limit now."""
    used, per_s = (row["used"] or 0), max(0.0, row["rate_mean"] or 0.0)
    whole = used + per_s * DAY_S
    return max(int(row["quota_limit"]) + 1, int(whole / 1000 if row["quota_type"] == "time" else whole) + 1)


def _effect(row: Document, set_to: int) -> str:
    then = f"{set_to:,} bytes" if row["quota_type"] == "size" else duration(set_to)
    losers = [row["loses_first"], *(row["others_losing"] or [])] if row["loses_first"] else []
    harm = (
        f"; until then {', '.join(losers)} would lose entries"
        if losers
        else f"; {counted(row['producers'] or 0, 'producer')} would be shut out"
    )
    return f"room for a day at the growth of now ({then}){harm}"


def quota_command(topic: str, quota_type: str, limit: int, policy: str) -> str | None:
    """Sets the quota of the topic; its policy stays."""
    option = ["-l", limit] if quota_type == QUOTAS["size"] else ["-lt", f"{limit}s"]
    return policy_of("", "set-backlog-quota", topic, *option, "-t", quota_type, "-p", policy).command
