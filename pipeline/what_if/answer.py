"""The answer of what-if: the life as it was beside the life as it would have been, or why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from typing import Any

import numpy as np

from pipeline.diagnosis.evidence import NoAnswer
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.rules.array import Array
from pipeline.what_if.assumptions import assumptions, were_shut_out
from pipeline.what_if.band import bands, let_through, quick_and_slow, shared
from pipeline.what_if.behaviour import Behaviour, behaviour_of
from pipeline.what_if.chance import MOST_ENTRIES, phases_ns
from pipeline.what_if.changes import Changes
from pipeline.what_if.compare import SLACK_S, SelfCheck, drained_at, self_check
from pipeline.what_if.counters import counters_of
from pipeline.what_if.effect import refuse_without_effect
from pipeline.what_if.given import Target
from pipeline.what_if.latency import Latency, latency_of
from pipeline.what_if.limits import NAMES_OF_CAUSES, next_limit
from pipeline.what_if.play import Life, play, recorded_life
from pipeline.what_if.projection import Going, add_projection
from pipeline.what_if.record import record_of
from pipeline.what_if.recorded import flow_of
from pipeline.what_if.samples import samples_of
from pipeline.what_if.stretch import Span
from pipeline.what_if.world import World, world_of
from schemas.events import LIMITER_LEVELS

NS_PER_S = 1_000_000_000
#: Instants of an answer, at most, and their least distance.
MOST_INSTANTS, LEAST_STEP_NS = 600, NS_PER_S
_1970 = datetime(1970, 1, 1, tzinfo=UTC)

Document = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A record made ready: its world, who changes, how consumers behave, and the instants that are compared."""

    world: World
    target: Target
    behaviours: list[Behaviour]
    latency: Latency
    instants_ns: Array
    counters: Array

    @cached_property
    def at(self) -> list[datetime]:
        """The instants by the wall clock."""
        return [_at(self.world, int(ns)) for ns in self.instants_ns]

    def of(self, subs: tuple[int, ...]) -> "Case":
        """The same with other subscriptions that change."""
        return replace(self, target=Target(self.target.topic, subs))


def what_if(
    look: ReadingRoom,
    topic: str,
    subscription: str | None,
    changes: Changes,
    broker: str | None,
    span: Span,
    until_s: float | None = None,
    *,
    may_share: bool = False,
) -> Document:
    """The document (docs/reference/json.md). `span`: from and to; null: where the record begins and ends. `until_s`: how long it goes on
    after the end of the record; null: it does not. `may_share`: all topics of the broker are replayed; without it only where they share
    its limiter.

    Raises NoAnswer where the record does not hold what a replay needs, BadConfig for a subscription that is not there.
    """
    case = case_of(look, topic, subscription, changes, broker, span, may_share=may_share)
    was = recorded_life(case.world, case.instants_ns)
    again = played(case, Changes(), case.behaviours)
    check = _checked(case, was, again)
    document: Document = {
        "topic": topic,
        "subscription": subscription,
        "broker": case.world.record.broker,
        "epoch": case.world.record.epoch,
        "from": _at(case.world, int(case.instants_ns[0])),
        "to": _at(case.world, int(case.instants_ns[-1])),
        "self_check": {
            "ok": check.ok,
            "area_error": round(check.area_error, 4),
            "throttled_error": round(check.throttled_error, 4),
            "evicted_error": round(check.evicted_error, 4),
            "reasons": list(check.reasons),
        },
        "until": None,
        "assumptions": assumptions(case.world, case.target, changes),
    }
    lives = _lives(case, changes) if check.ok else None
    if case.world.record.is_apart and any(life.throttled[:, 0].any() for life in (again, *(lives or ()))):
        return what_if(look, topic, subscription, changes, broker, span, until_s, may_share=True)
    document["next_limit"] = None if lives is None else next_limit(lives[0], case.target.subs, _lasted_ns(case))
    document["sure"] = lives is not None and _is_sure(case, lives) and not were_shut_out(case.world)
    document["producers_held_from"] = None if lives is None else _held_from(case, lives[0])
    band = None if lives is None else _bands(case, changes, lives, check)
    document["subscriptions"] = [_subscription(case, s, was, again, lives, band) for s in range(len(case.world.subs))]
    if until_s is not None and check.ok:
        going = Going(case.world, case.target, case.behaviours, case.latency, case.instants_ns)
        add_projection(document, going, changes, until_s)
    return document


