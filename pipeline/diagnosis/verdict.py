"""The verdict on a subscription: pure, evidence in, a document out. The document's keys are a promise (docs/reference/json.md)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pipeline.diagnosis.confidence import confidence, missing
from pipeline.diagnosis.delivered import is_delivery_in_line
from pipeline.diagnosis.evidence import Evidence, Row
from pipeline.diagnosis.margins import uncovered
from pipeline.diagnosis.policies import QUOTA_KINDS, RATE_KINDS, is_off, places, setter
from pipeline.diagnosis.slow_too import taken_per_s
from pipeline.query.views.status_words import WELL

Document = dict[str, Any]
_NS_PER_S = 1e9
#: Of a subscription that is not there at the instant: nothing proves how it stands.
GONE: Row = {
    "as_of": None, "status": "unknown", "cause": None, "unknown_reason": "not_there", "backlog": 0,
    "waiting": 0, "lasts_s": None, "pace_per_s": None, "checked_at": None,
    "complete": False, "completeness": 1.0,
}  # fmt: skip


class Account(NamedTuple):
    """What backlog is charged to; null where a cause has no such part."""

    cause: str
    level: str | None
    dimension: str | None
    unknown_reason: str | None
    cap: str | None


def verdict(evidence: Evidence) -> Document:
    """What holds the subscription, since when, what comes next. JSON-ready but for times, which have a zone."""
    shares = _shares(evidence.causes)
    main = shares[0] if shares else {}
    standing = evidence.standing[0] if evidence.standing else GONE
    document: Document = {
        "broker": evidence.broker,
        "epoch": evidence.epoch,
        "topic": evidence.topic,
        "subscription": evidence.subscription,
        "from": evidence.start,
        "to": evidence.end,
        "as_of": standing["as_of"] or evidence.end,
        "asked_at": evidence.asked_at,
        "now": evidence.is_now,
        "status": standing["status"],
        "behind": standing["status"] not in WELL,
        **{name: main.get(name) for name in (*Account._fields, "share", "time_share")},
        "unknown_reason": _reason(standing, main),
        "since": _since(evidence.causes, main),
        "last_cause": _last_cause(standing, evidence),
        **{name: standing[name] for name in ("backlog", "waiting", "lasts_s", "pace_per_s", "checked_at")},
        "backlog_s": sum(row["ns"] for row in evidence.causes) / _NS_PER_S,
        "causes": shares,
        "windows": _windows(evidence.causes),
        "sub_type": evidence.throttle[-1]["sub_type"] if evidence.throttle else None,
        "dispatched_msgs": sum(row["dispatched_msgs"] for row in evidence.throttle),
        "limits": _limits(evidence),
        "policies": places(evidence.policies),
        "shared_with": _neighbours(evidence.neighbours, main, evidence),
        "quotas": [quota_of(row, evidence.quota_policies) for row in sorted(evidence.quotas, key=lambda row: row["quota_type"])],
        "uncovers": uncovered(evidence.margins),
    }
    document["consumers_take_per_s"] = _taken_per_s(evidence, document)
    document["catch_up"] = _catch_up(evidence, document["limits"])
    document["more_consumers"] = _more_consumers(evidence.more_consumers, document)
    lacking = missing(evidence, document)
    changed = document["last_cause"] is not None and not is_same_cause(document["last_cause"], document)
    sure = confidence(document, lacking, has_changed=changed, agrees=is_delivery_in_line(evidence, document))
    return {**document, "confidence": sure, "missing": lacking}


def _taken_per_s(evidence: Evidence, document: Document) -> float | None:
    """Of the limiter that holds it at the end, else of that of the stretch."""
    held_by = next((one for one in (document["last_cause"], document) if one is not None and one["cause"] == "throttled"), None)
    return None if held_by is None else taken_per_s(evidence, held_by)


def _account(row: Row) -> Account:
    return Account(*(row[name] for name in Account._fields))


def is_same_cause(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether both are charged to the same: the cause, and the limiter, reason or cap of it."""
    return all(one[name] == other[name] for name in Account._fields)


def _last_cause(standing: Row, evidence: Evidence) -> Document | None:
    """The cause that holds it as of `as_of`, or the main one of the last window; null where there is none."""
    if standing["cause"] is None:
        return None
    account = _account(standing)._asdict()
    return {**account, "since": standing["since"], "shared_with": _neighbours(evidence.neighbours, account, evidence)}


def is_unproven(document: Document) -> bool:
    """Whether nobody knows if it is behind by now: a stop, a loss, or no check since. Not where only the cause is unknown."""
    last = document["last_cause"]
    is_behind = bool(document["backlog"]) and document["waiting"] is not None and last is not None and last["cause"] == "unknown"
    return document["status"] == "unknown" and not is_behind


def _reason(standing: Row, main: Mapping[str, Any]) -> str | None:
    """Why the status or the cause is not known: that of the instant first."""
    return standing["unknown_reason"] if standing["status"] == "unknown" else main.get("unknown_reason") or standing["unknown_reason"]


def _shares(causes: Sequence[Row]) -> list[Document]:
    """What the stretch's backlog is charged to, the largest share first. By entries × time; by time alone where no entry has a weight."""
    ns: dict[Account, int] = defaultdict(int)
    entry_us: dict[Account, int] = defaultdict(int)
    for row in causes:
        ns[_account(row)] += row["ns"]
        entry_us[_account(row)] += row["entry_us"]
    weights = entry_us if sum(entry_us.values()) else ns
    all_ns, all_weight = sum(ns.values()), sum(weights.values())
    ordered = sorted(ns, key=lambda one: (-weights[one], -ns[one], tuple(str(part) for part in one)))
    return [
        {**one._asdict(), "share": weights[one] / all_weight, "time_share": ns[one] / all_ns, "seconds": ns[one] / _NS_PER_S}
        for one in ordered
    ]


