"""The band of a predicted backlog: where the truth is at nine of ten instants, by what is not known and by what is chance."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pipeline.rules.array import Array
from pipeline.rules.replay.layout import LIMITER_CAUSES
from pipeline.what_if.behaviour import Behaviour
from pipeline.what_if.changes import Changes
from pipeline.what_if.compare import NS_PER_S
from pipeline.what_if.given import Target, consumers_of
from pipeline.what_if.limits import LEAST_SHARE
from pipeline.what_if.play import Life
from pipeline.what_if.world import World
from schemas.events import LIMITER_LEVELS

#: Two equal runs of a real broker differ by so much of the pace of a consumer that binds.
PACE_NOISE = 0.06
#: A pace that was only bounded may be so many times shorter.
BOUNDED_FACTOR = 4.0
#: A pace that was only bounded is taken from the quickest of many stretches: it may be so much longer.
BOUNDED_NOISE = 0.10
#: Of several consumers that share keys the busiest may have so many times its share.
KEYED_FACTOR = 2.0
#: Of a predicted backlog, whatever the check of the record has: chosen on simulated pairs (bench.what_if_pairs, seeds 107 to 190).
LEAST_SPREAD = 0.05
#: Counts of random publishes lie within so many standard deviations at 19 of 20 instants.
DEVIATIONS = 2.0
_BROKER, _TOPIC = (slice(2 * LIMITER_LEVELS.index(level), 2 * LIMITER_LEVELS.index(level) + 2) for level in ("broker", "topic"))


def quick_and_slow(
    world: World, target: Target, changes: Changes, behaviours: Sequence[Behaviour]
) -> tuple[list[Behaviour], list[Behaviour]]:
    """The behaviours with quicker, and with slower consumers, as far as their pace is not known."""
    quick, slow = [], []
    for number, one in enumerate(behaviours):
        less = 1 / (1 + max(PACE_NOISE, one.spread)) if one.known else 1 / BOUNDED_FACTOR
        more = 1 + max(PACE_NOISE, one.spread) if one.known else max(1 + BOUNDED_NOISE, one.bound_factor)
        if world.subs[number].sub_type == "Key_Shared" and consumers_of(world, target, changes, number) > 1:
            more = max(more, KEYED_FACTOR)
        quick.append(_at_pace(one, less))
        slow.append(_at_pace(one, more))
    return quick, slow


def _at_pace(one: Behaviour, factor: float) -> Behaviour:
    return replace(one, paces=tuple((at, ns if ns < 0 else int(ns * factor)) for at, ns in one.paces))


def bands(
    lives: Sequence[Life],
    groups: Sequence[Sequence[int]],
    chances: Array | None,
    published: Array,
    area_error: float,
    at_once: Array,
    least: float,
) -> Array:
    """Int64 [2, instants, subscriptions]: least and most, of the predicted life and those with quicker and slower consumers.

    `groups`: subscriptions that share a limit; `chances` [2, instants, subscriptions]: their least and most backlogs where chance decides
    otherwise, null: nobody knows. `published` [instants, subscriptions]: entries whose time is chance until then, 0 as recorded.
    `at_once` [subscriptions]: what a limiter lets through at once, before or after an instant. `least`: entries by which each backlog may
    differ besides, however small it is.
    """
    backlogs = np.stack([life.backlog for life in lives])
    more = np.maximum(max(area_error, LEAST_SPREAD) * backlogs[0], least) + at_once + DEVIATIONS * np.sqrt(published)
    low, high = np.maximum(0, backlogs.min(0) - more), backlogs.max(0) + more
    for members in groups:
        # Each may get all tokens, or none: of the sum more is known.
        most = high[:, members].sum(1, keepdims=True)
        if chances is None:
            low[:, members], high[:, members] = 0, most
        else:
            few, many = chances[:, :, members]
            low[:, members] = np.minimum(low[:, members], np.maximum(0, few - more[:, members]))
            high[:, members] = np.minimum(most, np.maximum(high[:, members], many + more[:, members]))
    return np.stack([np.floor(low), np.ceil(high)]).astype(np.int64)


def let_through(life: Life, published: Array, step_ns: int, lasted_ns: int) -> Array:
    """Entries that a limiter lets through at once, of each subscription that one holds; 0 of others. `published` [instants, subscriptions]:
    entries until then, an instant each `step_ns`.

    A blocked read waits for a second, then it takes what a period allows. When it does so is chance: before or after an instant. An
    eviction is no delivery, and rare: so it is the median of the steps in which something went.
    """
    found = np.zeros(life.backlog.shape[1], dtype=np.int64)
    went = np.diff(published, axis=0) - np.diff(life.backlog, axis=0)
    for s in np.flatnonzero(_is_held(life, slice(0, LIMITER_CAUSES), lasted_ns)):
        some = went[went[:, s] > 0, s]
        found[s] = int(np.median(some) * min(1.0, NS_PER_S / step_ns)) if len(some) else 0
    return found


def shared(life: Life, topics: Sequence[int], lasted_ns: int) -> list[list[int]]:
    """Groups of subscriptions that one limiter holds: of the broker, of each topic. Which of them gets its next token is chance."""
    held = np.flatnonzero(_is_held(life, _BROKER, lasted_ns)).tolist()
    by_topic: dict[int, list[int]] = {}
    for s in np.flatnonzero(_is_held(life, _TOPIC, lasted_ns)).tolist():
        by_topic.setdefault(topics[s], []).append(s)
    return [members for members in (held, *(by_topic[topic] for topic in sorted(by_topic))) if len(members) > 1]


def _is_held(life: Life, causes: slice, lasted_ns: int) -> NDArray[np.bool]:
    """Of each subscription, whether these causes hold it for a part of the time that counts."""
    found: NDArray[np.bool] = life.held_ns[:, causes].sum(1) >= LEAST_SHARE * lasted_ns
    return found
