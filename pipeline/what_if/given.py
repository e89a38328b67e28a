"""What a replay is given: the demand and the settings, as they were or changed."""

from dataclasses import dataclass

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.replay.kinds import ARRIVE, CHARGE, CHECK, LEAVE, LEDGER_CLOSE, PUBLISH, QUOTA, RATE, SAMPLE, SUBSCRIBE
from pipeline.what_if.changes import Changes
from pipeline.what_if.record import Row
from pipeline.what_if.relative import Setting, followed
from pipeline.what_if.world import World
from schemas.events import LIMITER_KINDS, LIMITER_LEVELS, QUOTA_POLICIES, QUOTA_TYPES

NS_PER_S = 1_000_000_000
USUAL_CHECK_INTERVAL_S = 60
USUAL_POLICY = "producer_request_hold"
USUAL_LIMITER = "token_bucket"
WIDTH = 7


@dataclass(frozen=True)
class Target:
    """Which topic changes (its number), and which of its subscriptions."""

    topic: int
    subs: tuple[int, ...]


def given_rows(world: World, target: Target, changes: Changes, instants_ns: Array) -> Array:
    """Int64 [n, 7], by time: (ns, kind, who, and what the kind needs). Of one instant settings come before clients and publishes."""
    rows = [
        *_rates(world, target, changes),
        *_quotas(world, target, changes),
        *_closes(world),
        *((sub.opened_ns, SUBSCRIBE, number, sub.mark) for number, sub in enumerate(world.subs)),
        *_clients(world, target, changes),
        *_checks(world),
    ]
    few = np.zeros((len(rows), WIDTH), dtype=np.int64)
    for k, row in enumerate(rows):
        few[k, : len(row)] = row
    all_rows = np.concatenate([few, *_publishes(world, target, changes), _charges(world), _samples(instants_ns)])
    return all_rows[np.argsort(all_rows[:, 0], kind="stable")]


def limiter_of(world: World, level: str, number: int) -> int:
    """Number of a limiter: the broker's, then those of topics, then those of subscriptions."""
    return {"broker": 0, "topic": 1 + number, "subscription": 1 + len(world.scales) + number}[level]


# ---- settings --------------------------------------------------------------------------------------------------------------------------


def _rates(world: World, target: Target, changes: Changes) -> list[tuple[int, ...]]:
    """Rates as they were applied; those of the target's limiters with the changes. A limiter that nobody applied begins with its owner."""
    settings: list[Setting] = []
    applied: set[int] = set()
    for row in world.record.of("dispatch_rate"):
        number = _owner(world, row)
        if number is None:
            continue
        limiter = limiter_of(world, row["level"], number)
        applied.add(limiter)
        change = changes.rates.get(row["level"], {}) if _is_target(target, row["level"], number) else {}
        topic = _topic(world, row["level"], number)
        settings.append(Setting(row["ns"], limiter, topic, {**row, **change}, changes.limiter or row["limiter"]))
    for level, change in changes.rates.items():
        for number in {"broker": (0,), "topic": (target.topic,), "subscription": target.subs}[level]:
            limiter = limiter_of(world, level, number)
            if limiter not in applied:
                began_ns = world.subs[number].opened_ns if level == "subscription" else world.begin_ns
                settings.append(Setting(began_ns, limiter, _topic(world, level, number), change, changes.limiter or _usual_limiter(world)))
    factors = [changes.publish_factor if number == target.topic else 1.0 for number in range(len(world.scales))]
    return [_rate(one.ns, one.limiter, one.rate, one.kind) for one in followed(world, settings, factors)]


def _topic(world: World, level: str, number: int) -> int:
    """Number of the topic that a limiter is of; 0 of the broker's, which follows none."""
    return {"broker": 0, "topic": number, "subscription": world.subs[number].topic if level == "subscription" else 0}[level]


def _owner(world: World, row: Row) -> int | None:
    """Number of the topic or subscription whose limiter it is; 0 of the broker; null: it is not in this world."""
    if row["level"] == "broker":
        return 0
    if row["level"] == "topic":
        ids = [scale.topic_id for scale in world.scales]
        return ids.index(row["topic_id"]) if row["topic_id"] in ids else None
    return next((number for number, sub in enumerate(world.subs) if sub.sub_id == row["sub_id"]), None)


def _is_target(target: Target, level: str, number: int) -> bool:
    return level == "broker" or (number == target.topic if level == "topic" else number in target.subs)


def _rate(ns: int, limiter: int, rate: Row, kind: str) -> tuple[int, ...]:
    msgs, size = rate.get("msg_rate", -1), rate.get("byte_rate", -1)
    return ns, RATE, limiter, LIMITER_KINDS.index(kind), msgs, size, rate.get("period_s") or 1


def _usual_limiter(world: World) -> str:
    """The kind that the broker makes: that of its other limiters, or the one of its configuration."""
    kinds = [row["limiter"] for row in world.record.of("dispatch_rate")]
    factory = world.record.setting.get("dispatchRateLimiterFactoryClassName", "")
    return kinds[-1] if kinds else "classic" if "Classic" in factory else USUAL_LIMITER


