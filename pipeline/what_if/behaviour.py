"""How consumers of a subscription behaved: their pace over time, their receiver queue, their acknowledgements; estimated from the log.

A consumer is a single server with the closed loop of permits around it: its service demand is the busy time divided by the completions
(the utilization law; Denning and Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978).
It is busy while it has something that it has not acknowledged. In a stretch in which it always has, time ÷ messages is its pace. In a
short one the end of the stretch is the client's grouping of acknowledgements, and time ÷ messages is only a bound.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pipeline.rules.array import Array
from pipeline.what_if.record import Record

#: A stretch from this on says what the pace is; a client groups acknowledgements for a tenth of it.
LONG_NS = 1_000_000_000
#: A pace is of so long a part of a long stretch.
PART_NS = 5_000_000_000
#: A silence of a busy consumer is a pause from this on, and from so many of its usual intervals on.
PAUSE_NS, PAUSE_INTERVALS = 2_000_000_000, 20
#: Parts that show a pace are no pace, but a stall, where they are shorter in all, and most messages were taken in half the time.
STALL_NS = 10_000_000_000
#: Acknowledgements that are nearer to each other came together.
TOGETHER_NS = 5_000_000
#: A client that says nothing else asks for so many messages.
USUAL_QUEUE = 1000
USUAL_ACK_AFTER_NS = 100_000_000
#: The quantile that stands for the least of many.
LOW = 0.1
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Behaviour:
    """Of one subscription. `paces`: (from, ns) and how long a message takes one consumer, −1 while it takes none; in order.

    `busy_share`: of the time in which somebody was there, how much the pace was seen. `spread`: standard deviation of the paces seen,
    by their mean. `known`: the pace was seen, not only a bound of it. `usual_ns`: the pace that stands for all;
    `bound_factor`: how many times as long it may be where it was only bounded.
    """

    paces: tuple[tuple[int, int], ...]
    receiver_queue: int
    grant_at: int
    ack_after_ns: int
    busy_share: float
    spread: float
    known: bool
    usual_ns: int
    bound_factor: float


@dataclass(frozen=True)
class Flow:
    """What goes to consumers and comes back, in order: messages handed out (+) and acknowledged (−), and how many consumers were there.

    `responses_ns`: of entries, the time from the delivery to the acknowledgement; `positions`: how many messages of the delivery end with
    the entry. Empty where entries came again.
    """

    ns: Array
    handed_msgs: Array
    acked_msgs: Array
    consumers: Array
    responses_ns: Array
    positions: Array

    @cached_property
    def in_hand(self) -> Array:
        """Messages that consumers have after each event, and have not acknowledged."""
        return np.cumsum(self.handed_msgs - self.acked_msgs)


class Part(NamedTuple):
    """A part of a stretch: the pace if its consumers were never idle in it, else a bound of it; −1: a pause. `weight_ns`: its length."""

    from_ns: int
    pace_ns: int
    is_saturated: bool
    weight_ns: int


def behaviour_of(record: Record, sub_id: int, flow: Flow) -> Behaviour:
    """Estimate the behaviour of a subscription's consumers. Without an acknowledgement: they take messages, and never acknowledge."""
    queue, grant_at = _queue(record, sub_id)
    starts, ends = _stretches(flow)
    long = flow.ns[ends] - flow.ns[starts] >= LONG_NS
    ack_after_ns = _ack_after(flow)
    parts = [part for start, end in zip(starts[long], ends[long], strict=True) for part in _parts(flow, start, end, ack_after_ns)]
    seen = [part for part in parts if part.is_saturated and part.pace_ns > 0]
    usual, spread = _usual(seen) if seen else (_bound(flow, starts, ends, ack_after_ns), 0.0)
    elsewhere = usual
    if seen and _of_most(flow, starts, ends) < usual / 2:
        # Most messages were taken much quicker, so this is the pace of these parts alone. A few seconds of it are a stall of the machine.
        elsewhere = min(usual, _bound(flow, starts, ends, ack_after_ns))
        if sum(part.weight_ns for part in seen) < STALL_NS:
            seen, usual, spread = [], elsewhere, 0.0
    there_ns = int(np.sum(np.diff(flow.ns, append=flow.ns[-1:]) * (flow.consumers > 0))) if len(flow.ns) else 0
    share = sum(part.weight_ns for part in seen) / there_ns if there_ns else 0.0
    paces = _paces(parts, elsewhere, [int(flow.ns[end]) for end in ends[long]], int(flow.ns[0]) if len(flow.ns) else 0)
    bounds = [part.pace_ns for part in parts if not part.is_saturated]
    factor = float(np.median(bounds)) / usual if bounds and usual > 0 else 1.0
    return Behaviour(tuple(paces), queue, grant_at, ack_after_ns, min(1.0, share), spread, bool(seen), usual, factor)


