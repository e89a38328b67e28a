"""The life as it was: backlogs over time, evictions, and what consumers got and gave back, read off the record."""

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import NONE
from pipeline.rules.replay.kinds import ACKED, MARKED, SAMPLE, SUBSCRIBE
from pipeline.what_if.behaviour import Flow
from pipeline.what_if.frequent import ABSENT, Events
from pipeline.what_if.given_table import by_time, rows_of
from pipeline.what_if.scale import Scale
from pipeline.what_if.world import World

#: The policy by which a quota evicts, and how long an eviction may go on after its check: a precise age eviction runs by itself.
EVICTS, EVICTION_NS = "consumer_backlog_eviction", 2_000_000_000
NEVER = np.iinfo(np.int64).max


def given_of(world: World, instants_ns: Array) -> Array:
    """Given rows [n, 7] that replay the record itself: publishes, acknowledgements and moves of marks as they came; samples at instants.

    In the order of the log, which is exact for each topic and cursor.
    """
    parts = [rows_of(instants_ns, SAMPLE, np.arange(len(instants_ns))), world.demand_with(NONE, 1.0).publishes]
    for number, sub in enumerate(world.subs):
        parts.append(rows_of(np.array([sub.opened_ns]), SUBSCRIBE, number, sub.mark))
        if number in world.starts:
            acked = world.starts[number].acked
            parts.append(rows_of(np.full(len(acked), sub.opened_ns), ACKED, number, acked))
        acks = world.since(number, "ack")
        whole = acks["batch_index"] == ABSENT
        places = world.places(number, "ack")
        single = whole & (acks["cumulative"] == 0) & (places >= 0)
        parts.append(rows_of(acks["ns"][single], ACKED, number, places[single]))
        up_to = whole & (acks["cumulative"] == 1)
        parts.append(rows_of(acks["ns"][up_to], MARKED, number, places[up_to] + 1, 1))
        parts.append(_moves(world, number, acks["ns"][single], places[single]))
    return by_time(*parts)


def _moves(world: World, number: int, acked_ns: Array, acked: Array) -> Array:
    """Rows of the moves of a mark, but for those over entries that are all acknowledged by then: they change nothing, and are most."""
    sub, marks = world.subs[number], world.since(number, "mark_delete")
    scale, places = world.scales[sub.topic], world.places(number, "mark_delete") + 1
    reached_ns = np.full(scale.total + 1, NEVER, dtype=np.int64)
    reached_ns[: sub.mark + 1] = sub.opened_ns
    inside = acked < scale.total
    # An acknowledgement moves a mark only if the cursor, and the entry, are there.
    there_ns = np.maximum(sub.opened_ns, scale.published_ns[acked[inside]])
    reached_ns[acked[inside] + 1] = np.where(acked_ns[inside] >= there_ns, acked_ns[inside], NEVER)
    reached_ns = np.maximum.accumulate(reached_ns)
    moves = marks["ns"] < reached_ns[places.clip(0, scale.total)]
    ns = marks["ns"][moves]
    return rows_of(ns, MARKED, number, places[moves], 1 - _is_evicting(world, scale.topic_id, ns))


