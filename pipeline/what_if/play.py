"""Replays a world: builds the rows of a replay, runs it, and returns what became of each subscription."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.faults import BadConfig, invariant
from pipeline.rules.array import Array
from pipeline.rules.broker.layout import LIMITER_ROW, NONE
from pipeline.rules.records import Records, empty_rows
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
from pipeline.what_if.topic_rows import topic_rows
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


def play(world: World, target: Target, changes: Changes, behaviours: Sequence[Behaviour], latency: Latency, instants_ns: Array) -> Life:
    """The life under the changed settings. Raises BadConfig where a replay needs more room than it has."""
    replay = _replay(world, target, changes, given_rows(world, target, changes, instants_ns), len(instants_ns))
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
    topics, ledgers, entries = topic_rows(world, target, changes)
    slots = first_consumers(world, target, changes)
    subs, acks = _subs(world, target, changes, topics, slots)
    rows = empty_rows(GIVEN, len(given))
    for column, name in enumerate(GIVEN.names or ()):
        rows[name] = given[:, column]
    return empty_replay()._replace(
        topics=topics,
        ledgers=ledgers,
        entries=entries,
        subs=subs,
        consumers=empty_rows(CONSUMER, slots[-1]),
        limiters=empty_rows(LIMITER_ROW, 1 + len(topics) + len(subs)),
        agenda=empty_rows(PLAN, 64 + 8 * (len(subs) + int((given[:, 1] == ARRIVE).sum()) + slots[-1])),
        given=rows,
        acked=np.zeros(acks, dtype=np.int8),
        replays=np.zeros(acks, dtype=np.int64),
        samples=np.zeros((samples, len(subs), 2), dtype=np.int64),
    )


def _subs(world: World, target: Target, changes: Changes, topics: Records, firsts: list[int]) -> tuple[Records, int]:
    subs, acks = empty_rows(SUB, len(world.subs)), 0
    for number, (sub, declared) in enumerate(zip(subs, world.subs, strict=True)):
        sub.topic, sub.first_ack = declared.topic, acks
        sub.durable, sub.is_single = int(declared.durable), int(declared.sub_type in SINGLE)
        sub.cause, sub.limiter = NO_CONSUMER, 1 + len(topics) + number
        sub.first_consumer, sub.consumers = firsts[number], firsts[number + 1] - firsts[number]
        acks += int(topics[declared.topic].room)
    return subs, acks


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
    consumers = replay.consumers
    paces = [pace for behaviour in behaviours for pace in behaviour.paces]
    rows = empty_rows(PACE, len(paces))
    rows["from_ns"], rows["message_ns"] = [at for at, _ in paces], [ns for _, ns in paces]
    room = first_pace = 0
    for number, (sub, behaviour) in enumerate(zip(replay.subs, behaviours, strict=True)):
        is_target = number in target.subs
        sub.first_pace, sub.paces, sub.pace = first_pace, len(behaviour.paces), first_pace
        first_pace += len(behaviour.paces)
        queue = changes.receiver_queue if is_target and changes.receiver_queue is not None else behaviour.receiver_queue
        most = min(int(replay.topics[sub.topic].room), queue + int(replay.clock[0].consumer_cap) + _MORE_IN_HAND)
        for consumer in consumers[sub.first_consumer : sub.first_consumer + sub.consumers]:
            consumer.sub, consumer.receiver_queue = number, queue
            consumer.grant_at = max(1, behaviour.grant_at * queue // behaviour.receiver_queue)
            consumer.first_in_hand, consumer.room = room, most
            consumer.ack_after_ns = behaviour.ack_after_ns
            consumer.speed_ppm = int(PPM * (changes.speed if is_target else 1.0))
            room += most
    return replay._replace(paces=rows, in_hand=np.zeros(room, dtype=np.int64))
