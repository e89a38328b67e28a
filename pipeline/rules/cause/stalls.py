"""From when on nothing moves though it should, and what explains that: docs/design/causes.md, "What needs time".

Progress is a delivery or an acknowledgement. A read that is asked for, that comes back empty, or that brings what was delivered before, is
none. Pure, as the verdict is: `…_ns` says from when on, and the account is what the time goes to from there.
"""

from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.caps import may_be_more_than_counted, may_have_capped_consumers
from pipeline.rules.cause.layout import (
    CATCHING_UP,
    CHANNEL,
    EMPTY_READ,
    FRUITLESS,
    KEY_SHARED,
    KEYS_BLOCKED,
    LOST_READ_NS,
    NO_FLOW,
    NO_PERMITS,
    NO_TRANSACTION,
    NOT_IN_THIS_LOG,
    OPEN,
    OUT,
    PARKED,
    PERMITS_KNOWN,
    PERMITS_UNKNOWN,
    REDELIVERY,
    SLOW_EVIDENCE_NS,
    STALL_NS,
    STUCK,
    THROTTLED,
    TRANSACTION,
    UNACKED_LIMIT,
)
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record


@compiled_part
def is_fruitless(charge: Record) -> bool:
    """Whether reads come back, and nothing is delivered."""
    return charge.fruitless >= FRUITLESS


@compiled_part
def is_capped(account: int) -> bool:
    """Whether it is the account of a cap of unacknowledged messages."""
    return UNACKED_LIMIT <= account < NO_PERMITS


@compiled_part
def is_slow(charge: Record, pace: Record) -> bool:
    """Whether storage is known to be slow: a read came back late, or failed, since this one went out or shortly before."""
    return pace.slow_ns != NONE and charge.moved_ns - pace.slow_ns <= SLOW_EVIDENCE_NS


@compiled_part
def is_at_storage(charge: Record, dispatcher: Record, pace: Record) -> bool:
    """Whether a read of storage is out, as far as a log can tell: a Key_Shared dispatcher may ask, and not read."""
    return charge.is_out == OUT and pace.tells_deliveries == 1 and dispatcher.sub_type != KEY_SHARED


@compiled_part
def is_timed(charge: Record) -> bool:
    """Whether the time that the read which is out takes says something of storage: not where there was nothing left to read."""
    return charge.is_out in (OUT, PARKED)


@compiled_part
def slow_ns(charge: Record, pace: Record) -> int:
    """From when on a read that is out is slow."""
    is_due = charge.account == CATCHING_UP and is_timed(charge) and pace.normal_ns > 0 and is_slow(charge, pace)
    return charge.moved_ns + pace.normal_ns if is_due else INT64_MAX


@compiled_part
def passing_ns(charge: Record, pace: Record) -> int:
    """From when on a read or a delivery was lost: where all is there, each follows the other within a normal turnaround."""
    is_due = charge.account == CATCHING_UP == charge.charged_to
    return int(charge.moved_ns + pace.normal_ns) if is_due else INT64_MAX


@compiled_part
def in_vain_ns(charge: Record) -> int:
    """From when on reads that come back with nothing to deliver are no progress."""
    is_due = charge.account == CATCHING_UP == charge.charged_to and charge.permits_known != PERMITS_UNKNOWN and is_fruitless(charge)
    return charge.progress_ns + STALL_NS if is_due else INT64_MAX


@compiled_part
def silent_ns(charge: Record, dispatcher: Record, pace: Record) -> int:
    """From when on there is no sign of life though there should be one."""
    account = charge.account
    if account == CATCHING_UP:
        if charge.permits_known == PERMITS_UNKNOWN:
            return charge.moved_ns + pace.normal_ns
        return INT64_MAX if is_at_storage(charge, dispatcher, pace) and is_slow(charge, pace) else charge.moved_ns + STALL_NS
    is_due = (
        THROTTLED <= account < CHANNEL
        or account == KEYS_BLOCKED
        or (is_capped(account) and charge.delivered == 0)
        or (account in (NO_PERMITS, NO_FLOW) and charge.granted_known == 1 and charge.granted > 0 and not may_have_capped_consumers(charge))
    )
    return charge.moved_ns + STALL_NS if is_due else INT64_MAX


@compiled_part
def lost_ns(charge: Record, dispatcher: Record, pace: Record) -> int:
    """From when on a read that is out is none of storage any more."""
    is_due = charge.account == CATCHING_UP and is_at_storage(charge, dispatcher, pace)
    return charge.moved_ns + LOST_READ_NS if is_due else INT64_MAX


@compiled_part
def in_vain(charge: Record, chain: Record, dispatcher: Record) -> int:
    """The account from `in_vain_ns` on."""
    if charge.done == EMPTY_READ and chain.transaction != NO_TRANSACTION:
        return TRANSACTION
    if charge.repeated_ns > charge.progress_ns:
        return REDELIVERY
    return KEYS_BLOCKED if dispatcher.sub_type == KEY_SHARED and charge.aside > charge.delayed else NOT_IN_THIS_LOG


@compiled_part
def silent(charge: Record, chain: Record, dispatcher: Record, pace: Record) -> int:
    """The account from `silent_ns` on: a fault of the broker, if the log has all else that could explain it."""
    if is_capped(charge.account):
        is_lost = charge.stated != NONE and may_be_more_than_counted(charge)
        return NOT_IN_THIS_LOG if is_lost else STUCK + 1 + charge.account - UNACKED_LIMIT
    can_tell = pace.tells_deliveries == 1 and charge.permits_known == PERMITS_KNOWN and chain.transaction != OPEN
    is_simple = dispatcher.sub_type not in (KEY_SHARED, NONE) and charge.is_out in (0, PARKED)
    return STUCK if can_tell and is_simple and not may_have_capped_consumers(charge) else NOT_IN_THIS_LOG


@compiled_part
def lost(charge: Record, chain: Record, pace: Record) -> int:
    """The account from `lost_ns` on: a fault of the broker, if other reads come back in time."""
    return STUCK if pace.good_ns > charge.moved_ns and chain.transaction != OPEN else NOT_IN_THIS_LOG
