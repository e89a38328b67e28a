"""Entries of a read go to consumers, and are charged to the limiters (semantics §1.3)."""

from typing import Any

from pipeline.rules.broker.layout import BYTES, MSG, NONE
from pipeline.rules.broker.limiter import consume
from pipeline.rules.compiled import compiled_part, inlined_part
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record
from pipeline.rules.replay.backlog import is_acked
from pipeline.rules.replay.caps import check_caps
from pipeline.rules.replay.clients import receive
from pipeline.rules.replay.layout import IDLE
from pipeline.rules.replay.reads import entries_of_size


@inlined_part
def deliver(replay: Any, s: int) -> None:
    """A read of new entries comes back: as many as were granted and are there."""
    sub = replay.subs[s]
    sub.state = IDLE
    entries = min(sub.granted_entries, entries_of_size(replay, sub, sub.granted_bytes))
    end = min(replay.topics[sub.topic].published, sub.read + entries)
    _begin(sub)
    msgs, size, count = 0, 0, 0
    while sub.read < end:
        place = sub.read
        sub.read += 1
        if is_acked(replay, sub, place):
            continue
        if not _hand_over(replay, s, sub, place):
            put_back(replay, sub, place)
            continue
        entry = replay.entries[replay.topics[sub.topic].first_entry + place]
        msgs, size, count = msgs + entry.msgs, size + entry.bytes, count + 1
    _charge(replay, s, msgs, size, count)


@compiled_part
def deliver_again(replay: Any, s: int) -> None:
    """Entries that were put back, the first of them first, as many as were granted."""
    sub = replay.subs[s]
    sub.replay_out = 0
    _begin(sub)
    msgs, size, count = 0, 0, 0
    while sub.replay_used > 0 and count < sub.granted_entries:
        place = replay.replays[sub.first_ack + sub.replay_first]
        if not is_acked(replay, sub, place):
            if not _hand_over(replay, s, sub, place):
                break
            entry = replay.entries[replay.topics[sub.topic].first_entry + place]
            msgs, size, count = msgs + entry.msgs, size + entry.bytes, count + 1
        sub.replay_first = _ring(replay, sub, sub.replay_first + 1)
        sub.replay_used -= 1
    _charge(replay, s, msgs, size, count)


@compiled_part
def put_back(replay: Any, sub: Record, place: int) -> None:
    """The entry is to be delivered again, after those that are."""
    replay.replays[sub.first_ack + _ring(replay, sub, sub.replay_first + sub.replay_used)] = place
    sub.replay_used += 1


@inlined_part
def _ring(replay: Any, sub: Record, place: int) -> int:
    """A place in the subscription's ring of entries to deliver again."""
    room = replay.topics[sub.topic].room
    return place - room if place >= room else place


@inlined_part
def _begin(sub: Record) -> None:
    """A delivery: whoever is next takes first."""
    sub.taker, sub.taker_left = NONE, 0


@inlined_part
def _hand_over(replay: Any, s: int, sub: Record, place: int) -> bool:
    """The entry goes to the consumer whose turn it is; False: nobody takes one."""
    if sub.taker_left == 0:
        _next_taker(replay, sub)
    if sub.taker == NONE:
        return False
    sub.taker_left -= 1
    msgs = replay.entries[replay.topics[sub.topic].first_entry + place].msgs
    consumer = replay.consumers[sub.taker]
    consumer.permits -= msgs
    consumer.unacked_msgs += msgs
    sub.unacked_msgs += msgs
    receive(replay, sub.taker, place)
    if sub.is_single == 0 and consumer.permits <= 0:
        sub.taker_left = 0
    return True


@inlined_part
def _next_taker(replay: Any, sub: Record) -> None:
    """The next consumer with permits, for some entries in a row; of an Exclusive or Failover one, the active one for all."""
    for step in range(sub.consumers):
        slot = (sub.turn + step) % sub.consumers if sub.is_single == 0 else step
        consumer = replay.consumers[sub.first_consumer + slot]
        if consumer.present == 1 and (sub.is_single == 1 or (consumer.permits > 0 and consumer.is_capped == 0)):
            sub.taker = sub.first_consumer + slot
            sub.turn = (slot + 1) % sub.consumers
            sub.taker_left = INT64_MAX if sub.is_single == 1 else replay.clock[0].round_robin_entries
            return
    sub.taker = NONE


@inlined_part
def _charge(replay: Any, s: int, msgs: int, size: int, count: int) -> None:
    """A delivery is charged to every limiter of it, after it has gone out."""
    if count == 0:
        return
    sub, clock = replay.subs[s], replay.clock[0]
    permits = count if clock.batch_mode == 1 else msgs
    for number in (0, replay.topics[sub.topic].limiter, sub.limiter):
        consume(replay.limiters[number], MSG, permits, clock.now_ns)
        consume(replay.limiters[number], BYTES, size, clock.now_ns)
    if sub.is_single == 0:
        check_caps(replay, sub)
