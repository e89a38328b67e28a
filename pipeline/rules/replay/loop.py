"""The replay: what is given and what is planned, one after the other, until the given ends."""

from typing import Any

from pipeline.rules.broker.layout import BYTES, MSG, NONE
from pipeline.rules.broker.limiter import apply_rate, ask, consume
from pipeline.rules.compiled import compiled, compiled_part, inlined_part
from pipeline.rules.records import Record
from pipeline.rules.replay.agenda import drop_first, plan
from pipeline.rules.replay.backlog import acknowledge, is_acked, move_mark, sample, settle
from pipeline.rules.replay.caps import check_caps
from pipeline.rules.replay.clients import acknowledge_done, appear, arrive, done, forget_reads, granted, receive
from pipeline.rules.replay.deliveries import deliver, deliver_again, put_back
from pipeline.rules.replay.kinds import (
    ACK,
    ACKED,
    ARRIVE,
    CHARGE,
    CHECK,
    DELIVERY,
    DONE,
    GRANT,
    HELD,
    LEAVE,
    LEDGER_CLOSE,
    MARKED,
    ON,
    PUBLISH,
    QUOTA,
    RATE,
    REDELIVERY,
    RETRY,
    SAMPLE,
    SUBSCRIBE,
    THERE,
)  # fmt: skip
from pipeline.rules.replay.layout import NO_CONSUMER
from pipeline.rules.replay.quotas import check_quotas
from pipeline.rules.replay.reads import read_more, wake
from schemas.events import QUOTA_TYPES

SIZE_QUOTA = QUOTA_TYPES.index("destination_storage")


@compiled
def run(replay: Any) -> None:
    """Play all that is given, and all that follows from it until the last of it. Of one instant the given comes first."""
    clock, given = replay.clock[0], replay.given
    k = 0
    while k < given.shape[0]:
        if clock.planned > 0 and replay.agenda[0].at_ns < given[k].at_ns and clock.full == 0:
            s = _play_planned(replay)
        else:
            clock.now_ns = given[k].at_ns
            s = _play_given(replay, given[k])
            k += 1
        # In one place: it is inlined, and the largest rule of all.
        if s != NONE:
            read_more(replay, s)
    for s in range(replay.subs.shape[0]):
        if replay.subs[s].open == 1:
            settle(replay, replay.subs[s])


@inlined_part
def _play_planned(replay: Any) -> int:
    """The earliest of what is planned; the subscription that may read on after it, or NONE."""
    clock, first = replay.clock[0], replay.agenda[0]
    clock.now_ns = first.at_ns
    kind, who, life = first.kind, first.who, first.life
    drop_first(replay)
    if kind == RETRY:
        sub = replay.subs[who]
        settle(replay, sub)
        sub.retry_planned = 0
        return who
    if kind in (DELIVERY, REDELIVERY):
        sub = replay.subs[who]
        if sub.life != life:
            return NONE
        settle(replay, sub)
        if kind == DELIVERY:
            deliver(replay, who)
        else:
            deliver_again(replay, who)
        return who
    return _play_client(replay, kind, who) if replay.consumers[who].life == life else NONE


@inlined_part
def _play_client(replay: Any, kind: int, c: int) -> int:
    """What a consumer does; its subscription, if it may read on after it, or NONE."""
    s = replay.consumers[c].sub
    sub = replay.subs[s]
    settle(replay, sub)
    if kind == DONE:
        done(replay, c)
    elif kind == GRANT:
        granted(replay, c)
        return s
    elif kind == ACK:
        acknowledge_done(replay, c)
        if check_caps(replay, sub):
            return s
    return NONE


@inlined_part
def _play_given(replay: Any, given: Record) -> int:
    """What is given; the subscription that may read on after it, or NONE."""
    kind, who = given.kind, given.who
    if kind == PUBLISH:
        _publish(replay, who)
    elif kind == SAMPLE:
        sample(replay, who)
    elif kind == ARRIVE:
        settle(replay, replay.subs[replay.consumers[who].sub])
        arrive(replay, who)
    elif kind == LEAVE:
        return _leave(replay, who)
    elif kind == CHECK:
        check_quotas(replay)
    elif kind == CHARGE:
        _charge(replay.limiters[who], given)
    elif kind == LEDGER_CLOSE:
        ledger = replay.ledgers[who]
        ledger.closed, ledger.close_ms = 1, given.a
    elif kind == QUOTA:
        _set_quota(replay.topics[who], given)
    elif kind == RATE:
        _set_rate(replay.limiters[who], given)
    elif kind == SUBSCRIBE:
        _subscribe(replay, who, given.a)
    elif kind == THERE:
        appear(replay, who)
        granted(replay, who)
    elif kind == HELD:
        _hold(replay, who, given.a)
    elif kind == ON:
        return _go_on(replay, who, given.a)
    elif kind == ACKED:
        acknowledge(replay, replay.subs[who], given.a)
    elif kind == MARKED:
        passed = move_mark(replay, replay.subs[who], given.a)
        if given.b == 0:
            replay.subs[who].evicted += passed
    return NONE


