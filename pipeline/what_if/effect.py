"""Changes that would change nothing in a record are refused by their key: an answer would look like one about them."""

from collections.abc import Iterable

from pipeline.faults import BadConfig
from pipeline.what_if.changes import DIMENSIONS, LEVELS_RELATIVE, QUOTAS, Changes
from pipeline.what_if.given import Target
from pipeline.what_if.record import Row
from pipeline.what_if.world import SINGLE, World

_NAMES = {column: name for name, column in DIMENSIONS.items()} | {"relative": "relative"}
#: A replay renews a relative rate with a full bucket: one of a longer period would be more than a tenth of a minute.
MOST_PERIOD_S = 6


def refuse_without_effect(world: World, target: Target, changes: Changes) -> None:
    """Raises BadConfig for a period, a relative rate, a kind of limiter or a policy where there is no limit that it could be of, and for
    more consumers where one at a time gets entries.
    """
    for level, change in changes.rates.items():
        alone = [name for column, name in _NAMES.items() if column in change and column not in ("msg_rate", "byte_rate")]
        if alone and not any(_has_rate({**row, **change}) for row in _rates(world, target, level)):
            key = f"{level}.dispatch_rate"
            raise BadConfig(f"--set {key}.{alone[0]}: no limit is there at this level; set {key}.messages or {key}.bytes, too")
        if change.get("relative") and max(_periods(world, target, level, change)) > MOST_PERIOD_S:
            raise BadConfig(f"--set {level}.dispatch_rate.relative: only of rates with a period of at most {MOST_PERIOD_S} s")
    if changes.limiter is not None and not any(_has_rate(row) for row in [*world.record.of("dispatch_rate"), *changes.rates.values()]):
        raise BadConfig("--set limiter: no limit is there; set a rate, too")
    for name, quota_type in QUOTAS.items():
        if changes.quotas.get(quota_type, {}).keys() == {"policy"} and not _has_quota(world, target, quota_type):
            raise BadConfig(f"--set quota.{name}.policy: no such quota is there; set quota.{name}, too")
    for sub in (world.subs[s] for s in target.subs if (changes.consumers or 0) > 1):
        if sub.sub_type in SINGLE:
            raise BadConfig(f"--set consumers: {sub.name} is {sub.sub_type}: one consumer gets its entries, and more change nothing")


def _rates(world: World, target: Target, level: str) -> Iterable[Row]:
    """Rates of the target's limiters of a level, as they were applied; an empty one for limiters that had none."""
    yield {}
    topic_id = world.scales[target.topic].topic_id
    ids = {world.subs[s].sub_id for s in target.subs}
    for row in world.record.of("dispatch_rate"):
        is_target = row["topic_id"] == topic_id if level == LEVELS_RELATIVE[0] else row["sub_id"] in ids
        if row["level"] == level and (level not in LEVELS_RELATIVE or is_target):
            yield row


def _periods(world: World, target: Target, level: str, change: Row) -> list[int]:
    return [{**row, **change}.get("period_s") or 1 for row in _rates(world, target, level)]


def _has_rate(rate: Row) -> bool:
    return any((rate.get(column) or 0) > 0 for column in ("msg_rate", "byte_rate"))


def _has_quota(world: World, target: Target, quota_type: str) -> bool:
    topic_id = world.scales[target.topic].topic_id
    return any(
        row["topic_id"] == topic_id and row["quota_type"] == quota_type and (row["limit"] or 0) > 0
        for row in world.record.of("backlog_quota")
    )
