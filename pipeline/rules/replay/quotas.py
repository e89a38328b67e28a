"""A round of quota checks over all topics, and its evictions (semantics §2.3, §2.5, §2.6)."""

from typing import Any

from pipeline.rules.backlog.eviction import MS_PER_S, entries_to_skip
from pipeline.rules.broker.in_flight import FIRST_4_1
from pipeline.rules.broker.layout import NONE
from pipeline.rules.broker.ledgers import consumed
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record
from pipeline.rules.replay.backlog import backlog_of, move_mark, settle
from schemas.events import QUOTA_POLICIES

EVICTS = QUOTA_POLICIES.index("consumer_backlog_eviction")


@compiled_part
def check_quotas(replay: Any) -> None:
    """One round: size first, then age; at most one action a topic."""
    for t in range(replay.topics.shape[0]):
        topic = replay.topics[t]
        if topic.ledgers == 0 or slowest(replay, t) == NONE:
            continue
        if topic.size_limit >= 0 and size_of(replay, t) >= topic.size_limit:
            if topic.size_policy == EVICTS:
                _evict_size(replay, t)
            else:
                _hold_producers(replay, topic)
        elif topic.time_limit_s > 0 and _is_too_old(replay, t):
            if topic.time_policy == EVICTS:
                _evict_age(replay, t)
            else:
                _hold_producers(replay, topic)


@compiled_part
def _hold_producers(replay: Any, topic: Record) -> None:
    """Its producers would be shut out now. A replay has their publishes all the same, and says so."""
    if topic.held_from_ns == NONE:
        topic.held_from_ns = replay.clock[0].now_ns


@compiled_part
def slowest(replay: Any, t: int) -> int:
    """The topic's durable subscription with the lowest mark; NONE without one."""
    topic, found = replay.topics[t], NONE
    for s in range(topic.first_sub, topic.first_sub + topic.subs):
        sub = replay.subs[s]
        if sub.open == 1 and sub.durable == 1 and (found == NONE or sub.mark < replay.subs[found].mark):
            found = s
    return found


@compiled_part
def size_of(replay: Any, t: int) -> int:
    """Backlog size of the topic: bytes behind its slowest mark, by the average inside a ledger (§2.3)."""
    topic, mark, size = replay.topics[t], replay.subs[slowest(replay, t)].mark, 0
    for k in range(topic.first_ledger + topic.ledgers - 1, topic.first_ledger - 1, -1):
        ledger = replay.ledgers[k]
        size += ledger.bytes
        if ledger.first <= mark:
            return size - consumed(ledger.entries, ledger.bytes, mark - ledger.first - 1)
    return size


@compiled_part
def _evict_size(replay: Any, t: int) -> None:
    """Skip entries of the slowest subscription until the size is below target, the same comes twice, or nothing can be skipped."""
    topic, previous = replay.topics[t], NONE
    while True:
        s = slowest(replay, t)
        sub = replay.subs[s]
        skip = entries_to_skip(size_of(replay, t), topic.size_limit, backlog_of(replay, sub), replay.clock[0].version)
        if s == previous or skip <= 0:
            break
        _evict(replay, sub, min(topic.published, sub.mark + skip))
        sub.evictions += 1
        previous = s


@compiled_part
def _evict(replay: Any, sub: Record, mark: int) -> None:
    settle(replay, sub)
    sub.evicted += move_mark(replay, sub, mark)


@compiled_part
def _now_ms(replay: Any) -> int:
    return (replay.clock[0].now_ns + replay.clock[0].wall_minus_ns) // 1_000_000


@compiled_part
def _is_too_old(replay: Any, t: int) -> bool:
    """Whether the oldest entry is older than the limit: by its publish time, or by the close of its ledger (§2.4)."""
    topic, sub = replay.topics[t], replay.subs[slowest(replay, t)]
    if sub.mark >= topic.published:
        return False
    entry = replay.entries[topic.first_entry + sub.mark]
    if replay.clock[0].precise_check == 1:
        return _now_ms(replay) > entry.publish_ms + topic.time_limit_s * MS_PER_S
    ledger = replay.ledgers[entry.ledger]
    return ledger.closed == 1 and _now_ms(replay) > ledger.close_ms + topic.time_limit_s * MS_PER_S


@compiled_part
def _evict_age(replay: Any, t: int) -> None:
    """Precise: all subscriptions go to the last entry older than nine tenths of the limit. Else closed ledgers go that are too old."""
    topic = replay.topics[t]
    mark = _precise_end(replay, t) if replay.clock[0].precise_check == 1 else _closed_end(replay, t)
    for s in range(topic.first_sub, topic.first_sub + topic.subs):
        sub = replay.subs[s]
        if sub.open == 1 and sub.mark < mark:
            _evict(replay, sub, mark)
            sub.evictions += 1


@compiled_part
def _precise_end(replay: Any, t: int) -> int:
    """The place behind the newest entry that was published before the target."""
    topic = replay.topics[t]
    target_s = int(0.9 * topic.time_limit_s)
    if target_s == 0 and 0 < replay.clock[0].version < FIRST_4_1:
        return 0  # 4.0 drops nothing at a limit of 1 s
    cutoff_ms = _now_ms(replay) - target_s * MS_PER_S
    low, high = 0, topic.published
    while low < high:
        middle = (low + high) // 2
        if replay.entries[topic.first_entry + middle].publish_ms < cutoff_ms:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_part
def _closed_end(replay: Any, t: int) -> int:
    """The place behind the last ledger that was closed longer ago than the limit."""
    topic, end = replay.topics[t], 0
    for k in range(topic.first_ledger, topic.first_ledger + topic.ledgers):
        ledger = replay.ledgers[k]
        if ledger.closed == 0 or _now_ms(replay) - ledger.close_ms <= topic.time_limit_s * MS_PER_S:
            break
        end = ledger.first + ledger.entries
    return end
