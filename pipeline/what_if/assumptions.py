"""What a replay takes for granted, said with every answer: what lies outside of the log, and what of the log it does not replay."""

from pipeline.what_if.changes import Changes
from pipeline.what_if.given import Target
from pipeline.what_if.recorded import EVICTS
from pipeline.what_if.world import World

OUTSIDE = (
    "producers publish as they did: they do not react to another backlog",
    "storage answers as it did, also under more load",
    "consumers take as long for a message as they did then",
)

SHUT_OUT = "a quota shut producers out: entries that they would have published then are not in the record, nor in the answer"
RELATIVE = "a relative rate follows an average that is computed from the publishes, once in each cycle of the broker's statistics"


def assumptions(world: World, target: Target, changes: Changes) -> list[str]:
    """Sentences, the general ones first."""
    relative = [RELATIVE] if _has_relative(world, changes) else []
    return [*OUTSIDE, *_of_types(world, target, changes), *_of_record(world), *relative]


def _of_types(world: World, target: Target, changes: Changes) -> list[str]:
    keyed = [
        world.subs[s].name for s in range(len(world.subs)) if world.subs[s].sub_type == "Key_Shared" and _shares(world, target, changes, s)
    ]
    return [f"{name} is Key_Shared: its keys are taken to be even over its consumers" for name in keyed]


def _shares(world: World, target: Target, changes: Changes, sub: int) -> bool:
    return (changes.consumers if changes.consumers and sub in target.subs else world.slots_of(sub)) > 1


def _has_relative(world: World, changes: Changes) -> bool:
    return any(rate.get("relative") for rate in [*world.record.of("dispatch_rate"), *changes.rates.values()])


def were_shut_out(world: World) -> bool:
    """Whether a quota held producers back in the replayed time: nobody knows what they would have published."""
    return any(row["policy"] != EVICTS and row["ns"] >= world.begin_ns for row in world.record.of("quota_exceeded"))


def _of_record(world: World) -> list[str]:
    found = [SHUT_OUT] if were_shut_out(world) else []
    for sub in world.subs:
        if world.record.where("redeliver", sub.sub_id)["asked_again"].any():
            found.append(f"consumers gave back entries of {sub.name}: a replay gives back only those of consumers that leave")
        if sub.unknown_acks:
            found.append(f"{sub.name} had {sub.unknown_acks:,} acknowledged entries at the beginning, which are taken for backlog")
    return found