def _usual(seen: list[Part]) -> tuple[int, float]:
    """The mean pace, and the spread around it, by its share."""
    paces, weights = np.array([part.pace_ns for part in seen], dtype=float), [part.weight_ns for part in seen]
    mean = float(np.average(paces, weights=weights))
    return int(mean), float(np.sqrt(np.average((paces - mean) ** 2, weights=weights))) / mean


def _queue(record: Record, sub_id: int) -> tuple[int, int]:
    """Receiver queue and grants of the clients: a consumer's first grant is its whole queue, later ones usually half of it.

    Consumers may have different queues: the one of the middle of all permits counts, so a consumer that hardly asks counts hardly.
    """
    flows = record.where("flow", sub_id)
    if not len(flows["ns"]):
        reads = record.where("read", sub_id)
        queue = int(reads["permits"].max(initial=0)) or USUAL_QUEUE
        return queue, max(1, queue // 2)
    permits = flows["permits"]
    _, first, consumers = np.unique(np.stack([flows["conn"], flows["consumer"]]), axis=1, return_index=True, return_inverse=True)
    queue, later = _middle(permits[first], np.bincount(consumers, permits)), np.delete(permits, first)
    return queue, max(1, min(int(np.median(later)), queue) if len(later) else queue // 2)


def _stretches(flow: Flow) -> tuple[Array, Array]:
    """First and last event of each stretch in which consumers have something that is not acknowledged."""
    has = flow.in_hand > 0
    before = np.concatenate([[False], has[:-1]])
    starts = np.flatnonzero(has & ~before)
    ends = np.flatnonzero(~has & before)
    if len(ends) < len(starts):
        ends = np.append(ends, len(has) - 1)
    return starts, ends


def _ack_after(flow: Flow) -> int:
    """How long a client gathers acknowledgements: the usual distance of those that do not come together."""
    is_ack = flow.acked_msgs > 0
    ns = flow.ns[is_ack]
    if len(ns) < 2:
        return USUAL_ACK_AFTER_NS
    clients = max(1, int(_quantile(flow.consumers[is_ack], 0.5)))  # each gathers by itself
    apart = np.diff(ns)
    groups = apart[apart > TOGETHER_NS]
    if len(groups) == 0 or len(groups) > 0.9 * len(apart):
        return 0  # each comes by itself
    return int(min(_quantile(groups, 0.5) * clients, USUAL_ACK_AFTER_NS))


def _parts(flow: Flow, start: int, end: int, ack_after_ns: int) -> list[Part]:
    """Parts of one long stretch, in order. A long silence is a pause, and a part of its own."""
    inside = slice(start, end + 1)
    ns, acked, consumers = flow.ns[inside], flow.acked_msgs[inside], flow.consumers[inside]
    in_hand = flow.in_hand[inside]
    parts = []
    for begin_ns, end_ns, is_pause in _borders(ns, np.flatnonzero(acked > 0)):
        within = slice(*np.searchsorted(ns, (begin_ns, end_ns), side="right"))
        count, lasted_ns = int(acked[within].sum()), end_ns - begin_ns
        if is_pause or count == 0:
            parts.append(Part(begin_ns, -1, True, lasted_ns))
            continue
        servers = max(1, int(_quantile(consumers[within], 0.5)))
        # Of what they have, some is processed and not acknowledged yet. With the rest each must have something to do.
        processed = count * ack_after_ns / lasted_ns
        is_saturated = bool(_quantile(in_hand[within], LOW) - processed >= servers)
        parts.append(Part(begin_ns, lasted_ns * servers // count, is_saturated, lasted_ns))
    return parts


def _borders(ns: Array, acks: Array) -> list[tuple[int, int, bool]]:
    """Parts of one long stretch: (begin, end, whether it is a pause)."""
    at = np.concatenate([ns[:1], ns[acks], ns[-1:]])
    apart = np.diff(at)
    usual = _quantile(apart[apart > TOGETHER_NS], 0.5) if (apart > TOGETHER_NS).any() else 0
    long = np.flatnonzero(apart >= max(PAUSE_NS, PAUSE_INTERVALS * usual))
    parts: list[tuple[int, int, bool]] = []
    begin = int(ns[0])
    for k in long:
        parts += _pieces(begin, int(at[k]))
        parts.append((int(at[k]), int(at[k + 1]), True))
        begin = int(at[k + 1])
    return parts + _pieces(begin, int(ns[-1]))


def _pieces(begin: int, end: int) -> list[tuple[int, int, bool]]:
    if end <= begin:
        return []
    count = max(1, (end - begin) // PART_NS)
    borders = [begin + (end - begin) * k // count for k in range(count + 1)]
    return [(a, b, False) for a, b in pairwise(borders)]


def _messages(flow: Flow, starts: Array, ends: Array) -> Array:
    """How many were acknowledged in each stretch."""
    acked = np.concatenate([[0], np.cumsum(flow.acked_msgs)])
    found: Array = acked[ends + 1] - acked[starts]
    return found


def _of_most(flow: Flow, starts: Array, ends: Array) -> int:
    """Time ÷ messages of the stretch with the middle one of all messages, by time ÷ messages: a pace is no longer."""
    messages = _messages(flow, starts, ends)
    some = messages > 0
    if not some.any():
        return NEVER
    each = ((flow.ns[ends] - flow.ns[starts]) * np.maximum(1, flow.consumers[starts]))[some] // messages[some]
    return _middle(each, messages[some])


def _bound(flow: Flow, starts: Array, ends: Array, ack_after_ns: int) -> int:
    """The pace of consumers that were never busy for long, at most: short stretches end with the client's gathering of acknowledgements.

    A response has the messages before it, its own, and on the average half of the gathering (Little's law: waiting is part of it).
    """
    messages, lasted_ns = _messages(flow, starts, ends), flow.ns[ends] - flow.ns[starts]
    some = messages > 0
    if not some.any():
        return -1
    bound = int(_quantile(lasted_ns[some] * np.maximum(1, flow.consumers[starts[some]]) / messages[some], LOW))
    if not len(flow.responses_ns):
        return bound
    consumers = max(1, int(_quantile(flow.consumers, 0.5)))
    before = np.maximum(1, np.ceil(flow.positions / consumers)).mean()
    return min(bound, int(max(0, flow.responses_ns.mean() - ack_after_ns / 2) / before))


def _paces(parts: list[Part], usual: int, ends_ns: list[int], begin_ns: int) -> list[tuple[int, int]]:
    """The paces seen, and the usual one before, between and after them; never a longer one than the bound of its time."""
    found = {begin_ns: usual, **dict.fromkeys(ends_ns, usual)}
    for part in parts:
        found[part.from_ns] = part.pace_ns if part.is_saturated else min(usual, part.pace_ns)
    return sorted(found.items())


def _middle(values: Array, weights: Any) -> int:
    """The median by weight."""
    ascending = np.argsort(values)
    up_to = np.cumsum(weights[ascending])
    return int(values[ascending][np.searchsorted(up_to, up_to[-1] / 2)])


def _quantile(values: Any, part: float) -> float:
    """As numpy's, between its neighbours: numpy looks at so much besides that few values take it fifty times as long."""
    ordered = np.sort(values)
    place = part * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))
