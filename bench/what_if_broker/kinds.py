"""Kinds of pairs: the load of a topic, the settings of both sides, and the change between them as `--set` has it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.live_broker.admin import rate

#: A life: messages are published for the first part of it, and some limits let the rest go afterwards.
TOTAL_S = 30
CLASSIC = {"dispatchRateLimiterFactoryClassName": "org.apache.pulsar.broker.service.persistent.DispatchRateLimiterFactoryClassic"}
EVICT = "consumer_backlog_eviction"
#: Brokers. Kinds whose settings are those of topics and subscriptions are side by side on one.
LIMITS, CONSUMERS, CLASSIC_LIMITS, BROKER_MESSAGES, BROKER_BYTES = "limits", "consumers", "classic", "broker_messages", "broker_bytes"
SIZE_QUOTA = "size_quota"
#: With the precise age check a size eviction can block a thread of the broker for 30 s (docs/design/pulsar-semantics.md §9). A round of
#: checks each second: both sides have rounds at nearly the same instants of their load. Of rounds each 5 s one came at 1.9 s, one at 3.4 s.
ROUNDS = {"preciseTimeBasedBacklogQuotaCheck": "false", "backlogQuotaCheckIntervalInSeconds": "1"}


@dataclass(frozen=True)
class Load:
    """What is published to each topic of a kind from the begin on. `batch`: messages of an entry; `keys`: how many, 0 for none."""

    per_s: float = 60.0
    for_s: float = 16.0
    size: int = 500
    batch: int = 1
    keys: int = 0


@dataclass(frozen=True)
class Sub:
    """A subscription: how many consumers it has, and how long a message takes each.

    `gives_back_every`: each gives one of so many messages back; 0: none.
    """

    name: str = "billing"
    kind: str = "Shared"
    consumers: int = 1
    pause_ms: float = 0.0
    queue: int = 1000
    cumulative: bool = False
    gives_back_every: int = 0


@dataclass(frozen=True)
class Side:
    """One side of a pair. `broker`: on which it is; `settings`: its own. Null: no limit, no quota. A quota evicts."""

    broker: str = LIMITS
    topic_rate: Mapping[str, Any] | None = None
    subscription_rate: Mapping[str, Any] | None = None
    size_quota: int | None = None
    age_quota_s: int | None = None
    subs: tuple[Sub, ...] = (Sub(),)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """A pair. `texts`: the change; `next_limit`: what binds in side b; `topics`: how many have this load and these settings.

    `subscription`: the one that is named; null: none is.
    """

    name: str
    texts: tuple[str, ...]
    a: Side
    b: Side
    next_limit: str | None
    load: Load = Load()
    subscription: str | None = None
    topics: int = 1

    def side(self, name: str) -> Side:
        """`a` or `b`."""
        return {"a": self.a, "b": self.b}[name]

    @property
    def topic_names(self) -> list[str]:
        """Names without tenant and namespace; the first one is that of the question."""
        plain = "".join(letter if letter.isalnum() else "-" for letter in self.name.lower())
        return [plain, *(f"{plain}-{number}" for number in range(2, self.topics + 1))]


def _topic(name: str, before: Mapping[str, Any], after: Mapping[str, Any], text: str, dimension: str = "messages", **more: Any) -> Kind:
    """Another rate of the topic."""
    subs, broker = more.pop("subs", (Sub(),)), more.pop("broker", {})
    a, b = (Side(topic_rate=each, subs=subs, **broker) for each in (before, after))
    return Kind(name, (f"topic.dispatch_rate.{text}",), a, b, f"topic.dispatch_rate.{dimension}", **more)


def _subscription(name: str, before: Mapping[str, Any], after: Mapping[str, Any], text: str, dimension: str, **more: Any) -> Kind:
    """Another rate of the subscription."""
    subs, broker = more.pop("subs", (Sub(),)), more.pop("broker", {})
    a, b = (Side(subscription_rate=each, subs=subs, **broker) for each in (before, after))
    return Kind(name, (f"subscription.dispatch_rate.{text}",), a, b, f"subscription.dispatch_rate.{dimension}", **more)


def _broker(name: str, broker: str, setting: str, values: tuple[int, int], dimension: str, **more: Any) -> Kind:
    """Another rate of the broker."""
    a, b = (Side(broker, settings={setting: str(value)}) for value in values)
    return Kind(name, (f"broker.dispatch_rate.{dimension}={values[1]}",), a, b, f"broker.dispatch_rate.{dimension}", **more)


def _consumers(name: str, text: str, before: Sub, after: Sub, next_limit: str | None, **more: Any) -> Kind:
    """Other consumers."""
    a, b = (Side(CONSUMERS, subs=(each,)) for each in (before, after))
    return Kind(name, (text,), a, b, next_limit, subscription=before.name, **more)


_CLASSIC: Any = {"broker": CLASSIC_LIMITS, "settings": CLASSIC}
_SLOW = Sub(pause_ms=25, queue=40)
_DESK = Sub(pause_ms=40, queue=20)
_BATCHES = Load(batch=10, per_s=200, size=100)
_KEYS = Load(keys=200)

KINDS = (
    _topic("topic rate, messages", rate(25), rate(45), "messages=45"),
    _topic("topic rate, bytes", rate(byte=12_000), rate(byte=24_000), "bytes=24000", "bytes"),
    _subscription("subscription rate, messages", rate(50), rate(30), "messages=30", "messages"),
    _subscription("subscription rate, bytes", rate(byte=24_000), rate(byte=16_000), "bytes=16000", "bytes"),
    _topic("topic limit, two subscriptions", rate(50), rate(80), "messages=80", subs=(Sub(), Sub("audit"))),
    _topic("period of a rate", rate(50), rate(50, period_s=2), "period_s=2"),
    _topic("batches, messages", rate(80), rate(140), "messages=140", load=_BATCHES),
    _topic("batches, bytes", rate(byte=8_000), rate(byte=14_000), "bytes=14000", "bytes", load=_BATCHES),
    _topic("Exclusive, rate", rate(25), rate(45), "messages=45", subs=(Sub(kind="Exclusive", cumulative=True),)),
    _topic("Key_Shared, rate", rate(25), rate(45), "messages=45", subs=(Sub(kind="Key_Shared", consumers=2),), load=_KEYS),
    _topic("redelivery, rate", rate(25), rate(45), "messages=45", subs=(Sub(gives_back_every=20),)),
    Kind("limit lifted", ("topic.dispatch_rate=none",), Side(topic_rate=rate(25)), Side(), None),
    Kind("limit newly set", ("topic.dispatch_rate.messages=30",), Side(), Side(topic_rate=rate(30)), "topic.dispatch_rate.messages"),
    Kind(
        "token bucket to classic", ("limiter=classic",), Side(topic_rate=rate(40)), Side(topic_rate=rate(40), **_CLASSIC),
        "topic.dispatch_rate.messages",
    ),
    _topic("classic, topic rate, messages", rate(25), rate(45), "messages=45", broker=_CLASSIC),
    _subscription("classic, subscription rate, bytes", rate(byte=12_000), rate(byte=24_000), "bytes=24000", "bytes", broker=_CLASSIC),
    _broker("broker rate, messages", BROKER_MESSAGES, "dispatchThrottlingRateInMsg", (50, 80), "messages", topics=2),
    _broker("broker rate, bytes", BROKER_BYTES, "dispatchThrottlingRateInByte", (12_000, 24_000), "bytes"),
    _consumers("consumers 1 to 2", "consumers=2", _SLOW, Sub(pause_ms=25, queue=40, consumers=2), "consumers", load=Load(per_s=100)),
    _consumers("consumers 3 to 1", "consumers=1", Sub(pause_ms=25, queue=40, consumers=3), _SLOW, "consumers"),
    _consumers(
        "Key_Shared, consumers 1 to 3", "consumers=3", Sub(kind="Key_Shared", pause_ms=25, queue=40),
        Sub(kind="Key_Shared", pause_ms=25, queue=40, consumers=3), None, load=_KEYS,
    ),
    _consumers("consumers' speed", "consumers.speed=1.6", _DESK, Sub(pause_ms=25, queue=20), "consumers"),
    _consumers("receiver queue", "receiver_queue=80", _DESK, Sub(pause_ms=40, queue=80), "consumers"),
    _consumers("redelivery, consumers 1 to 2", "consumers=2", Sub(pause_ms=25, queue=40, gives_back_every=20),
               Sub(pause_ms=25, queue=40, consumers=2, gives_back_every=20), "consumers", load=Load(per_s=100)),
    Kind(
        "unacknowledged cap", ("unacked.consumer=200",),
        Side(CONSUMERS, subs=(Sub(pause_ms=25, queue=1000),), settings={"maxUnackedMessagesPerConsumer": "100"}),
        Side(CONSUMERS, subs=(Sub(pause_ms=25, queue=1000),), settings={"maxUnackedMessagesPerConsumer": "200"}), "unacked",
    ),
    Kind("size quota", ("quota.size=300000",), Side(SIZE_QUOTA, size_quota=100_000, subs=(_DESK,), settings=ROUNDS),
         Side(SIZE_QUOTA, size_quota=300_000, subs=(_DESK,), settings=ROUNDS), "consumers", load=Load(size=1000, per_s=50)),
    Kind("age quota", ("quota.age_s=12",), Side(CONSUMERS, age_quota_s=5, subs=(_DESK,)), Side(CONSUMERS, age_quota_s=12, subs=(_DESK,)),
         "consumers", load=Load(per_s=50)),
)  # fmt: skip


def lives() -> list[tuple[str, str]]:
    """(broker, side) of all that the kinds need, in turn."""
    return list(dict.fromkeys((kind.side(name).broker, name) for kind in KINDS for name in ("a", "b")))


def kinds_of(broker: str, name: str) -> list[tuple[Kind, Side]]:
    """Kinds that have this side on this broker."""
    return [(kind, kind.side(name)) for kind in KINDS if kind.side(name).broker == broker]
