"""What comes after the record (`--until`): when each subscription is current, as it was set and with the changes. A projection."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from pipeline.rules.array import Array
from pipeline.what_if.band import quick_and_slow, shared
from pipeline.what_if.behaviour import Behaviour
from pipeline.what_if.changes import Changes
from pipeline.what_if.compare import FEW_ENTRIES, FEW_SHARE, SLACK_S
from pipeline.what_if.given import Target
from pipeline.what_if.going_on import NS_PER_S, gone_on
from pipeline.what_if.latency import Latency
from pipeline.what_if.play import Life, play
from pipeline.what_if.world import World

Document = dict[str, Any]
MOST_INSTANTS = 600
_1970 = datetime(1970, 1, 1, tzinfo=UTC)


class Going(NamedTuple):
    """A record made ready, as `Case` of an answer has it."""

    world: World
    target: Target
    behaviours: list[Behaviour]
    latency: Latency
    instants_ns: Array


def add_projection(document: Document, case: Going, changes: Changes, until_s: float) -> None:
    """Put `until`, and of each subscription `projected`, into a document whose self-check is ok. Raises BadConfig where it is too long."""
    lasts_ns = int(until_s * NS_PER_S)
    from_ns = int(case.instants_ns[-1])
    world, demand = gone_on(case.world, from_ns, lasts_ns)
    step = max(NS_PER_S, lasts_ns // MOST_INSTANTS)
    instants_ns = np.arange(from_ns, from_ns + lasts_ns + 1, step, dtype=np.int64)
    longer = case._replace(world=world, instants_ns=instants_ns)
    per_s = [demand.entries_per_s(sub.topic) for sub in world.subs]
    document["until"] = {
        "to": _at(longer, int(instants_ns[-1])),
        "demand_from": _at(longer, demand.from_ns),
        "demand_to": _at(longer, demand.to_ns),
        "without_consumer": [sub.name for s, sub in enumerate(world.subs) if s in case.target.subs and not _has_consumer(world, s)],
        "entries_per_s": round(demand.entries_per_s(case.target.topic), 3),
    }
    for key, change in (("as_it_was", Changes()), ("would_be", changes)):
        published = [
            rate * (change.publish_factor if sub.topic == case.target.topic else 1.0) for rate, sub in zip(per_s, world.subs, strict=True)
        ]
        for one, found in zip(document["subscriptions"], _projected(longer, change, published), strict=True):
            one["projected"] = {**(one.get("projected") or {}), key: found}


def _has_consumer(world: World, sub: int) -> bool:
    return any(one.sub == sub and one.to_ns > world.end_ns for one in world.presences)


def _projected(case: Going, changes: Changes, per_s: Sequence[float]) -> list[Document]:
    """Of each subscription: samples, and when it is current: as expected, with quicker, and with slower consumers."""
    quick, slow = quick_and_slow(case.world, case.target, changes, case.behaviours)
    lives = [_played(case, changes, behaviours) for behaviours in (case.behaviours, quick, slow)]
    groups = shared(lives[0], [sub.topic for sub in case.world.subs], int(case.instants_ns[-1] - case.instants_ns[0]))
    return [_of(case, number, lives, [s for group in groups if number in group for s in group], per_s) for number in range(len(per_s))]


def _played(case: Going, changes: Changes, behaviours: Sequence[Behaviour]) -> Life:
    return play(case.world, case.target, changes, behaviours, case.latency, case.instants_ns)


def _of(case: Going, number: int, lives: Sequence[Life], sharing: Sequence[int], per_s: Sequence[float]) -> Document:
    """`sharing`: subscriptions that one limiter holds together. Each is surely current only when all of them are."""
    own = [current_from(life.backlog[:, number], per_s[number]) for life in lives]
    last = [own[2]]
    if sharing:
        last += [current_from(life.backlog[:, list(sharing)].sum(1), sum(per_s[s] for s in sharing)) for life in lives]
    known = [place for place in own if place is not None]
    return {
        "current_at": None if own[0] is None else _at(case, int(case.instants_ns[own[0]])),
        "earliest": _at(case, int(case.instants_ns[min(known)])) if known else None,
        "latest": None if None in last else _at(case, int(case.instants_ns[max(place for place in last if place is not None)])),
        "at_end": int(lives[0].backlog[-1, number]),
        "samples": [
            {"at": _at(case, int(ns)), "backlog": int(backlog)}
            for ns, backlog in zip(case.instants_ns, lives[0].backlog[:, number], strict=True)
        ],
    }


def current_from(backlog: Array, entries_per_s: float) -> int | None:
    """The first instant from which on nothing waits but what was published in the last second, to the end; null: there is none."""
    few = max(FEW_ENTRIES, FEW_SHARE * float(backlog.max(initial=0)), SLACK_S * entries_per_s)
    behind = np.flatnonzero(backlog > few)
    first = int(behind[-1]) + 1 if len(behind) else 0
    return first if first < len(backlog) else None


def _at(case: Going, ns: int) -> datetime:
    return _1970 + timedelta(microseconds=case.world.at_us(ns))