def case_of(
    look: ReadingRoom,
    topic: str,
    subscription: str | None,
    changes: Changes,
    broker: str | None,
    span: Span,
    *,
    may_share: bool = False,
) -> Case:
    """Read the record of the topic; of its whole broker where the broker's limiter held somebody, or gets a rate, or with `may_share`."""
    record = record_of(look, topic, broker, span, may_share=may_share or LIMITER_LEVELS[0] in changes.rates)
    world = world_of(record)
    _refuse_gaps(world)
    number = world.names.index(topic)
    target = Target(number, _targets(world, number, subscription, changes))
    refuse_without_effect(world, target, changes)
    behaviours = [behaviour_of(record, sub.sub_id, flow_of(world, s)) for s, sub in enumerate(world.subs)]
    return Case(world, target, behaviours, latency_of(record), _instants(world, number, span), counters_of(look, world))


def _refuse_gaps(world: World) -> None:
    for name, scale in zip(world.names, world.scales, strict=True):
        if not scale.is_whole:
            raise NoAnswer(f"publishes of {name} are missing from the log: events were lost, so its demand is not known")
    for number, sub in enumerate(world.subs):
        if _was_sought(world, number):
            raise NoAnswer(f"somebody moved the cursor of {sub.name} (a seek): its entries came again for a reason that a replay lacks")


def _was_sought(world: World, number: int) -> bool:
    """Whether a reset moved the cursor: that of a new cursor leaves it where it is."""
    moves = world.since(number, "mark_delete")
    if not moves["sought"].any():
        return False
    marks = world.places(number, "mark_delete") + 1
    before = np.concatenate([[world.subs[number].mark], marks[:-1]])[: len(marks)]
    return bool(((moves["sought"] == 1) & (marks != before)).any())


def _targets(world: World, topic: int, subscription: str | None, changes: Changes) -> tuple[int, ...]:
    """Subscriptions that change: the named one; without a name all of the topic, if the change may be of all."""
    numbers = world.subs_of(topic)
    if subscription is None:
        if changes.are_of_subscription and len(numbers) != 1:
            names = ", ".join(world.subs[s].name for s in numbers)
            raise BadConfig(f"consumers change for one subscription: name it after the topic; there are {names or 'none'}")
        return tuple(numbers)
    found = tuple(s for s in numbers if world.subs[s].name == subscription)
    if not found:
        raise BadConfig(f"{subscription}: no such subscription; there are {', '.join(world.subs[s].name for s in numbers) or 'none'}")
    return found


