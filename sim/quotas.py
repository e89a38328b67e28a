"""Backlog quotas: when they are exceeded, and what an eviction moves (semantics §2.4 to §2.6, the rules of 4.0.8)."""

from typing import TYPE_CHECKING

from sim.scenario import Quotas
from sim.storage import StoredTopic

if TYPE_CHECKING:
    from sim.subscription import LiveSubscription
    from sim.topic import LiveTopic

#: An eviction by size goes down to this share of the limit; a precise one by age, too.
TARGET_SHARE = 0.9


def decide(stored: StoredTopic, quotas: Quotas, precise: bool, wall_ms: int) -> tuple[bool, bool]:
    """(size is exceeded, age is exceeded); at most one is true: size comes first."""
    if quotas.size_bytes >= 0 and stored.backlog_size() >= quotas.size_bytes:
        return True, False
    if quotas.age_s <= 0:
        return False, False
    oldest_ms = oldest_believed_ms(stored, precise)
    return False, oldest_ms is not None and wall_ms > oldest_ms + quotas.age_s * 1000


def oldest_believed_ms(stored: StoredTopic, precise: bool) -> int | None:
    """From when the age of the backlog counts: the publish time of the entry behind the slowest persisted position, or, not precise,
    the close of its ledger. None: no backlog, or the ledger is open.
    """
    if not stored.heap.cursors or not any(stored.backlog(cursor) for cursor in stored.cursors.values()):
        return None
    slowest = stored.heap.cursors[0]
    if precise:
        index = slowest.persisted_mark + 1
        if index >= stored.end:
            return None
        ledger = stored.ledger_of(index)
        return ledger.publish_ms[index - ledger.first]
    following = [ledger for ledger in stored.ledgers if ledger.id >= slowest.persisted[0]]
    if not following or len(following) == 1:
        return None
    ledger = following[0]
    if ledger.id == slowest.persisted[0] and slowest.persisted[1] >= len(ledger) - 1:
        ledger = next((later for later in following[1:] if len(later) or not later.close_ms), following[-1])
    return ledger.close_ms or None


def evict(topic: "LiveTopic", kind: str, precise: bool, wall_ms: int) -> None:
    """Move cursors so that the quota is kept."""
    if kind == "destination_storage":
        _evict_by_size(topic)
    elif precise:
        _evict_by_publish_time(topic, wall_ms)
    else:
        _evict_old_ledgers(topic, wall_ms)


def _by_name(topic: "LiveTopic", name: str) -> "LiveSubscription":
    return next(one for one in topic.subscriptions if one.declared.name == name)


def _evict_by_size(topic: "LiveTopic") -> None:
    """Skip entries of the slowest cursor, then of the next slowest, until the size is small enough."""
    stored = topic.stored
    target = TARGET_SHARE * topic.declared.quotas.size_bytes
    size, previous = stored.backlog_size(), None
    while size > target:
        cursor = stored.heap.cursors[0]
        entries = int((size - target) / size * stored.backlog(cursor))
        if cursor is previous or entries == 0:
            return
        _by_name(topic, cursor.name).evict_to(min(cursor.mark + entries, stored.end - 1))
        size, previous = stored.backlog_size(), cursor


def _evict_by_publish_time(topic: "LiveTopic", wall_ms: int) -> None:
    """Every cursor goes to the newest entry that is older than nine tenths of the limit."""
    stored = topic.stored
    target_s = int(TARGET_SHARE * topic.declared.quotas.age_s)
    if target_s == 0:
        return
    newest = stored.ledgers[0].first - 1
    for ledger in stored.ledgers:
        for place, publish_ms in enumerate(ledger.publish_ms):
            if wall_ms > publish_ms + target_s * 1000:
                newest = ledger.first + place
    for subscription in topic.subscriptions:
        if newest > subscription.cursor.mark:
            subscription.evict_to(newest)


def _evict_old_ledgers(topic: "LiveTopic", wall_ms: int) -> None:
    """The slowest cursor goes to the next ledger while its own was closed longer ago than the limit."""
    stored, limit_ms = topic.stored, topic.declared.quotas.age_s * 1000
    while True:
        cursor = stored.heap.cursors[0]
        at = next((place for place, ledger in enumerate(stored.ledgers) if ledger.id >= cursor.persisted[0]), None)
        if at is None or at + 1 >= len(stored.ledgers):
            return
        ledger = stored.ledgers[at]
        if not ledger.close_ms or wall_ms - ledger.close_ms <= limit_ms:
            return
        following = stored.ledgers[at + 1]
        _by_name(topic, cursor.name).evict_to(following.first - 1, (following.id, -1))