def _quotas(world: World, target: Target, changes: Changes) -> list[tuple[int, ...]]:
    rows = []
    applied: set[str] = set()
    ids = [scale.topic_id for scale in world.scales]
    for row in world.record.of("backlog_quota"):
        if row["topic_id"] in ids:
            number = ids.index(row["topic_id"])
            change = changes.quotas.get(row["quota_type"], {}) if number == target.topic else {}
            if number == target.topic:
                applied.add(row["quota_type"])
            rows.append(_quota(row["ns"], number, row["quota_type"], {**row, **change}))
    for quota_type, change in changes.quotas.items():
        if quota_type not in applied:
            rows.append(_quota(world.begin_ns, target.topic, quota_type, change))
    return rows


def _quota(ns: int, topic: int, quota_type: str, quota: Row) -> tuple[int, ...]:
    policy = QUOTA_POLICIES.index(quota.get("policy") or USUAL_POLICY)
    return ns, QUOTA, topic, QUOTA_TYPES.index(quota_type), quota.get("limit", -1), policy


def _checks(world: World) -> list[tuple[int, ...]]:
    """Rounds of quota checks as they began; where the log has none, at the configured interval."""
    starts = [row["ns"] for row in world.record.of("quota_round") if row["phase"] == "start"]
    if not starts and world.record.setting.get("backlogQuotaCheckEnabled", "true") == "true":
        interval_s = int(world.record.setting.get("backlogQuotaCheckIntervalInSeconds", USUAL_CHECK_INTERVAL_S))
        starts = list(range(world.begin_ns + interval_s * NS_PER_S, world.end_ns, interval_s * NS_PER_S))
    return [(ns, CHECK, 0) for ns in starts if world.begin_ns <= ns <= world.end_ns]


# ---- clients ---------------------------------------------------------------------------------------------------------------------------


def consumers_of(world: World, target: Target, changes: Changes, number: int) -> int:
    """How many slots for consumers a subscription has."""
    return changes.consumers if changes.consumers is not None and number in target.subs else world.slots_of(number)


def first_consumers(world: World, target: Target, changes: Changes) -> list[int]:
    """Number of the first consumer of each subscription, and of the one after the last."""
    return [0, *np.cumsum([consumers_of(world, target, changes, s) for s in range(len(world.subs))]).tolist()]


def _clients(world: World, target: Target, changes: Changes) -> list[tuple[int, ...]]:
    """Consumers come and go as they did; one more than there were comes and goes with one that was there."""
    rows = []
    firsts = first_consumers(world, target, changes)
    for number in range(len(world.subs)):
        slots, recorded = consumers_of(world, target, changes, number), world.slots_of(number)
        for slot in range(slots):
            for one in world.presences:
                if one.sub == number and one.slot == slot % max(1, recorded):
                    rows.append((one.from_ns, ARRIVE, firsts[number] + slot))
                    rows.append((one.to_ns, LEAVE, firsts[number] + slot))
    return [row for row in rows if row[0] <= world.end_ns]


def _publishes(world: World, target: Target, changes: Changes) -> list[Array]:
    parts = []
    for number, scale in enumerate(world.scales):
        times = copies(len(scale.publishes["ns"]), changes.publish_factor if number == target.topic else 1.0)
        parts.append(_rows(np.repeat(scale.publishes["ns"], times), PUBLISH, number))
    return parts


def copies(count: int, factor: float) -> Array:
    """How often each of `count` entries comes, so that `factor` times as many come, evenly."""
    return np.diff(np.floor(np.arange(count + 1) * factor + 1e-9)).astype(np.int64)


def _closes(world: World) -> list[tuple[int, ...]]:
    rows: list[tuple[int, ...]] = []
    first = 0
    for scale in world.scales:
        known = {int(ledger): first + k for k, ledger in enumerate(scale.ledgers)}
        closes = [row for row in world.record.of("ledger_close") if row["topic_id"] == scale.topic_id and row["ledger"] in known]
        rows += [(row["ns"], LEDGER_CLOSE, known[row["ledger"]], row["close_ts"]) for row in closes]
        first += len(scale.ledgers)
    return rows


def _charges(world: World) -> Array:
    """Deliveries of topics that are not in this world, as a broker's own: they draw on its limiter."""
    events = world.record.all("dispatch")
    ids = np.array([scale.topic_id for scale in world.scales], dtype=np.int64)
    others = ~np.isin(events["topic_id"], ids)
    rows = _rows(events["ns"][others], CHARGE, limiter_of(world, LIMITER_LEVELS[0], 0))
    rows[:, 3], rows[:, 4] = events["msgs"][others], events["bytes"][others]
    return rows


def _samples(instants_ns: Array) -> Array:
    return _rows(instants_ns, SAMPLE, np.arange(len(instants_ns)))


def _rows(ns: Array, kind: int, who: Array | int) -> Array:
    rows = np.zeros((len(ns), WIDTH), dtype=np.int64)
    rows[:, 0], rows[:, 1], rows[:, 2] = ns, kind, who
    return rows
