"""Consumers: each processes one message after the other at its recorded pace, grants permits, and acknowledges a little later."""

from typing import Any

from pipeline.rules.broker.layout import NONE
from pipeline.rules.compiled import compiled_part, inlined_part
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record
from pipeline.rules.replay.agenda import plan
from pipeline.rules.replay.backlog import acknowledge
from pipeline.rules.replay.kinds import ACK, DONE, GRANT
from pipeline.rules.replay.layout import IDLE

PPM = 1_000_000


@compiled_part
def arrive(replay: Any, c: int) -> None:
    """A consumer subscribes, and grants as many permits as its receiver queue holds."""
    if replay.consumers[c].present == 0:
        appear(replay, c)
        plan(replay, replay.clock[0].now_ns + replay.clock[0].grant_ns, GRANT, c, replay.consumers[c].life)


@compiled_part
def appear(replay: Any, c: int) -> None:
    """A consumer is there, with nothing in hand; nothing is granted yet."""
    consumer = replay.consumers[c]
    consumer.present = 1
    consumer.permits = consumer.unacked_msgs = consumer.taken_msgs = consumer.is_capped = 0
    consumer.is_busy = consumer.ack_planned = 0
    consumer.acked = consumer.done = consumer.got = 0
    replay.subs[consumer.sub].present += 1
    consumer.taken_msgs = consumer.receiver_queue


@inlined_part
def granted(replay: Any, c: int) -> None:
    """The broker gets the permits for what was taken."""
    consumer = replay.consumers[c]
    consumer.permits += consumer.taken_msgs
    consumer.taken_msgs = 0


@inlined_part
def receive(replay: Any, c: int, place: int) -> None:
    """An entry was delivered."""
    consumer = replay.consumers[c]
    if consumer.got - consumer.acked >= consumer.room:
        replay.clock[0].full = 1
        return
    replay.in_hand[consumer.first_in_hand + consumer.got % consumer.room] = place
    consumer.got += 1
    if consumer.is_busy == 0:
        _begin(replay, c)


@inlined_part
def _begin(replay: Any, c: int) -> None:
    """Take the next entry, if there is one. From half of its receiver queue on a client grants what it took."""
    consumer, clock = replay.consumers[c], replay.clock[0]
    if consumer.done == consumer.got:
        consumer.is_busy = 0
        return
    consumer.is_busy = 1
    sub = replay.subs[consumer.sub]
    place = replay.in_hand[consumer.first_in_hand + consumer.done % consumer.room]
    msgs = replay.entries[replay.topics[sub.topic].first_entry + place].msgs
    before = consumer.taken_msgs
    consumer.taken_msgs += msgs
    if before < consumer.grant_at <= consumer.taken_msgs:
        plan(replay, clock.now_ns + clock.grant_ns, GRANT, c, consumer.life)
    done_ns = _done_ns(replay, sub, msgs, consumer.speed_ppm)
    if done_ns != NONE:
        plan(replay, done_ns, DONE, c, consumer.life)


@inlined_part
def done(replay: Any, c: int) -> None:
    """The entry in work is processed. It is acknowledged with the others of the next while."""
    consumer, clock = replay.consumers[c], replay.clock[0]
    consumer.done += 1
    if consumer.ack_planned == 0:
        consumer.ack_planned = 1
        plan(replay, clock.now_ns + consumer.ack_after_ns, ACK, c, consumer.life)
    _begin(replay, c)


@inlined_part
def acknowledge_done(replay: Any, c: int) -> None:
    """All that was processed is acknowledged."""
    consumer = replay.consumers[c]
    sub = replay.subs[consumer.sub]
    consumer.ack_planned = 0
    while consumer.acked < consumer.done:
        place = replay.in_hand[consumer.first_in_hand + consumer.acked % consumer.room]
        consumer.acked += 1
        msgs = replay.entries[replay.topics[sub.topic].first_entry + place].msgs
        consumer.unacked_msgs -= msgs
        sub.unacked_msgs -= msgs
        acknowledge(replay, sub, place)


@compiled_part
def forget_reads(sub: Record) -> None:
    """The last consumer has left: reads that are out deliver nothing, and the cursor goes back to its mark."""
    sub.life += 1
    sub.state, sub.replay_out, sub.replay_first, sub.replay_used = IDLE, 0, 0, 0
    sub.read, sub.unacked_msgs, sub.is_capped = sub.mark, 0, 0


@inlined_part
def _done_ns(replay: Any, sub: Record, msgs: int, speed_ppm: int) -> int:
    """When so many messages are processed that are begun now, by the paces recorded for these times; NONE: not any more."""
    now_ns = replay.clock[0].now_ns
    last = sub.first_pace + sub.paces - 1
    while sub.pace < last and replay.paces[sub.pace + 1].from_ns <= now_ns:
        sub.pace += 1
    left, at_ns = float(msgs), now_ns
    for k in range(sub.pace, last + 1):
        end_ns = replay.paces[k + 1].from_ns if k < last else INT64_MAX
        message_ns = replay.paces[k].message_ns
        if message_ns >= 0:
            needs_ns = left * message_ns * PPM / speed_ppm
            if needs_ns <= float(end_ns - at_ns):
                return at_ns + int(needs_ns)
            left -= (end_ns - at_ns) / (message_ns * PPM / speed_ppm)
        at_ns = end_ns
    return NONE
