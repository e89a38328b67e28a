"""Replays a world: builds the rows of a replay, runs it, and returns what became of each subscription."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.faults import BadConfig, invariant
from pipeline.rules.array import Array
from pipeline.rules.broker.layout import LIMITER_ROW, NONE
from pipeline.rules.records import Records, as_records, empty_rows
from pipeline.rules.replay.kinds import ARRIVE
from pipeline.rules.replay.layout import CONSUMER, GIVEN, NO_CONSUMER, PACE, PLAN, SUB, Replay  # fmt: skip
from pipeline.rules.replay.loop import run
from pipeline.rules.replay.rows import empty_replay
from pipeline.what_if.behaviour import Behaviour
from pipeline.what_if.changes import Changes
from pipeline.what_if.given import Target, first_consumers, given_rows
from pipeline.what_if.latency import Latency
from pipeline.what_if.record import BATCH_MODE
from pipeline.what_if.recorded import given_of
from pipeline.what_if.world import SINGLE, World
from schemas.packages.broker import VERSION_BASE

MS_PER_NS = 1_000_000
PPM = 1_000_000
#: Settings of the broker, and their values where the log has none.
_OF_CLOCK = {
    "max_read_entries": ("dispatcherMaxReadBatchSize", 100),
    "max_read_bytes": ("dispatcherMaxReadSizeBytes", 5_242_880),
    "round_robin_entries": ("dispatcherMaxRoundRobinBatchSize", 20),
    "consumer_cap": ("maxUnackedMessagesPerConsumer", 50_000),
    "subscription_cap": ("maxUnackedMessagesPerSubscription", 200_000),
}
_FLAGS = {"batch_mode": BATCH_MODE, "precise_check": "preciseTimeBasedBacklogQuotaCheck"}
#: Entries that a consumer may have in hand beyond its receiver queue and its cap, before a replay gives up.
_MORE_IN_HAND = 4096


@dataclass(frozen=True)
class Life:
    """What became of the subscriptions. `backlog`, `oldest_ms`: int64 [instants, subscriptions]; the others by subscription.

    `throttled`: int64 [3, 2], levels by messages and bytes. `held_ns`: by cause (pipeline/rules/replay/layout.py).
    """

    backlog: Array
    oldest_ms: Array
    throttled: Array
    held_ns: Array
    evicted: Array
    producers_held_ns: Array


def play(
    world: World,
    target: Target,
    changes: Changes,
    behaviours: Sequence[Behaviour],
    latency: Latency,
    instants_ns: Array,
    phases_ns: Array | None = None,
) -> Life:
    """The life under the changed settings. `phases_ns`: by subscription, from the first of several blocked reads to its retry; null: as
    from the others. Raises BadConfig where a replay needs more room than it has.
    """
    replay = _replay(world, target, changes, given_rows(world, target, changes, instants_ns), len(instants_ns))
    if phases_ns is not None:
        replay.subs["phase_ns"] = phases_ns
    _fill_clock(replay, world, changes, latency)
    return _lived(_with_consumers(replay, world, target, changes, behaviours))


def recorded_life(world: World, instants_ns: Array) -> Life:
    """The life as the record has it: backlogs and evictions. Nothing is decided, so nothing is throttled and nobody is held."""
    nobody = Target(NONE, ())
    return _lived(_replay(world, nobody, Changes(), given_of(world, instants_ns), len(instants_ns)))


def _lived(replay: Replay) -> Life:
    run(replay)
    if replay.clock[0].full:
        raise BadConfig("what-if: a consumer would have more messages in hand than a replay has room for")
    invariant(bool((replay.subs["deleted"] >= 0).all()), "a replay counts fewer than no acknowledged entries")
    subs = replay.subs
    return Life(
        replay.samples[:, :, 0], replay.samples[:, :, 1], np.array(subs["throttled"]), np.array(subs["held_ns"]),
        np.array(subs["evicted"]), np.array(replay.topics["held_from_ns"]),
    )  # fmt: skip


def _replay(world: World, target: Target, changes: Changes, given: Array, samples: int) -> Replay:
    demand = world.demand_with(target.topic, changes.publish_factor)
    topics, slots = demand.topics(), first_consumers(world, target, changes)
    subs, acks = _subs(world, topics, np.array(slots, dtype=np.int64))
    return empty_replay()._replace(
        topics=topics,
        ledgers=demand.ledgers(),
        entries=demand.entries,
        subs=subs,
        consumers=empty_rows(CONSUMER, slots[-1]),
        limiters=empty_rows(LIMITER_ROW, 1 + len(topics) + len(subs)),
        agenda=empty_rows(PLAN, 64 + 8 * (len(subs) + int((given[:, 1] == ARRIVE).sum()) + slots[-1])),
        given=as_records(given, GIVEN),
        acked=np.zeros(acks, dtype=np.int8),
        replays=np.zeros(acks, dtype=np.int64),
        samples=np.zeros((samples, len(subs), 2), dtype=np.int64),
    )


def _subs(world: World, topics: Records, firsts: Array) -> tuple[Records, int]:
    """Rows of the subscriptions, and how many acknowledgements they may have. `firsts`: consumers, as `first_consumers` has them."""
    subs = empty_rows(SUB, len(world.subs))
    subs["topic"] = [sub.topic for sub in world.subs]
    rooms = topics["room"][subs["topic"]]
    subs["first_ack"] = np.cumsum(rooms) - rooms
    subs["durable"], subs["is_single"] = [sub.durable for sub in world.subs], [sub.sub_type in SINGLE for sub in world.subs]
    subs["cause"], subs["limiter"] = NO_CONSUMER, 1 + len(topics) + np.arange(len(subs))
    subs["first_consumer"], subs["consumers"] = firsts[:-1], np.diff(firsts)
    return subs, int(rooms.sum())


def _fill_clock(replay: Replay, world: World, changes: Changes, latency: Latency) -> None:
    clock, settings = replay.clock[0], world.record.setting
    for name, (key, usual) in _OF_CLOCK.items():
        clock[name] = int(float(settings.get(key, usual)))
    for name, key in _FLAGS.items():
        clock[name] = int(settings.get(key, "false") == "true")
    clock.read_ns, clock.wake_ns = latency.read_ns, latency.wake_ns
    clock.retry_ns, clock.grant_ns = latency.retry_ns, latency.grant_ns
    clock.wall_minus_ns = world.wall_minus_ns
    clock.version = version_number(next((row["version"] for row in reversed(world.record.of("broker_start"))), None))
    if changes.consumer_cap is not None:
        clock.consumer_cap = changes.consumer_cap
    if changes.subscription_cap is not None:
        clock.subscription_cap = changes.subscription_cap


def version_number(version: str | None) -> int:
    """Of Pulsar a.b.c: a · 10⁶ + b · 10³ + c, as lanes have it; 0 where it is not known."""
    parts = [*re.findall(r"[0-9]+", (version or "").partition("-")[0]), "0", "0", "0"][:3]
    return sum(int(part) * VERSION_BASE ** (2 - k) for k, part in enumerate(parts))


def _with_consumers(replay: Replay, world: World, target: Target, changes: Changes, behaviours: Sequence[Behaviour]) -> Replay:
    """With the consumers of every subscription, and their paces."""
    subs, consumers = replay.subs, replay.consumers
    paces = [pace for behaviour in behaviours for pace in behaviour.paces]
    rows = empty_rows(PACE, len(paces))
    rows["from_ns"], rows["message_ns"] = [at for at, _ in paces], [ns for _, ns in paces]
    subs["paces"] = [len(behaviour.paces) for behaviour in behaviours]
    subs["first_pace"] = subs["pace"] = np.cumsum(subs["paces"]) - subs["paces"]
    is_target = np.isin(np.arange(len(subs)), target.subs)
    recorded_queue = np.array([behaviour.receiver_queue for behaviour in behaviours], dtype=np.int64)
    queue = recorded_queue if changes.receiver_queue is None else np.where(is_target, changes.receiver_queue, recorded_queue)
    grant_at = np.maximum(1, np.array([behaviour.grant_at for behaviour in behaviours], dtype=np.int64) * queue // recorded_queue)
    room = np.minimum(replay.topics["room"][subs["topic"]], queue + int(replay.clock[0].consumer_cap) + _MORE_IN_HAND)
    of_sub = np.repeat(np.arange(len(subs)), subs["consumers"])
    consumers["sub"], consumers["receiver_queue"], consumers["grant_at"] = of_sub, queue[of_sub], grant_at[of_sub]
    consumers["room"] = room[of_sub]
    consumers["first_in_hand"] = np.cumsum(consumers["room"]) - consumers["room"]
    consumers["ack_after_ns"] = np.array([behaviour.ack_after_ns for behaviour in behaviours], dtype=np.int64)[of_sub]
    consumers["speed_ppm"] = np.where(is_target, int(PPM * changes.speed), PPM)[of_sub]
    return replay._replace(paces=rows, in_hand=np.zeros(int(consumers["room"].sum()), dtype=np.int64))
