"""What an eviction of a backlog quota moves (semantics §2.4 to §2.6, the rules of 4.0.8)."""

from collections.abc import Sequence

from sim.storage import StoredTopic
from sim.subscription import LiveSubscription

#: An eviction by size goes down to this share of the limit; a precise one by age, too.
TARGET_SHARE = 0.9


def evict(stored: StoredTopic, subscriptions: Sequence[LiveSubscription], kind: str, precise: bool, wall_ms: int) -> None:
    """Move cursors so that the quota is kept."""
    if kind == "destination_storage":
        _evict_by_size(stored, subscriptions)
    elif precise:
        _evict_by_publish_time(stored, subscriptions, wall_ms)
    else:
        _evict_old_ledgers(stored, subscriptions, wall_ms)


def _by_name(subscriptions: Sequence[LiveSubscription], name: str) -> LiveSubscription:
    return next(one for one in subscriptions if one.declared.name == name)


def _evict_by_size(stored: StoredTopic, subscriptions: Sequence[LiveSubscription]) -> None:
    """Skip entries of the slowest cursor, then of the next slowest, until the size is small enough."""
    target = TARGET_SHARE * stored.declared.quotas.size_bytes
    size, previous = stored.backlog_size(), None
    while size > target:
        cursor = stored.heap.cursors[0]
        entries = int((size - target) / size * stored.backlog(cursor))
        if cursor is previous or entries == 0:
            return
        _by_name(subscriptions, cursor.name).evict_to(min(cursor.mark + entries, stored.end - 1))
        size, previous = stored.backlog_size(), cursor


def _evict_by_publish_time(stored: StoredTopic, subscriptions: Sequence[LiveSubscription], wall_ms: int) -> None:
    """Every cursor goes to the newest entry that is older than nine tenths of the limit."""
    target_s = int(TARGET_SHARE * stored.declared.quotas.age_s)
    if target_s == 0:
        return
    newest = stored.ledgers[0].first - 1
    for ledger in stored.ledgers:
        for place, publish_ms in enumerate(ledger.publish_ms):
            if wall_ms > publish_ms + target_s * 1000:
                newest = ledger.first + place
    for subscription in subscriptions:
        if newest > subscription.cursor.stored.mark:
            subscription.evict_to(newest)


def _evict_old_ledgers(stored: StoredTopic, subscriptions: Sequence[LiveSubscription], wall_ms: int) -> None:
    """The slowest cursor goes to the next ledger while its own was closed longer ago than the limit."""
    limit_ms = stored.declared.quotas.age_s * 1000
    while True:
        cursor = stored.heap.cursors[0]
        at = next((place for place, ledger in enumerate(stored.ledgers) if ledger.id >= cursor.persisted[0]), None)
        if at is None or at + 1 >= len(stored.ledgers):
            return
        ledger = stored.ledgers[at]
        if not ledger.close_ms or wall_ms - ledger.close_ms <= limit_ms:
            return
        following = stored.ledgers[at + 1]
        _by_name(subscriptions, cursor.name).evict_to(following.first - 1, (following.id, -1))