def _is_evicting(world: World, topic_id: int, ns: Array) -> Array:
    """1 where a quota of the topic evicts at that time. Marks of readers, of transactions, of skips move without one."""
    evictions = [row["ns"] for row in world.record.of_topic("quota_exceeded", topic_id) if row["policy"] == EVICTS]
    begins = np.array([np.iinfo(np.int64).min // 2, *evictions], dtype=np.int64)
    is_near = ns - begins[np.searchsorted(begins, ns, side="right") - 1] < EVICTION_NS
    return is_near.astype(np.int64)


def flow_of(world: World, number: int) -> Flow:
    """Of one subscription: deliveries, acknowledgements, and what was given back. What consumers have at the beginning they get then."""
    sub = world.subs[number]
    scale = world.scales[sub.topic]
    handed, acks, back = (world.since(number, event_type) for event_type in ("dispatch", "ack", "redeliver"))
    per_entry = max(1.0, handed["msgs"].sum() / max(1, handed["entries"].sum()))
    msgs, places = _messages_by_place(world, sub.topic), world.places(number, "ack")
    acked = _messages_acked(acks, places, msgs, sub.mark)
    start = world.starts.get(number)
    held_msgs = np.array([msgs[start.held].sum()] if start is not None and len(start.held) else [], dtype=np.int64)
    passed, passed_ns = passed_in_hand(world, number)
    ack_ns = np.concatenate([acks["ns"], passed_ns])
    ns = np.concatenate([np.full(len(held_msgs), world.begin_ns - 1), handed["ns"], ack_ns, back["ns"]])
    order = np.argsort(ns, kind="stable")
    none, no_acks, no_back = (np.zeros(len(part), dtype=np.int64) for part in ([*held_msgs, *handed["ns"]], ack_ns, back["ns"]))
    given_back = -np.rint(np.maximum(0, back["entries"]) * per_entry).astype(np.int64)
    return Flow(
        ns[order],
        np.concatenate([held_msgs, messages_handed(scale, handed, msgs), no_acks, given_back])[order],
        np.concatenate([none, acked, msgs[passed], no_back])[order],
        _consumers_at(world, number, ns[order]),
        *_responses(handed, acks, places, msgs, sub.mark if start is None else start.read),
    )


def passed_in_hand(world: World, number: int) -> tuple[Array, Array]:
    """(Places, ns) of entries that a mark passed while a consumer had them, and whose acknowledgement the log does not have.

    So it is of an eviction: the broker has no use for the acknowledgement. The consumer processes them all the same, before whatever it
    acknowledges next: that is their time. None where consumers acknowledge all up to an entry.
    """
    none = np.zeros(0, dtype=np.int64)
    handed, acks, marks = (world.since(number, event_type) for event_type in ("dispatch", "ack", "mark_delete"))
    if not len(marks["ns"]) or bool((acks["cumulative"] == 1).any()):
        return none, none
    delivered_ns = _delivered_ns(world.scales[world.subs[number].topic], handed)
    acked = world.places(number, "ack")
    delivered_ns[acked[(acked >= 0) & (acked < len(delivered_ns))]] = NEVER
    reached = np.maximum.accumulate(world.places(number, "mark_delete") + 1)
    places = np.flatnonzero(delivered_ns[: reached[-1]] < NEVER)
    at_ns = marks["ns"][np.searchsorted(reached, places, side="right")]
    is_in_hand = delivered_ns[places] <= at_ns
    following = np.searchsorted(acks["ns"], at_ns[is_in_hand])
    return places[is_in_hand], np.append(acks["ns"], NEVER)[following].clip(max=max(acks["ns"].max(initial=0), at_ns.max(initial=0)))


def _delivered_ns(scale: Scale, handed: Events) -> Array:
    """When each place was delivered last; NEVER where the log does not say so."""
    found = np.full(scale.total, NEVER, dtype=np.int64)
    firsts, lasts = _ends(scale, handed)
    known = (handed["last_ledger"] != ABSENT) & (firsts >= 0) & (lasts < scale.total) & (firsts <= lasts)
    counts = (lasts - firsts + 1)[known]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    found[np.repeat(firsts[known], counts) + within] = np.repeat(handed["ns"][known], counts)
    return found


def _ends(scale: Scale, handed: Events) -> tuple[Array, Array]:
    """Places of the first and of the last entry of each delivery; only where `last_ledger` is not ABSENT."""
    first, last = (scale.places(handed[f"{end}_ledger"], handed[f"{end}_entry"]) for end in ("first", "last"))
    return first, last


def _responses(handed: Events, acks: Events, places: Array, msgs: Array, mark: int) -> tuple[Array, Array]:
    """(ns from delivery to acknowledgement, messages of the delivery up to and with the entry) of entries from `mark` on.

    None unless entries were delivered once each, in order.
    """
    counts = np.maximum(0, handed["entries"])
    delivered_ns = np.repeat(handed["ns"], counts)
    single = (acks["cumulative"] == 0) & (acks["batch_index"] == ABSENT) & (places >= mark) & (places < len(msgs))
    order = places[single] - mark
    none = np.zeros(0, dtype=np.int64)
    if not len(order) or order.max() >= len(delivered_ns) or len(delivered_ns) > len(msgs) - mark or len(np.unique(order)) < len(order):
        return none, none
    total = np.cumsum(msgs[mark : mark + len(delivered_ns)])
    before = np.concatenate([[0], total])[np.repeat(np.cumsum(counts) - counts, counts)]
    return acks["ns"][single] - delivered_ns[order], (total - before)[order]


def _messages_by_place(world: World, topic: int) -> Array:
    scale = world.scales[topic]
    msgs = np.ones(scale.total, dtype=np.int64)
    msgs[scale.publish_places] = scale.publishes["msgs"]
    return msgs


def messages_handed(scale: Scale, handed: Events, msgs: Array) -> Array:
    """Messages of each delivery: those of its entries, where it has all from the first to the last and the log has their publishes.

    A dispatcher with one active consumer counts a delivery after it, in an object of its thread (SendMessageInfo.getThreadLocal). Another
    delivery of that thread may have come between: then `dispatch.msgs` is of the other one. The broker charges that to its limiters,
    but the consumer got its entries.
    """
    firsts, lasts = _ends(scale, handed)
    is_known = (handed["last_ledger"] != ABSENT) & (firsts >= int(scale.earlier.sum())) & (lasts < len(msgs))
    is_known &= lasts - firsts + 1 == handed["entries"]
    total = np.concatenate([[0], np.cumsum(msgs)])
    found: Array = handed["msgs"].copy()
    found[is_known] = total[lasts[is_known] + 1] - total[firsts[is_known]]
    return found


def _messages_acked(acks: Events, places: Array, msgs: Array, mark: int) -> Array:
    """Messages that each acknowledgement stands for; a cumulative one for all since the one before it, or since the first mark."""
    found = np.zeros(len(places), dtype=np.int64)
    inside = (places >= 0) & (places < len(msgs)) & (acks["batch_index"] == ABSENT)
    single = inside & (acks["cumulative"] == 0)
    found[single] = msgs[places[single]]
    up_to = np.flatnonzero(inside & (acks["cumulative"] == 1))
    if len(up_to):
        total = np.concatenate([[0], np.cumsum(msgs)])
        reached = np.maximum.accumulate(total[places[up_to] + 1])
        found[up_to] = np.diff(reached, prepend=total[mark])
    return found


def _consumers_at(world: World, number: int, ns: Array) -> Array:
    steps = [(one.from_ns, 1) for one in world.presences_of(number)]
    steps += [(one.to_ns, -1) for one in world.presences_of(number)]
    if not steps:
        return np.zeros(len(ns), dtype=np.int64)
    steps.sort()
    counts = np.concatenate([[0], np.cumsum([step for _, step in steps])])
    return counts[np.searchsorted([at for at, _ in steps], ns, side="right")].astype(np.int64)
