"""Quotas and dispatch rates: as a topic or namespace sets them, or with `applied=true` as they rule.

A log of version 1.0 does not have the places where a limit is set; then only what rules is known.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.serving.admin.asked_rows import Tables
from pipeline.serving.admin.names import Names, NotFound
from pipeline.serving.admin.queries import LIMITS, THERE
from pipeline.visible import document_json
from schemas.render.ddl import quoted

#: Kind of a limit → Pulsar's type of a quota, and the field of its limit.
_QUOTAS = {"size_quota": ("destination_storage", "limitSize"), "age_quota": ("message_age", "limitTime")}
_OF_QUOTAS = "limit_kind IN ('size_quota', 'age_quota')"
#: Not set: Pulsar answers 204.
NOT_SET = ""
Limit = Mapping[str, Any]


def backlog_quotas(tables: Tables, names: Names, asked: Mapping[str, str]) -> str:
    """`GET …/{topic}/backlogQuotaMap`. Raises NotFound."""
    limits = _of_topic(tables, names, _OF_QUOTAS)
    chosen = [one for one in limits if one["in_force"]] if _is_applied(asked) else _set_by("topic", limits)
    return _quota_map(chosen)


def namespace_quotas(tables: Tables, names: Names, _: Mapping[str, str]) -> str:
    """`GET /namespaces/{tenant}/{namespace}/backlogQuotaMap`, as the namespace's topics were told of it. Raises NotFound."""
    limits = tables.rows(LIMITS, f"namespace = {quoted(names.full_namespace)} AND {_OF_QUOTAS}")
    if not limits:
        raise NotFound(f"Namespace {names.full_namespace}: no broker has a topic of it now whose quotas are in the tables")
    return _quota_map(_set_by("namespace", limits))


def topic_rate(tables: Tables, names: Names, asked: Mapping[str, str]) -> str:
    """`GET …/{topic}/dispatchRate`; NOT_SET where there is none. Raises NotFound."""
    return _rate(_of_topic(tables, names, "limit_kind = 'topic_dispatch_rate'"), asked)


def subscription_rate(tables: Tables, names: Names, asked: Mapping[str, str]) -> str:
    """`GET …/{topic}/subscriptionDispatchRate`; NOT_SET where there is none. Raises NotFound.

    It is that of all subscriptions: one that a single subscription has for itself is none.
    """
    limits = _of_topic(tables, names, "limit_kind = 'subscription_dispatch_rate'")
    return _rate([one for one in limits if one["set_by"] not in ("subscription", "subscription_global")], asked)


def _is_applied(asked: Mapping[str, str]) -> bool:
    return asked.get("applied", "").lower() == "true"


def _of_topic(tables: Tables, names: Names, kinds: str) -> Sequence[Limit]:
    """Its limits of these kinds. Raises NotFound for a topic that no broker has now."""
    topic = f"topic = {quoted(names.full_topic)}"
    if not tables.rows(THERE, topic):
        raise NotFound(f"Topic {names.full_topic} not found: no broker has it now, so far as the tables tell")
    return tables.rows(LIMITS, f"{topic} AND {kinds}")


def _set_by(place: str, limits: Sequence[Limit]) -> list[Limit]:
    """Those that the place sets. Raises NotFound where the log has no places."""
    # A log with places has one of each applied value, or how it disagrees with the rules.
    if any(one["set_by"] is None and one["policy_disagreement"] is None for one in limits):
        raise NotFound(f"who set a limit is not in this log (version 1.0), so not that of a {place}; applied=true asks for what rules")
    return [one for one in limits if one["set_by"] == place]


def _quota_map(limits: Sequence[Limit]) -> str:
    quotas: dict[str, dict[str, Any]] = {}
    for one in limits:
        quota, field = _QUOTAS[one["limit_kind"]]
        limit, policy = _value(one, "applied_limit", "quota_limit"), _value(one, "applied_policy", "quota_policy")
        if limit is not None and policy is not None:
            quotas[quota] = {field: limit, "policy": policy}
    return document_json(quotas)


def _rate(limits: Sequence[Limit], asked: Mapping[str, str]) -> str:
    chosen = [one for one in limits if one["in_force"]] if _is_applied(asked) else _set_by("topic", limits)
    rates = [_rate_document(one) for one in chosen]
    limiting = [rate for rate in rates if rate["dispatchThrottlingRateInMsg"] > 0 or rate["dispatchThrottlingRateInByte"] > 0]
    if not limiting:
        return NOT_SET
    if any(rate != limiting[0] for rate in limiting):
        raise NotFound("subscriptions of the topic have different rates: ask `/v1/explain` of each")
    return document_json(limiting[0])


def _rate_document(one: Limit) -> dict[str, Any]:
    return {
        "dispatchThrottlingRateInMsg": _value(one, "applied_msg_rate", "msg_rate"),
        "dispatchThrottlingRateInByte": _value(one, "applied_byte_rate", "byte_rate"),
        "relativeToPublishRate": _value(one, "applied_relative", "relative"),
        "ratePeriodInSecond": _value(one, "applied_period_s", "period_s"),
    }


def _value(one: Limit, applied: str, as_set: str) -> Any:
    """As applied; where the broker did not report that, as set."""
    return one[as_set] if one[applied] is None else one[applied]
