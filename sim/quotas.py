"""Backlog quotas: when they are exceeded (semantics §2.4 to §2.6, the rules of 4.0.8)."""

from sim.managed_ledger import ManagedLedger
from sim.scenario import Quotas
from sim.storage import StoredTopic


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


def refuses_producers(ledger: ManagedLedger) -> bool:
    """Whether a quota with a producer policy is exceeded now."""
    quotas, process = ledger.declared.quotas, ledger.process
    size, age = decide(ledger.stored, quotas, process.brokers.precise_age, process.wall_ms())
    return (size and quotas.size_policy.startswith("producer")) or (age and quotas.age_policy.startswith("producer"))
