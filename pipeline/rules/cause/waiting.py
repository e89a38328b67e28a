"""What waits: entries of a backlog neither delivered nor held for later."""

from pipeline.rules.broker.ledgers import find_ledger, place_of
from pipeline.rules.cause.case import Case
from pipeline.rules.cause.charging import backlog_of
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import add
from pipeline.rules.records import Record, Records


@compiled_part
def waiting_entries(charge: Record, topic: Record, cursor: Record, reading: Record, backlog: int) -> int:
    """Entries of the `backlog` that were not delivered: held ones included. The books are brought up to date."""
    charge.delivered = delivered_entries(charge, topic, cursor, reading, backlog)
    charge.acknowledged_seen = cursor.acknowledged
    charge.removed_seen = cursor.evicted + cursor.expired  # what was removed may never have been delivered
    return backlog - charge.delivered


@compiled_part
def delivered_entries(charge: Record, topic: Record, cursor: Record, reading: Record, backlog: int) -> int:
    """Entries of the `backlog` that are with consumers. What was acknowledged since the last look is not."""
    delivered = max(0, charge.delivered - (cursor.acknowledged - charge.acknowledged_seen))
    if charge.is_redelivered == 0 and reading.known == 1:
        # What lies before the read position was delivered, also where the log has lost that.
        delivered = max(delivered, backlog - max(0, topic.end_entries - reading.entries))
    return int(min(delivered, backlog))


@compiled_part
def waiting_now(case: Case) -> int:
    """Entries of the backlog of now that were not delivered: held ones included."""
    charge, topic, cursor = case.charge, case.topic, case.cursor
    return waiting_entries(charge, topic, cursor, case.reading, backlog_of(topic, cursor, charge))


@compiled_part
def surely_waits(charge: Record, settings: Record, pace: Record, waiting: int) -> bool:
    """Whether something of the `waiting` entries does wait, not held for later: each event that was lost since that was certain may have
    been a delivery, of as many entries as the broker's largest read at most.
    """
    return waiting - charge.delayed > (settings.events_lost - charge.certain_lost) * pace.largest_read


@compiled_part
def forget_delivered(charge: Record, cursor: Record) -> None:
    """Nothing is with a consumer any more, nor lies aside: the next read begins behind what is acknowledged."""
    charge.delivered, charge.is_redelivered, charge.aside = 0, 0, 0
    charge.acknowledged_seen, charge.removed_seen = cursor.acknowledged, cursor.evicted + cursor.expired


@compiled_part
def forget_removed(charge: Record, topic: Record, cursor: Record, reading: Record, backlog: int) -> None:
    """Of the entries that were removed some had been delivered: all before the read position."""
    removed = cursor.evicted + cursor.expired - charge.removed_seen
    if charge.is_redelivered == 1 or reading.known == 0:
        charge.delivered = max(0, charge.delivered - removed)
        return
    beyond = max(0, topic.end_entries - reading.entries)
    charge.delivered = min(charge.delivered, max(0, backlog - beyond))


@compiled_part
def note_span(charge: Record, topic: Record, ledgers: Records, settings: Record, backlog: int, ledger: int, entry: int) -> None:
    """A delivery ended at this position: all before it was read, whatever is lost."""
    if charge.is_redelivered == 1 or find_ledger(topic, ledgers, ledger) < 0:
        return
    beyond = topic.end_entries - place_of(topic, ledgers, ledger, entry)
    charge.delivered = max(charge.delivered, backlog - beyond - charge.delayed - charge.aside - charge.again)
    charge.certain_lost = settings.events_lost


@compiled_part
def ask_again(charge: Record, entries: int) -> None:
    """So many delivered entries wait again."""
    charge.again = add(charge.again, min(entries, charge.delivered))
    charge.delivered, charge.is_redelivered = max(0, charge.delivered - entries), 1
