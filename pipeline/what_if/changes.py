"""Settings that a replay changes: `--set KEY=VALUE`, read and refused by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pipeline.faults import BadConfig
from schemas.events import LIMITER_KINDS, LIMITER_LEVELS, QUOTA_POLICIES

#: Dimensions of a rate as people write them, and the field of `dispatch_rate` that each is.
DIMENSIONS = {"messages": "msg_rate", "bytes": "byte_rate", "period_s": "period_s"}
#: Levels whose rates may be relative to the publish rate of a topic; the broker's never is.
LEVELS_RELATIVE = LIMITER_LEVELS[1:]
#: Quotas as people write them, and their type in the log.
QUOTAS = {"size": "destination_storage", "age_s": "message_age"}
NONE = "none"
NO_LIMIT = -1
Value = TypeVar("Value")


@dataclass(frozen=True)
class Changes:
    """What is different. An empty field or null: as it was.

    `rates`: by level, {field of dispatch_rate: value}; −1 lifts a dimension, `relative` is 0 or 1. `quotas`: by type, {limit or policy:
    value}.
    """

    rates: dict[str, dict[str, int]] = field(default_factory=dict)
    limiter: str | None = None
    quotas: dict[str, dict[str, int | str]] = field(default_factory=dict)
    consumers: int | None = None
    speed: float = 1.0
    receiver_queue: int | None = None
    consumer_cap: int | None = None
    subscription_cap: int | None = None
    publish_factor: float = 1.0

    @property
    def are_of_subscription(self) -> bool:
        """Whether one of them needs the name of a subscription."""
        return self.consumers is not None or self.speed != 1.0 or self.receiver_queue is not None

    @property
    def any(self) -> bool:
        """Whether something is different."""
        return self != Changes()


def changes_of(texts: Sequence[str]) -> Changes:
    """Of `KEY=VALUE` each. Raises BadConfig for a key that is none, a value that is none, a key that comes twice."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not value:
            raise BadConfig(f"--set {text}: expected KEY=VALUE, as topic.dispatch_rate.messages=200")
        if key in found:
            raise BadConfig(f"--set {key}: it is there twice")
        found[key] = value
    return Changes(
        rates=_rates(found),
        limiter=_taken(found, "limiter", _one_of(LIMITER_KINDS)),
        quotas=_quotas(found),
        consumers=_taken(found, "consumers", _at_least(1)),
        speed=_taken(found, "consumers.speed", _factor) or 1.0,
        receiver_queue=_taken(found, "receiver_queue", _at_least(1)),
        consumer_cap=_taken(found, "unacked.consumer", _at_least(0)),
        subscription_cap=_taken(found, "unacked.subscription", _at_least(0)),
        publish_factor=_taken(found, "publish_rate", _factor) or 1.0,
        **_nothing_left(found),
    )


#: Every key, and its value in words: for help and docs.
KEYS = {
    **{f"{level}.dispatch_rate": "none: no limit at this level" for level in LIMITER_LEVELS},
    **{f"{level}.dispatch_rate.messages": "messages in a period, or none" for level in LIMITER_LEVELS},
    **{f"{level}.dispatch_rate.bytes": "bytes in a period, or none" for level in LIMITER_LEVELS},
    **{f"{level}.dispatch_rate.period_s": "seconds of a period" for level in LIMITER_LEVELS},
    **{f"{level}.dispatch_rate.relative": "true: the publish rate of the topic is added; false" for level in LEVELS_RELATIVE},
    "limiter": f"the limiter of all levels: {' or '.join(LIMITER_KINDS)}",
    "quota.size": "bytes, or none",
    "quota.size.policy": f"{', '.join(QUOTA_POLICIES)}",
    "quota.age_s": "seconds, or none",
    "quota.age_s.policy": f"{', '.join(QUOTA_POLICIES)}",
    "consumers": "consumers of the subscription",
    "consumers.speed": "factor: 2 means that each message takes half the time",
    "receiver_queue": "messages that each consumer asks for in advance",
    "unacked.consumer": "maxUnackedMessagesPerConsumer; 0: no cap",
    "unacked.subscription": "maxUnackedMessagesPerSubscription; 0: no cap",
    "publish_rate": "factor: 2 means that every entry comes twice",
}


def read_budget_of(option: str, text: str | None) -> float | None:
    """Bytes a second; null: no budget. Raises BadConfig for what is no number."""
    return None if text is None else float(_taken({option: text}, option, _at_least(1), option) or 0)


def _nothing_left(found: dict[str, str]) -> dict[str, Any]:
    if found:
        raise BadConfig(f"--set {next(iter(found))}: no such key; there are {', '.join(KEYS)}")
    return {}


def _taken(found: dict[str, str], key: str, read: Callable[[str], Value], option: str | None = None) -> Value | None:
    text = found.pop(key, None)
    if text is None:
        return None
    try:
        return read(text)
    except ValueError as why:
        raise BadConfig(f"{option or f'--set {key}'}={text}: {why}") from None


def _rates(found: dict[str, str]) -> dict[str, dict[str, int]]:
    rates: dict[str, dict[str, int]] = {}
    for level in LIMITER_LEVELS:
        key = f"{level}.dispatch_rate"
        whole = _taken(found, key, _one_of((NONE,)))
        of_level = {} if whole is None else {"msg_rate": NO_LIMIT, "byte_rate": NO_LIMIT}
        for name, column in DIMENSIONS.items():
            value = _taken(found, f"{key}.{name}", _at_least(1) if name == "period_s" else _limit)
            if value is not None:
                of_level[column] = value
        relative = _taken(found, f"{key}.relative", _one_of(("true", "false"))) if level in LEVELS_RELATIVE else None
        if relative is not None:
            of_level["relative"] = int(relative == "true")
        if of_level:
            rates[level] = of_level
    return rates


def _quotas(found: dict[str, str]) -> dict[str, dict[str, int | str]]:
    quotas: dict[str, dict[str, int | str]] = {}
    for name, quota_type in QUOTAS.items():
        limit = _taken(found, f"quota.{name}", _limit)
        policy = _taken(found, f"quota.{name}.policy", _one_of(QUOTA_POLICIES))
        of_type: dict[str, int | str] = {} if limit is None else {"limit": limit}
        if policy is not None:
            of_type["policy"] = policy
        if of_type:
            quotas[quota_type] = of_type
    return quotas


def _limit(text: str) -> int:
    return NO_LIMIT if text == NONE else _at_least(1)(text)


def _at_least(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) < 2**62:
            raise ValueError(f"expected a whole number from {least} on")
        return int(text)

    return read


def _factor(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 1000:
        raise ValueError("expected a factor from 0.001 to 1000")
    return value


def _one_of(words: Sequence[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"expected {' or '.join(words)}")
        return text

    return read
