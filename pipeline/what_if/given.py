"""What a replay is given: the demand and the settings, as they were or changed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.replay.kinds import (
    ARRIVE,
    CHARGE,
    CHECK,
    LEAVE,
    LEDGER_CLOSE,
    QUOTA,
    RATE,
    SAMPLE,
    SUBSCRIBE,
    THERE,
)  # fmt: skip
from pipeline.what_if.buckets import Refill
from pipeline.what_if.changes import Changes
from pipeline.what_if.given_start import limiter_of, of_start, own_charges, owner_of, refills_of
from pipeline.what_if.given_table import WIDTH, by_time, rows_of
from pipeline.what_if.record import Row
from pipeline.what_if.relative import Setting, followed
from pipeline.what_if.world import World
from schemas.events import LIMITER_KINDS, LIMITER_LEVELS, QUOTA_POLICIES, QUOTA_TYPES

NS_PER_S = 1_000_000_000
USUAL_CHECK_INTERVAL_S = 60
USUAL_POLICY = "producer_request_hold"
USUAL_LIMITER = "token_bucket"


@dataclass(frozen=True)
class Target:
    """Which topic changes (its number), and which of its subscriptions."""

    topic: int
    subs: tuple[int, ...]


def given_rows(world: World, target: Target, changes: Changes, instants_ns: Array) -> Array:
    """Int64 [n, 7], by time: (ns, kind, who, and what the kind needs). Of one instant settings come before clients and publishes."""
    refills = refills_of(world)
    rows = [
        *_rates(world, target, changes, refills),
        *_quotas(world, target, changes),
        *_closes(world),
        *((sub.opened_ns, SUBSCRIBE, number, sub.mark) for number, sub in enumerate(world.subs)),
        *_clients(world, target, changes),
        *of_start(world, first_consumers(world, target, changes)),
        *_checks(world),
    ]
    few = np.array([(*row, *(0 for _ in range(WIDTH - len(row)))) for row in rows], dtype=np.int64).reshape(-1, WIDTH)
    publishes = world.demand_with(target.topic, changes.publish_factor).publishes
    return by_time(few, publishes, _charges(world), *own_charges(world, refills), _samples(instants_ns))


# ---- settings --------------------------------------------------------------------------------------------------------------------------


def _rates(world: World, target: Target, changes: Changes, refills: Mapping[int, Refill]) -> list[tuple[int, ...]]:
    """Rates as they were applied; those of the target's limiters with the changes. A limiter that nobody applied begins with its owner."""
    settings: list[Setting] = []
    applied: set[int] = set()
    for row in world.record.of("dispatch_rate"):
        number = owner_of(world, row)
        if number is None:
            continue
        limiter = limiter_of(world, row["level"], number)
        applied.add(limiter)
        change = changes.rates.get(row["level"], {}) if _is_target(target, row["level"], number) else {}
        # A bucket begins anew at its last refill before the beginning: its balance then is known.
        since_ns = max(row["ns"], refills[limiter].at_ns) if limiter in refills and row["ns"] < world.begin_ns else row["ns"]
        topic = _topic(world, row["level"], number)
        settings.append(Setting(since_ns, limiter, topic, {**row, **change}, changes.limiter or row["limiter"]))
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
    for row in world.record.of("backlog_quota"):
        number = world.topic_numbers.get(row["topic_id"])
        if number is not None:
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
    """Consumers come and go as they did; one more than there were comes and goes with one that was there. Who was there at the beginning
    comes right before it.
    """
    rows = []
    firsts = first_consumers(world, target, changes)
    for number in range(len(world.subs)):
        slots, recorded = consumers_of(world, target, changes, number), world.slots_of(number)
        for slot in range(slots):
            for one in world.presences_of(number):
                if one.slot != slot % max(1, recorded) or one.to_ns <= world.begin_ns:
                    continue
                if one.from_ns < world.begin_ns and number in world.starts:
                    rows.append((world.begin_ns - 1, THERE, firsts[number] + slot))
                    rows.append((one.to_ns, LEAVE, firsts[number] + slot))
                else:
                    rows.append((one.from_ns, ARRIVE, firsts[number] + slot))
                    rows.append((one.to_ns, LEAVE, firsts[number] + slot))
    return [row for row in rows if row[0] <= world.end_ns]


def _closes(world: World) -> list[tuple[int, ...]]:
    rows: list[tuple[int, ...]] = []
    first = 0
    for scale in world.scales:
        known = {int(ledger): first + k for k, ledger in enumerate(scale.ledgers)}
        closes = [row for row in world.record.of_topic("ledger_close", scale.topic_id) if row["ledger"] in known]
        rows += [(row["ns"], LEDGER_CLOSE, known[row["ledger"]], row["close_ts"]) for row in closes]
        first += len(scale.ledgers)
    return rows


def _charges(world: World) -> Array:
    """Deliveries of topics that are not in this world: they draw on the broker's limiter."""
    charges = world.record.charges
    return rows_of(charges[:, 0], CHARGE, limiter_of(world, LIMITER_LEVELS[0], 0), charges[:, 1], charges[:, 2])


def _samples(instants_ns: Array) -> Array:
    return rows_of(instants_ns, SAMPLE, np.arange(len(instants_ns)))
