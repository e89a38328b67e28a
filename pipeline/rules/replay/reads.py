"""A dispatcher decides to read: permits, limiters, caps, and how many entries that is (semantics §1.2, §1.6)."""

from typing import Any

from pipeline.rules.broker.layout import BYTES, LEVEL_COUNT, MSG, NONE
from pipeline.rules.broker.limiter import UNLIMITED, ask
from pipeline.rules.compiled import inlined_part
from pipeline.rules.records import Record
from pipeline.rules.replay.agenda import plan
from pipeline.rules.replay.backlog import has_waiting
from pipeline.rules.replay.kinds import DELIVERY, REDELIVERY, RETRY
from pipeline.rules.replay.layout import CATCHING_UP, IDLE, NO_CONSUMER, NO_PERMITS, OUT, UNACKED_CAP, WAITING
from pipeline.rules.throttle.walk import walk

#: What an entry costs beside its bytes, in the broker's estimate (§1.6, [ECE]).
ENTRY_OVERHEAD_BYTES = 64


@inlined_part
def read_more(replay: Any, s: int) -> None:
    """Evaluate the read limits of a subscription, and read if they allow it. Whatever stops it becomes the cause."""
    sub = replay.subs[s]
    if sub.present == 0:
        sub.cause = NO_CONSUMER
        return
    if sub.is_single == 1 and sub.state != IDLE:
        return
    permits = _permits(replay, sub)
    if permits <= 0:
        if sub.state != OUT:
            sub.cause = _why_no_permits(replay, sub)
        return
    clock = replay.clock[0]
    entries, size, level = _asked(replay, sub, min(permits, clock.max_read_entries))
    if level != NONE:
        if sub.state != OUT:
            sub.cause = 2 * level + (MSG if entries == 0 else BYTES)
        if sub.retry_planned == 0:
            sub.retry_planned = 1
            plan(replay, clock.now_ns + _retry_ns(clock, sub), RETRY, s, 0)
        sub.blocked_ns = clock.now_ns
        return
    if sub.is_capped == 1:
        sub.cause = UNACKED_CAP
        return
    _issue(replay, s, sub, max(entries, 1), max(size, 1))


@inlined_part
def _retry_ns(clock: Record, sub: Record) -> int:
    """From a blocked read to the next. Those that follow keep the phase of the first, and with it the order of who share a limiter."""
    is_first = clock.now_ns - sub.blocked_ns > 2 * clock.retry_ns
    return sub.phase_ns if is_first and sub.phase_ns > 0 else clock.retry_ns


@inlined_part
def _permits(replay: Any, sub: Record) -> int:
    """Permits of all consumers that may get something; of the active one, if only one may."""
    permits = 0
    for c in range(sub.first_consumer, sub.first_consumer + sub.consumers):
        consumer = replay.consumers[c]
        if consumer.present == 1:
            if sub.is_single == 1:
                return consumer.permits
            if consumer.permits > 0 and consumer.is_capped == 0:
                permits += consumer.permits
    return permits


@inlined_part
def _why_no_permits(replay: Any, sub: Record) -> int:
    for c in range(sub.first_consumer, sub.first_consumer + sub.consumers):
        consumer = replay.consumers[c]
        if consumer.present == 1 and consumer.is_capped == 1:
            return UNACKED_CAP
    return NO_PERMITS


@inlined_part
def _asked(replay: Any, sub: Record, want: int) -> tuple[int, int, int]:
    """What the limiters leave: (entries, bytes, level that blocks or NONE). Counts what each lowered."""
    clock, topic = replay.clock[0], replay.topics[sub.topic]
    for level in range(LEVEL_COUNT):
        limiter = replay.limiters[0 if level == 0 else topic.limiter if level == 1 else sub.limiter]
        replay.present[level] = limiter.exists
        replay.answers[level, MSG] = replay.answers[level, BYTES] = UNLIMITED
        # A level behind one that blocks is not asked: asking a bucket refills it.
        if limiter.exists == 1 and (level == 0 or not _blocks(replay, level - 1)):
            replay.answers[level, MSG] = ask(limiter, MSG, clock.now_ns)
            replay.answers[level, BYTES] = ask(limiter, BYTES, clock.now_ns)
    entries, size, blocks = walk(replay.answers, replay.present, want, clock.max_read_bytes, replay.lowered)
    for level in range(LEVEL_COUNT):
        sub.throttled[level, MSG] += replay.lowered[level, MSG]
        sub.throttled[level, BYTES] += replay.lowered[level, BYTES]
    return entries, size, blocks


@inlined_part
def _blocks(replay: Any, level: int) -> bool:
    """Whether this level, or one before it, has nothing left."""
    for before in range(level + 1):
        if replay.present[before] == 1 and (replay.answers[before, MSG] == 0 or replay.answers[before, BYTES] == 0):
            return True
    return False


@inlined_part
def _issue(replay: Any, s: int, sub: Record, entries: int, size: int) -> None:
    """Entries to deliver again come first; without new ones the read waits for a publish."""
    clock = replay.clock[0]
    if sub.replay_out == 1:
        return
    sub.cause = CATCHING_UP
    if sub.replay_used > 0:
        sub.replay_out = 1
        sub.granted_entries = entries
        plan(replay, clock.now_ns + clock.read_ns, REDELIVERY, s, sub.life)
    elif sub.state == IDLE:
        sub.granted_entries, sub.granted_bytes = entries, size
        if has_waiting(replay, sub):
            sub.state = OUT
            plan(replay, clock.now_ns + clock.read_ns, DELIVERY, s, sub.life)
        else:
            sub.state = WAITING


@inlined_part
def wake(replay: Any, s: int) -> None:
    """A publish: the read that waits for one gets it."""
    sub, clock = replay.subs[s], replay.clock[0]
    if sub.state == WAITING:
        sub.state = OUT
        plan(replay, clock.now_ns + clock.wake_ns, DELIVERY, s, sub.life)


@inlined_part
def entries_of_size(replay: Any, sub: Record, size: int) -> int:
    """Entries that the broker takes for so many bytes, from the read position on: by each ledger's average, at least 1 (§1.6)."""
    topic = replay.topics[sub.topic]
    place, entries, left = sub.read, 0, size
    while place < topic.published:
        ledger = replay.ledgers[replay.entries[topic.first_entry + place].ledger]
        average = max(1, ledger.bytes // max(1, ledger.entries)) + ENTRY_OVERHEAD_BYTES
        of_ledger = ledger.first + ledger.entries - place
        if left <= of_ledger * average:
            return max(1, entries + max(1, left // average))
        entries += of_ledger
        left -= of_ledger * average
        place += of_ledger
    return max(1, entries + 1)
