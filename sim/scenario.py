"""A scenario: what there is and what happens to it. Read from TOML; docs/guide/simulator.md describes every key."""

import dataclasses
import difflib
import tomllib
import types
import typing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LOG_VERSIONS = ("1.0", "1.1", "1.2")
SHIPPED = Path(__file__).with_name("scenarios")


class BadScenario(ValueError):
    """A scenario that cannot be simulated: the message names the key and what is allowed."""


@dataclass(frozen=True)
class Span:
    """A stretch of the scenario, in s since its start."""

    from_s: float
    to_s: float


@dataclass(frozen=True)
class Transaction(Span):
    """A transaction in a topic: its first message comes at `from_s`, it ends at `to_s`."""

    entries_per_s: float = 1.0
    ends: str = "commit"


@dataclass(frozen=True)
class SlowReads(Span):
    """Storage that is slow for a while: a read of what is not in the cache takes that long."""

    read_ms: float


@dataclass(frozen=True)
class Restart:
    """The broker's process ends at `at_s`, cleanly or by a crash, and another one starts `down_s` later."""

    at_s: float
    down_s: float = 10.0
    clean: bool = True


@dataclass(frozen=True)
class ClockStep:
    """The wall clock of the brokers is set by `by_s`. The monotonic clock goes on."""

    at_s: float
    by_s: float


@dataclass(frozen=True)
class Limit:
    """Dispatch rates per period; ≤ 0 is none."""

    msg_rate: int = 0
    byte_rate: int = 0
    period_s: int = 1

    @property
    def limits(self) -> bool:
        """Whether it limits anything."""
        return self.msg_rate > 0 or self.byte_rate > 0


@dataclass(frozen=True)
class LimitChange(Limit):
    """The rates from `at_s` on."""

    at_s: float = 0.0


@dataclass(frozen=True)
class Brokers:
    """What all brokers have in common."""

    count: int = 1
    version: str = "4.0.8"
    limiter: str = "token_bucket"
    limit: Limit = Limit()
    limit_changes: tuple[LimitChange, ...] = ()
    quota_check_s: int = 60
    precise_age: bool = False
    max_unacked_per_consumer: int = 50_000
    max_unacked_per_subscription: int = 200_000
    look_ahead_per_consumer: int = 2_000
    look_ahead_per_subscription: int = 20_000
    pause_if_unwritable: bool = False
    read_ms: float = 2.0
    slow_reads: tuple[SlowReads, ...] = ()
    restarts: tuple[Restart, ...] = ()
    clock_steps: tuple[ClockStep, ...] = ()


@dataclass(frozen=True)
class Publish:
    """What is published into a topic."""

    shape: str = "steady"
    entries_per_s: float = 10.0
    msgs_per_entry: int = 1
    keys: int = 100
    entry_bytes: tuple[int, int] = (200, 1000)
    period_s: float = 86_400.0
    depth: float = 0.8
    every_s: float = 600.0
    burst_s: float = 30.0
    burst_entries_per_s: float = 100.0
    delayed_share: float = 0.0
    delay_s: tuple[float, float] = (5.0, 20.0)
    from_s: float = 0.0
    to_s: float = float("inf")


@dataclass(frozen=True)
class Consumers:
    """Consumers of one kind."""

    count: int = 1
    prefetch: int = 1000
    msgs_per_s: float = 1000.0
    ack_after_s: float = 0.0
    ack_every_ms: float = 100.0
    away: tuple[Span, ...] = ()
    pauses: tuple[Span, ...] = ()
    idle: tuple[Span, ...] = ()
    gives_back: tuple[Span, ...] = ()
    unwritable: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Subscription:
    """A subscription and its consumers."""

    name: str
    type: str = "Shared"
    limit: Limit = Limit()
    limit_changes: tuple[LimitChange, ...] = ()
    stuck: tuple[Span, ...] = ()
    consumers: tuple[Consumers, ...] = ()


@dataclass(frozen=True)
class Quotas:
    """Backlog quotas of a topic; a limit < 0 is none."""

    size_bytes: int = -1
    size_policy: str = "producer_request_hold"
    age_s: int = -1
    age_policy: str = "producer_request_hold"