def _since(causes: Sequence[Row], main: Mapping[str, Any]) -> datetime | None:
    """When the main cause began: its unbroken run up to the end where it is the main one there, else its first charge in the stretch."""
    charged = [row for row in causes if main and _account(row) == Account(*(main[name] for name in Account._fields))]
    if not charged:
        return None
    newest = charged[-1]
    is_last = newest["window_end"] == causes[-1]["window_end"]
    since: datetime = newest["main_since"] if newest["is_main"] and is_last else charged[0]["first_at"]
    return since


def _windows(causes: Sequence[Row]) -> list[Document]:
    """Per window with a backlog its seconds, and the share of them that each cause has."""
    found: dict[tuple[int, datetime], list[Row]] = defaultdict(list)
    for row in causes:
        found[row["clock_segment"], row["window_start"]].append(row)
    return [
        {
            "window_start": rows[0]["window_start"],
            "window_end": rows[0]["window_end"],
            "backlog_s": sum(row["ns"] for row in rows) / _NS_PER_S,
            "backlog": rows[0]["backlog_end"],
            "causes": [{**_account(row)._asdict(), "seconds": row["ns"] / _NS_PER_S} for row in rows],
        }
        for _, rows in sorted(found.items())
    ]


def _limits(evidence: Evidence) -> list[Document]:
    """Every limiter that the subscription's reads pass, the least of each dimension first, and who set it."""
    limits = [
        {
            "level": row["level"],
            "dimension": row["dimension"],
            "rate": row["rate"],
            "period_s": row["period_ms"] / 1e3,
            "per_second": row["rate"] * 1e3 / row["period_ms"] if row["period_ms"] else None,
            "relative": row["relative"],
            "since": row["created_at"],
            "applied_since": _applied_since(row, evidence.policies),
            "debt": max(0, -row["permits_end"]),
            **setter(evidence.policies, RATE_KINDS[row["level"]]),
        }
        for row in evidence.limits
        if not is_off(row, evidence.policies)
    ]
    order = ("broker", "topic", "subscription")
    return sorted(limits, key=lambda one: (one["dimension"] == "bytes", one["per_second"] or 0, order.index(one["level"])))


def _applied_since(limiter: Row, policies: Sequence[Row]) -> datetime:
    """When the broker began to apply this rate, as far as the log tells; a limiter keeps its place when its rate changes."""
    kind = RATE_KINDS[limiter["level"]]
    began: list[datetime] = [row["since"] for row in policies if row["limit_kind"] == kind and row["in_force"]]
    return max([limiter["created_at"], *began])


def _neighbours(rows: Sequence[Row], main: Mapping[str, Any], evidence: Evidence) -> list[Document]:
    """Who drew on the shared limiter that holds the subscription, while it was binding; the largest share first."""
    if main.get("cause") != "throttled" or main["level"] == "subscription":
        return []
    drew = [row for row in rows if (row["level"], row["dimension"]) == (main["level"], main["dimension"])]
    used = sum(row["used"] for row in drew)
    shares = [
        {
            "topic": row["topic"],
            "subscription": row["subscription"],
            "share": row["used"] / used if used else None,
            "this": (row["topic"], row["subscription"]) == (evidence.topic, evidence.subscription),
        }
        for row in drew
    ]
    return sorted(shares, key=lambda one: (-(one["share"] or 0), one["topic"], one["subscription"]))


_OF_QUOTA = (
    "quota_type", "exceeded", "share_of_limit", "used", "quota_limit", "policy", "on_breach", "breach_at", "breach_from", "breach_to",
    "loses_first", "others_losing", "producers", "complete",
)  # fmt: skip


def quota_of(row: Row, policies: Sequence[Row]) -> Document:
    """A quota of the document: a row of quota_forecasts, and who set it by rows of policy_spans."""
    return {**{name: row[name] for name in _OF_QUOTA}, "as_of": row["check_time"], **setter(policies, QUOTA_KINDS[row["quota_type"]])}


def _catch_up(evidence: Evidence, limits: Sequence[Document]) -> Document | None:
    """How fast the backlog shrinks or grows, from its last two quota checks. Limits that changed since are not those of the check."""
    rates = evidence.rates
    if not rates or rates[0]["growth_rate"] is None:
        return None
    names = (
        "over_s", "publish_rate", "dispatch_rate", "ack_rate", "removed_rate", "sought_entries", "growth_rate", "caught_up_in_s",
        "outpaced", "current_at", "current_from", "current_to", "most_entries_per_s", "soonest_at", "allowed",
        "shut_out", "complete", "backlog_after",
    )  # fmt: skip
    of_limits = ("most_entries_per_s", "soonest_at", "allowed")
    checked_at = rates[0]["to_time"]
    kinds = RATE_KINDS.values()
    changed = any(row["in_force"] and row["limit_kind"] in kinds and row["since"] > checked_at for row in evidence.policies)
    gone = dict.fromkeys(of_limits) if changed or not limits else {}
    return {**{name: rates[0][name] for name in names}, **gone, "as_of": checked_at}


def _more_consumers(rows: Sequence[Row], document: Document) -> Document | None:
    """Of a subscription that is behind, as the view has it."""
    if not rows or not document["behind"] or is_unproven(document):
        return None
    names = ("answer", "why", "consumers_share", "limits_share", "dispatched_per_s", "most_msgs_per_s", "most_bytes_per_s")
    return {name: rows[0][name] for name in names}