@compiled_part
def _charge(limiter: Record, given: Record) -> None:
    """`a`: permits, `b`: bytes of a recorded delivery. Its read asked before it: a bucket refills only when asked."""
    if limiter.exists == 1:
        ask(limiter, MSG, given.at_ns)
        ask(limiter, BYTES, given.at_ns)
    consume(limiter, MSG, given.a, given.at_ns)
    consume(limiter, BYTES, given.b, given.at_ns)


@compiled_part
def _hold(replay: Any, c: int, place: int) -> None:
    """The consumer has the entry already, and it was charged before the replay. Its grant of permits for the entry is not there yet."""
    consumer = replay.consumers[c]
    sub = replay.subs[consumer.sub]
    sub.read = max(sub.read, place + 1)
    if consumer.present == 0 or is_acked(replay, sub, place):
        return
    msgs = replay.entries[replay.topics[sub.topic].first_entry + place].msgs
    consumer.permits -= msgs
    consumer.unacked_msgs += msgs
    sub.unacked_msgs += msgs
    receive(replay, c, place)


@compiled_part
def _go_on(replay: Any, s: int, retry_ns: int) -> int:
    """The dispatcher does what it was about to do: it tries a blocked read again at `retry_ns`. At 0 it reads: its number is returned."""
    sub = replay.subs[s]
    if retry_ns > 0:
        sub.retry_planned = 1
        plan(replay, retry_ns, RETRY, s, 0)
        return NONE
    return s


@inlined_part
def _publish(replay: Any, t: int) -> None:
    """The topic's next entry is there; `published` counts them."""
    topic = replay.topics[t]
    for s in range(topic.first_sub, topic.first_sub + topic.subs):
        if replay.subs[s].open == 1:
            settle(replay, replay.subs[s])
    entry = replay.entries[topic.first_entry + topic.published]
    ledger = replay.ledgers[entry.ledger]
    ledger.entries += 1
    ledger.bytes += entry.bytes
    topic.ledgers = max(topic.ledgers, entry.ledger - topic.first_ledger + 1)
    topic.published += 1
    for s in range(topic.first_sub, topic.first_sub + topic.subs):
        wake(replay, s)


@compiled_part
def _subscribe(replay: Any, s: int, mark: int) -> None:
    """The subscription is there from now on, with all before `mark` acknowledged. One that is there already stays as it is."""
    sub = replay.subs[s]
    if sub.open == 0:
        sub.open, sub.mark, sub.read, sub.since_ns = 1, mark, mark, replay.clock[0].now_ns
        sub.cause = NO_CONSUMER


@compiled_part
def _leave(replay: Any, c: int) -> int:
    """A consumer goes: the others get what it had. After the last one the cursor goes back. Its subscription, if there was one; or NONE."""
    consumer = replay.consumers[c]
    if consumer.present == 0:
        return NONE
    s = consumer.sub
    sub = replay.subs[s]
    settle(replay, sub)
    consumer.present = 0
    consumer.life += 1
    sub.present -= 1
    if sub.present == 0:
        forget_reads(sub)
    else:
        sub.unacked_msgs -= consumer.unacked_msgs
        for k in range(consumer.acked, consumer.got):
            place = replay.in_hand[consumer.first_in_hand + k % consumer.room]
            if not is_acked(replay, sub, place):
                put_back(replay, sub, place)
        check_caps(replay, sub)
    consumer.unacked_msgs = consumer.permits = 0
    return s


@compiled_part
def _set_quota(topic: Record, given: Record) -> None:
    """`a`: type, `b`: limit in bytes or seconds, `c`: policy."""
    if given.a == SIZE_QUOTA:
        topic.size_limit, topic.size_policy = given.b, given.c
    else:
        topic.time_limit_s, topic.time_policy = given.b, given.c


@compiled_part
def _set_rate(limiter: Record, given: Record) -> None:
    """`a`: kind, `b`: messages, `c`: bytes, `d`: period in s. A limiter that is there stays, also without a rate."""
    is_new = limiter.exists == 0 or limiter.kind != given.a
    if limiter.exists == 0:
        limiter.exists = 1
        for dimension in (MSG, BYTES):
            limiter.tick_ns[dimension] = NONE
    limiter.kind = given.a
    apply_rate(limiter, MSG, given.a, is_new, given.b, given.d, given.at_ns)
    apply_rate(limiter, BYTES, given.a, is_new, given.c, given.d, given.at_ns)
