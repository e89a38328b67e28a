"""Kinds of pairs: a random life, and the same demand under one other setting, from a stream of chance."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from sim.scenario import Brokers, Consumers, Limit, Publish, Quotas, Scenario, Subscription, Topic

TOPIC, OTHER_TOPIC = "persistent://shop/eu/orders", "persistent://shop/eu/payments"
BILLING, AUDIT = "billing", "audit"
#: The mean of what is published, if nothing else is said.
ENTRY_BYTES = (200, 1000)
MEAN_BYTES = 600
EVICT = "consumer_backlog_eviction"
#: A limit that is far from what binds is no question; near the demand both lives are chance.
FACTORS = (0.4, 0.6, 1.6, 2.5)
LEVELS = ("broker", "topic", "subscription")


@dataclass(frozen=True)
class Pair:
    """Two scenarios of one demand. `texts`: what differs, as `--set` has it; `subscription`: the one that is named, or none."""

    before: Scenario
    after: Scenario
    texts: tuple[str, ...]
    subscription: str | None = None


Kind = Callable[[Random], Pair]


def _publish(chance: Random, **more: Any) -> Publish:
    """A burst for the first part of the record, and little after it; or a steady flow."""
    rate = chance.uniform(40, 120)
    if chance.random() < 0.6:
        burst_s = chance.uniform(25, 45)
        return Publish(shape="bursts", every_s=10_000.0, burst_s=burst_s, burst_entries_per_s=rate, entries_per_s=rate * 0.1, **more)
    return Publish(entries_per_s=rate, to_s=chance.uniform(40, 70), **more)


def _rate_of(publish: Publish) -> float:
    """Messages that are published in a second, at the most."""
    entries = publish.burst_entries_per_s if publish.shape == "bursts" else publish.entries_per_s
    return entries * publish.msgs_per_entry


def _scenario(chance: Random, publish: Publish, subscriptions: tuple[Subscription, ...], **brokers: Any) -> Scenario:
    brokers = {"limiter": chance.choice(("token_bucket", "classic")), "quota_check_s": 10, **brokers}
    topic = Topic(TOPIC, publish=publish, subscriptions=subscriptions)
    return Scenario("pair", float(chance.randint(75, 120)), brokers=Brokers(**brokers), topics=(topic,))


def _quick(chance: Random, name: str = BILLING, **more: Any) -> Subscription:
    """A subscription whose consumer keeps up."""
    return Subscription(name, consumers=(Consumers(prefetch=chance.choice((200, 1000)), msgs_per_s=chance.uniform(1000, 4000)),), **more)


def _slow(chance: Random, publish: Publish, count: int, share: float, **more: Any) -> Subscription:
    """A subscription whose consumers together take `share` of what comes."""
    pace = share * _rate_of(publish) / count
    queue = chance.choice((20, 50, 200))
    return Subscription(BILLING, consumers=(Consumers(count=count, prefetch=queue, msgs_per_s=pace, ack_every_ms=20.0),), **more)


def _topic(scenario: Scenario, **changes: Any) -> Scenario:
    """With another first topic."""
    return replace(scenario, topics=(replace(scenario.topics[0], **changes), *scenario.topics[1:]))


def _subscription(scenario: Scenario, **changes: Any) -> Scenario:
    """With another first subscription of the first topic."""
    first, *others = scenario.topics[0].subscriptions
    return _topic(scenario, subscriptions=(replace(first, **changes), *others))


def _consumers(scenario: Scenario, **changes: Any) -> Scenario:
    (kind,) = scenario.topics[0].subscriptions[0].consumers
    return _subscription(scenario, consumers=(replace(kind, **changes),))


def _limited(scenario: Scenario, level: str, limit: Limit) -> Scenario:
    if level == "broker":
        return replace(scenario, brokers=replace(scenario.brokers, limit=limit))
    return _topic(scenario, limit=limit) if level == "topic" else _subscription(scenario, limit=limit)


# ---- limits -----------------------------------------------------------------------------------------------------------------------------


def rate(level: str, dimension: str, **more: Any) -> Kind:
    """A rate below the demand, and another one."""

    def kind(chance: Random) -> Pair:
        publish = _publish(chance, entry_bytes=ENTRY_BYTES, **more)
        scenario = _scenario(chance, publish, (_quick(chance),))
        return _changed_rate(chance, scenario, publish, level, dimension)

    return kind


def _changed_rate(chance: Random, scenario: Scenario, publish: Publish, level: str, dimension: str) -> Pair:
    unit = MEAN_BYTES / publish.msgs_per_entry if dimension == "bytes" else 1.0
    before = max(1, int(_rate_of(publish) * unit * chance.uniform(0.35, 0.7)))
    after = max(1, int(before * chance.choice(FACTORS)))
    field = {"messages": "msg_rate", "bytes": "byte_rate"}[dimension]
    return Pair(
        _limited(scenario, level, Limit(**{field: before})), _limited(scenario, level, Limit(**{field: after})),
        (f"{level}.dispatch_rate.{dimension}={after}",),
    )  # fmt: skip


def lifted(chance: Random) -> Pair:
    """A limit, and none; at any level."""
    publish, level = _publish(chance), chance.choice(LEVELS)
    scenario = _scenario(chance, publish, (_quick(chance),))
    limit = Limit(msg_rate=int(_rate_of(publish) * chance.uniform(0.3, 0.7)))
    return Pair(_limited(scenario, level, limit), scenario, (f"{level}.dispatch_rate=none",))


def newly_set(chance: Random) -> Pair:
    """No limit, and one; at any level."""
    publish, level = _publish(chance), chance.choice(LEVELS)
    scenario = _scenario(chance, publish, (_quick(chance),))
    limit = Limit(msg_rate=int(_rate_of(publish) * chance.uniform(0.3, 0.8)))
    return Pair(scenario, _limited(scenario, level, limit), (f"{level}.dispatch_rate.messages={limit.msg_rate}",))


def period(chance: Random) -> Pair:
    """As many messages in longer periods."""
    publish, level = _publish(chance), chance.choice(LEVELS)
    scenario = _scenario(chance, publish, (_quick(chance),))
    a_second, period_s = int(_rate_of(publish) * chance.uniform(0.7, 0.9)), chance.choice((2, 3, 5))
    return Pair(
        _limited(scenario, level, Limit(msg_rate=a_second)), _limited(scenario, level, Limit(msg_rate=a_second, period_s=period_s)),
        (f"{level}.dispatch_rate.period_s={period_s}",),
    )  # fmt: skip


def limiter_model(chance: Random) -> Pair:
    """The same rate with the other kind of limiter."""
    publish, level = _publish(chance), chance.choice(LEVELS)
    limit = Limit(msg_rate=int(_rate_of(publish) * chance.uniform(0.4, 0.8)))
    before = _limited(_scenario(chance, publish, (_quick(chance),)), level, limit)
    other = "classic" if before.brokers.limiter == "token_bucket" else "token_bucket"
    return Pair(before, replace(before, brokers=replace(before.brokers, limiter=other)), (f"limiter={other}",))


def shared_limit(level: str) -> Kind:
    """A limit that several subscriptions share; of the broker, also over topics."""

    def kind(chance: Random) -> Pair:
        publish = _publish(chance)
        scenario = _scenario(chance, publish, (_quick(chance), _quick(chance, AUDIT)))
        if level == "broker":
            other = Topic(OTHER_TOPIC, publish=Publish(entries_per_s=chance.uniform(30, 80), to_s=60.0), subscriptions=(_quick(chance),))
            scenario = replace(scenario, topics=(*scenario.topics, other))
        limit = int(_rate_of(publish) * chance.uniform(0.6, 1.3))
        after = int(limit * chance.choice(FACTORS))
        return Pair(
            _limited(scenario, level, Limit(msg_rate=limit)), _limited(scenario, level, Limit(msg_rate=after)),
            (f"{level}.dispatch_rate.messages={after}",),
        )  # fmt: skip

    return kind


def limit_and_slow(chance: Random) -> Pair:
    """A limit is raised, and then the consumers bind."""
    publish = _publish(chance)
    scenario = _scenario(chance, publish, (_slow(chance, publish, 1, chance.uniform(0.55, 0.8)),))
    limit = Limit(msg_rate=int(_rate_of(publish) * chance.uniform(0.25, 0.45)))
    after = limit.msg_rate * 4
    return Pair(_limited(scenario, "topic", limit), _limited(scenario, "topic", Limit(msg_rate=after)),
                (f"topic.dispatch_rate.messages={after}",))  # fmt: skip


# ---- consumers --------------------------------------------------------------------------------------------------------------------------


def consumers(before: int, after: int, **more: Any) -> Kind:
    """Another number of consumers; one takes less than what comes."""

    def kind(chance: Random) -> Pair:
        publish = _publish(chance)
        share = chance.uniform(0.4, 0.75) if before < after else chance.uniform(0.9, 1.2)
        first = _scenario(chance, publish, (_slow(chance, publish, before, share, **more),))
        return Pair(first, _consumers(first, count=after), (f"consumers={after}",), BILLING)

    return kind


def speed(**more: Any) -> Kind:
    """Quicker or slower consumers."""

    def kind(chance: Random) -> Pair:
        publish = _publish(chance)
        factor = chance.choice((0.5, 0.7, 1.5, 2.0, 3.0))
        first = _scenario(chance, publish, (_slow(chance, publish, 1, chance.uniform(0.5, 0.85), **more),))
        (kind_of,) = first.topics[0].subscriptions[0].consumers
        return Pair(first, _consumers(first, msgs_per_s=kind_of.msgs_per_s * factor), (f"consumers.speed={factor}",), BILLING)

    return kind


def receiver_queue(chance: Random) -> Pair:
    """Another receiver queue, where consumers bind."""
    publish, after = _publish(chance), chance.choice((10, 100, 500))
    first = _scenario(chance, publish, (_slow(chance, publish, 2, chance.uniform(0.5, 0.9)),))
    return Pair(first, _consumers(first, prefetch=after), (f"receiver_queue={after}",), BILLING)


def exclusive_rate(chance: Random) -> Pair:
    """A limit of a subscription with one consumer, who acknowledges all up to an entry."""
    publish = _publish(chance)
    scenario = _scenario(chance, publish, (_quick(chance, type="Exclusive"),))
    return _changed_rate(chance, scenario, publish, chance.choice(("topic", "subscription")), chance.choice(("messages", "bytes")))


def key_shared_rate(chance: Random) -> Pair:
    """A limit of a subscription whose consumers share keys."""
    publish = _publish(chance, keys=1000)
    consumers_of = (Consumers(count=2, prefetch=1000, msgs_per_s=2000.0),)
    scenario = _scenario(chance, publish, (Subscription(BILLING, type="Key_Shared", consumers=consumers_of),))
    return _changed_rate(chance, scenario, publish, "topic", "messages")


def unacked_cap(chance: Random) -> Pair:
    """A cap of a consumer, with a queue that is larger than the cap, and a consumer who is slow."""
    publish = _publish(chance)
    count, cap = chance.choice((1, 2)), chance.choice((100, 200))
    slow = _slow(chance, publish, count, chance.uniform(0.5, 0.8))
    slow = replace(slow, consumers=(replace(slow.consumers[0], prefetch=1000),))
    which = chance.choice(("consumer", "subscription"))
    field = f"max_unacked_per_{which}"
    more: dict[str, Any] = {field: cap * chance.choice((2, 4))}
    first = _scenario(chance, publish, (slow,), **{field: cap})
    return Pair(first, replace(first, brokers=replace(first.brokers, **more)), (f"unacked.{which}={more[field]}",))


# ---- quotas and demand ------------------------------------------------------------------------------------------------------------------


def size_quota(chance: Random) -> Pair:
    """A size quota that evicts: another limit, none, or one where there was none."""
    publish = _publish(chance)
    scenario = _scenario(chance, publish, (_slow(chance, publish, 1, chance.uniform(0.3, 0.6)),))
    all_bytes = _rate_of(publish) * MEAN_BYTES * 30
    before, after = int(all_bytes * chance.uniform(0.1, 0.3)), int(all_bytes * chance.uniform(0.35, 0.6))
    first, second = chance.choice(((before, after), (after, before), (before, -1), (-1, before)))
    return Pair(
        _topic(scenario, quotas=Quotas(size_bytes=first, size_policy=EVICT)),
        _topic(scenario, quotas=Quotas(size_bytes=second, size_policy=EVICT)),
        (f"quota.size={'none' if second < 0 else second}", f"quota.size.policy={EVICT}"),
    )


def age_quota(*, precise: bool) -> Kind:
    """An age quota that evicts, by the publish time or by closed ledgers: another limit, none, or one where there was none."""

    def kind(chance: Random) -> Pair:
        publish = _publish(chance)
        scenario = _scenario(chance, publish, (_slow(chance, publish, 1, chance.uniform(0.3, 0.6)),), precise_age=precise)
        scenario = _topic(scenario, ledger_entries=50_000 if precise else 400)
        first, second = chance.choice(((5, 15), (15, 5), (8, -1), (-1, 8)))
        return Pair(
            _topic(scenario, quotas=Quotas(age_s=first, age_policy=EVICT)),
            _topic(scenario, quotas=Quotas(age_s=second, age_policy=EVICT)),
            (f"quota.age_s={'none' if second < 0 else second}", f"quota.age_s.policy={EVICT}"),
        )

    return kind


def publish_rate(chance: Random) -> Pair:
    """More or less is published, below a limit or to consumers who are slow."""
    publish, factor = _publish(chance), chance.choice((0.5, 0.75, 1.5, 2.0))
    if chance.random() < 0.5:
        scenario = _scenario(chance, publish, (_slow(chance, publish, 1, chance.uniform(0.5, 0.8)),))
    else:
        scenario = _limited(_scenario(chance, publish, (_quick(chance),)), "topic", Limit(msg_rate=int(_rate_of(publish) * 0.6)))
    more = replace(publish, entries_per_s=publish.entries_per_s * factor, burst_entries_per_s=publish.burst_entries_per_s * factor)
    return Pair(scenario, _topic(scenario, publish=more), (f"publish_rate={factor}",))


def batches(dimension: str) -> Kind:
    """A limit of entries of several messages."""

    def kind(chance: Random) -> Pair:
        return rate("topic", dimension, msgs_per_entry=chance.choice((3, 10, 25)))(chance)

    return kind


#: By the name that the table has.
KINDS: dict[str, Kind] = {
    "topic rate, messages": rate("topic", "messages"),
    "topic rate, bytes": rate("topic", "bytes"),
    "broker rate, messages": rate("broker", "messages"),
    "broker rate, bytes": rate("broker", "bytes"),
    "subscription rate, messages": rate("subscription", "messages"),
    "subscription rate, bytes": rate("subscription", "bytes"),
    "limit lifted": lifted,
    "limit newly set": newly_set,
    "period of a rate": period,
    "limiter model": limiter_model,
    "topic limit, two subscriptions": shared_limit("topic"),
    "broker limit, two topics": shared_limit("broker"),
    "limit raised, consumers bind": limit_and_slow,
    "batches, messages": batches("messages"),
    "batches, bytes": batches("bytes"),
    "Exclusive, rate": exclusive_rate,
    "Key_Shared, rate": key_shared_rate,
    "consumers 1 to 3": consumers(1, 3),
    "consumers 3 to 1": consumers(3, 1),
    "Key_Shared, consumers 1 to 3": consumers(1, 3, type="Key_Shared"),
    "consumers' speed": speed(),
    "Exclusive, speed": speed(type="Exclusive"),
    "receiver queue": receiver_queue,
    "unacknowledged cap": unacked_cap,
    "size quota": size_quota,
    "age quota, precise": age_quota(precise=True),
    "age quota, by ledgers": age_quota(precise=False),
    "publish rate": publish_rate,
}