def _instants(world: World, topic: int, span: Span) -> Array:
    publishes = world.scales[topic].publishes["ns"]
    begin, end = (None if at is None else _ns(world, at) for at in span)
    first = begin if begin is not None else int(publishes[0]) if len(publishes) else world.begin_ns
    last = end if end is not None else world.end_ns
    if last <= first:
        raise BadConfig("--to must be later than --from, and both within the record")
    step = max(LEAST_STEP_NS, -(-(last - first) // MOST_INSTANTS // NS_PER_S) * NS_PER_S)
    return np.arange(first, last + 1, step, dtype=np.int64)


def _ns(world: World, at: datetime) -> int:
    return int((at - _1970) / timedelta(microseconds=1)) * 1000 - world.wall_minus_ns


def _at(world: World, ns: int) -> datetime:
    return _1970 + timedelta(microseconds=world.at_us(ns))


def _lasted_ns(case: Case) -> int:
    return int(case.instants_ns[-1] - case.instants_ns[0])


def played(case: Case, changes: Changes, behaviours: Sequence[Behaviour]) -> Life:
    """The life of the case under these changes."""
    return play(case.world, case.target, changes, behaviours, case.latency, case.instants_ns)


def checked(case: Case) -> SelfCheck:
    """Whether a replay with the settings as they were is the record."""
    return _checked(case, recorded_life(case.world, case.instants_ns), played(case, Changes(), case.behaviours))


def _checked(case: Case, was: Life, again: Life) -> SelfCheck:
    """Of all subscriptions that the replay has: where they share the broker's limiter, those of other topics, too.

    Parts are checked only where no limiter is shared: who of several gets its next token is chance, in a second run, too.
    """
    throttled = int(case.counters.sum()), int(again.throttled.sum())
    evicted = int(was.evicted.sum()), int(again.evicted.sum())
    together = {s for members in shared(again, [sub.topic for sub in case.world.subs], _lasted_ns(case)) for s in members}
    alone = [s for s in range(len(case.world.subs)) if s not in together]
    return self_check(was.backlog, again.backlog, throttled, evicted, _entries_per_s(case), alone)


def _entries_per_s(case: Case) -> float:
    """Published to all topics of the replay, on the average of the compared time."""
    first, last = int(case.instants_ns[0]), int(case.instants_ns[-1])
    count = sum(int(((s.publishes["ns"] >= first) & (s.publishes["ns"] <= last)).sum()) for s in case.world.scales)
    return count * NS_PER_S / (last - first)


def _lives(case: Case, changes: Changes) -> tuple[Life, Life, Life]:
    """The life with the changes; the same with quicker, and with slower consumers, as far as their pace is not known."""
    quick, slow = quick_and_slow(case.world, case.target, changes, case.behaviours)
    return played(case, changes, case.behaviours), played(case, changes, quick), played(case, changes, slow)


def _bands(case: Case, changes: Changes, lives: tuple[Life, Life, Life], check: SelfCheck) -> Array:
    """Int64 [2, instants, subscriptions]: the least and the most of each backlog."""
    topics, recorded = [sub.topic for sub in case.world.subs], _published(case)
    factors = np.ones(len(topics))
    factors[case.world.subs_of(case.target.topic)] = changes.publish_factor
    published = (recorded * factors).astype(np.int64)
    by_chance = np.maximum(published, recorded) * (factors != 1.0)
    step_ns = int(np.diff(case.instants_ns).max(initial=LEAST_STEP_NS))
    at_once = let_through(lives[0], published, step_ns, _lasted_ns(case))
    groups = shared(lives[0], topics, _lasted_ns(case))
    chances = _by_chance(case, changes) if groups else None
    return bands(lives, groups, chances, by_chance, check.area_error, at_once, SLACK_S * _entries_per_s(case))


def _published(case: Case) -> Array:
    """Entries that are published until each instant, to the topic of each subscription [instants, subscriptions]."""
    until = np.stack([np.searchsorted(scale.publishes["ns"], case.instants_ns, side="right") for scale in case.world.scales], axis=1)
    return until[:, np.array([sub.topic for sub in case.world.subs], dtype=np.int64)]


def _by_chance(case: Case, changes: Changes) -> Array | None:
    """Least and most backlogs [2, instants, subscriptions] of lives in which others are first; null: they would take too long."""
    if sum(len(scale.publishes["ns"]) for scale in case.world.scales) > MOST_ENTRIES:
        return None
    life_with = partial(play, case.world, case.target, changes, case.behaviours, case.latency, case.instants_ns)
    found = np.stack([life_with(phases).backlog for phases in phases_ns(len(case.world.subs), case.latency.retry_ns)])
    return np.stack([found.min(0), found.max(0)])


def _is_sure(case: Case, lives: tuple[Life, Life, Life]) -> bool:
    """Whether the backlog is much the same for quicker and for slower consumers."""
    middle, *others = (life.backlog[:, list(case.target.subs)].sum(1) for life in lives)
    slack = max(SLACK_S * _entries_per_s(case), 0.25 * float(middle.mean()))
    return all(float(np.abs(other - middle).mean()) <= slack for other in others)


def _held_from(case: Case, life: Life) -> datetime | None:
    held_ns = int(life.producers_held_ns[case.target.topic])
    return None if held_ns < 0 else _at(case.world, held_ns)


def _subscription(case: Case, number: int, was: Life, again: Life, lives: tuple[Life, Life, Life] | None, band: Array | None) -> Document:
    world = case.world
    sub, behaviour = world.subs[number], case.behaviours[number]
    return {
        "topic": world.names[sub.topic],
        "subscription": sub.name,
        "type": sub.sub_type,
        "changes": number in case.target.subs,
        "consumers": {
            "pace_ms": None if behaviour.paces[0][1] < 0 else round(behaviour.usual_ns / 1e6, 3),
            "pace_known": behaviour.known,
            "spread": round(behaviour.spread, 3),
            "busy_share": round(behaviour.busy_share, 3),
            "receiver_queue": behaviour.receiver_queue,
        },
        # The record has no holders: they are those of its replay, where that is the record.
        "actual": {
            **_of_life(case, number, was),
            "throttled": _throttled(case.counters[number]),
            "held_s": {} if lives is None else _held(again, number),
        },
        "predicted": None if lives is None or band is None else _predicted(case, number, lives[0], band[:, :, number]),
        "projected": None,
    }


def _of_life(case: Case, number: int, life: Life, band: Array | None = None) -> Document:
    backlog = life.backlog[:, number]
    gone = drained_at(backlog)
    return {
        "samples": samples_of(life, number, case.at, case.instants_ns + case.world.wall_minus_ns, band),
        "peak": int(backlog.max(initial=0)),
        "drained_at": None if gone is None else _at(case.world, int(case.instants_ns[gone])),
        "evicted_entries": int(life.evicted[number]),
    }


def _predicted(case: Case, number: int, life: Life, band: Array) -> Document:
    return {**_of_life(case, number, life, band), "throttled": _throttled(life.throttled[number]), "held_s": _held(life, number)}


def _throttled(counts: Array) -> Document:
    return {
        name: {level: int(counts[k, column]) for k, level in enumerate(LIMITER_LEVELS)} for column, name in enumerate(("messages", "bytes"))
    }


def _held(life: Life, number: int) -> Document:
    """Seconds with entries that wait, by the cause that held them."""
    return {name: round(int(ns) / 1e9, 3) for name, ns in zip(NAMES_OF_CAUSES, life.held_ns[number], strict=True) if ns}