@dataclass(frozen=True)
class Topic:
    """A topic, or `count` of them: {n} in the name is then the number."""

    name: str
    count: int = 1
    ledger_entries: int = 50_000
    limit: Limit = Limit()
    limit_changes: tuple[LimitChange, ...] = ()
    quotas: Quotas = Quotas()
    unloads_s: tuple[float, ...] = ()
    publish: Publish = Publish()
    transactions: tuple[Transaction, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()


@dataclass(frozen=True)
class Faults:
    """What happens to events on their way: shares of all events."""

    lost: float = 0.0
    repeated: float = 0.0
    damaged: float = 0.0
    late: float = 0.0
    late_s: float = 30.0


@dataclass(frozen=True)
class Scenario:
    """All of it."""

    title: str
    duration_s: float
    start: datetime = datetime(2026, 11, 21, tzinfo=UTC)
    log_version: str = "1.2"
    brokers: Brokers = Brokers()
    topics: tuple[Topic, ...] = field(default=())
    faults: Faults = Faults()


#: (class, key) → allowed values.
CHOICES: dict[tuple[type, str], tuple[str, ...]] = {
    (Scenario, "log_version"): LOG_VERSIONS,
    (Brokers, "limiter"): ("token_bucket", "classic"),
    (Publish, "shape"): ("steady", "wave", "bursts"),
    (Transaction, "ends"): ("commit", "abort"),
    (Subscription, "type"): ("Exclusive", "Shared", "Key_Shared"),
    (Quotas, "size_policy"): ("producer_request_hold", "producer_exception", "consumer_backlog_eviction"),
    (Quotas, "age_policy"): ("producer_request_hold", "producer_exception", "consumer_backlog_eviction"),
}
#: Numbers that may not be 0.
POSITIVE = {"count", "duration_s", "quota_check_s", "prefetch", "msgs_per_s", "msgs_per_entry", "keys", "ledger_entries", "period_s",
            "every_s", "read_ms", "ack_every_ms", "look_ahead_per_consumer", "look_ahead_per_subscription"}  # fmt: skip
#: Numbers that may be below 0: no limit, or a clock that is set back.
SIGNED = {"by_s", "size_bytes", "age_s", "msg_rate", "byte_rate"}
SHARES = {"lost", "repeated", "damaged", "late", "delayed_share", "depth"}


def read_scenario(path: Path) -> Scenario:
    """The scenario of a TOML file. Raises BadScenario where it cannot be read, or cannot be simulated."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise BadScenario(f"{path}: {problem}") from None
    return scenario_of(table)


def scenario_of(table: dict[str, Any]) -> Scenario:
    """The scenario of a parsed table."""
    scenario: Scenario = _built(Scenario, table, "")
    names = [topic.name for topic in scenario.topics]
    if len(set(names)) < len(names):
        raise BadScenario("topics: two have the same name")
    for topic in scenario.topics:
        if topic.count > 1 and "{n}" not in topic.name:
            raise BadScenario(f"topics.name: {topic.name} is there {topic.count} times: put {{n}} into the name")
        for subscription in topic.subscriptions:
            if subscription.type == "Exclusive" and sum(kind.count for kind in subscription.consumers) > 1:
                raise BadScenario(f"topics.subscriptions.consumers: {subscription.name} is Exclusive and has more than one consumer")
    return scenario


def _built(cls: type, table: Any, where: str) -> Any:
    """An instance of a dataclass, every key and value checked; `where` is the path of its keys."""
    if not isinstance(table, dict):
        raise BadScenario(f"{where or 'the file'}: expected a table")
    kinds = typing.get_type_hints(cls)
    for key in table:
        if key not in kinds:
            near = difflib.get_close_matches(key, kinds, 1)
            raise BadScenario(f"{_path(where, key)} is no key of a scenario" + (f"; do you mean {near[0]}?" if near else ""))
    values = {key: _value(cls, key, kinds[key], value, _path(where, key)) for key, value in table.items()}
    for one in dataclasses.fields(cls):
        if one.name not in values and one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
            raise BadScenario(f"{_path(where, one.name)} is missing")
    built = cls(**values)
    if hasattr(built, "from_s") and built.from_s >= built.to_s:
        raise BadScenario(f"{_path(where, 'to_s')} must be after from_s")
    return built


def _value(cls: type, key: str, kind: Any, value: Any, where: str) -> Any:
    if isinstance(kind, types.GenericAlias):
        return _several(cls, key, typing.get_args(kind), value, where)
    if dataclasses.is_dataclass(kind):
        return _built(typing.cast(type, kind), value, where)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadScenario(f"{where} = {value!r}: expected {kind.__name__}")
    if (cls, key) in CHOICES and value not in CHOICES[cls, key]:
        raise BadScenario(f"{where} = {value!r}: expected one of {', '.join(CHOICES[cls, key])}")
    if kind in (int, float):
        _check_number(key, value, where)
    if kind is datetime and value.tzinfo is None:
        raise BadScenario(f"{where} = {value}: give its time zone, as 2026-11-21T00:00:00Z")
    return value


def _several(cls: type, key: str, kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise BadScenario(f"{where}: expected a list")
    if kinds[-1] is Ellipsis:
        return tuple(_value(cls, key, kinds[0], one, where) for one in value)
    if len(value) != len(kinds):
        raise BadScenario(f"{where}: expected {len(kinds)} values, the least and the most")
    least, most = (_value(cls, key, kind, one, where) for kind, one in zip(kinds, value, strict=True))
    if least > most:
        raise BadScenario(f"{where}: the least comes first")
    return least, most


def _check_number(key: str, value: float, where: str) -> None:
    if key in POSITIVE and value <= 0:
        raise BadScenario(f"{where} = {value}: expected more than 0")
    if key not in SIGNED and value < 0:
        raise BadScenario(f"{where} = {value}: expected 0 or more")
    if key in SHARES and value > 1:
        raise BadScenario(f"{where} = {value}: expected a share, 0 to 1")


def _path(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
