"""What the cause is: the first one that applies, in the order of docs/design/causes.md ("The causes, in order of precedence").

Pure: rows are read, none is changed (tests/machines/test_verdict.py). What depends on how long nothing happened is in stalls.py, pure as
well. Who asks (judging.py) has brought up to date before: what is delivered, what was delivered again, whether channels are unwritable.
"""

from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.case import Case
from pipeline.rules.cause.doubt import has_lost, is_certain
from pipeline.rules.cause.layout import (
    ASKED_IN_VAIN,
    BEGINNING_NOT_SEEN,
    BROKER_CAP,
    CATCHING_UP,
    CHANNEL,
    CONSUMER_CAP,
    DELAYED,
    EMPTY_READ,
    EVENTS_LOST,
    IN_FLIGHT,
    KEY_SHARED,
    KEYS_BLOCKED,
    NO_CONSUMER,
    NO_FLOW,
    NO_PERMITS,
    OPEN,
    PERMITS_UNKNOWN,
    REDELIVERY,
    SUBSCRIPTION_CAP,
    TRANSACTION,
    UNACKED_LIMIT,
)
from pipeline.rules.cause.repeats import is_redelivering
from pipeline.rules.cause.waiting import surely_waits
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record


@compiled_part
def cause_of(case: Case, backlog: int, waiting: int, ns: int) -> int:
    """The account of the first cause that applies; CATCHING_UP if none does. `waiting`: of the `backlog`, held entries included."""
    charge, cursor, reading, settings, pace = case.charge, case.cursor, case.reading, case.settings, case.pace
    if has_lost(charge, settings, pace, ns):
        return EVENTS_LOST
    if reading.consumers == 0 and charge.is_attached == 0:
        return NO_CONSUMER if cursor.began_complete == 1 or charge.stated != NONE else BEGINNING_NOT_SEEN
    if _are_all_unwritable(case.subscription, case.connectivity):
        return CHANNEL
    if is_redelivering(charge):
        return REDELIVERY
    if waiting == 0:
        return IN_FLIGHT
    if waiting <= charge.delayed:
        return DELAYED
    cap = _cap_that_is_on(charge, reading)
    if cap != NONE:
        return UNACKED_LIMIT + cap
    if charge.blocked != NONE:
        return charge.blocked  # THROTTLED, and which limiter
    if charge.permits_known != PERMITS_UNKNOWN and charge.permits <= 0:
        return NO_FLOW if _hold_nothing(charge, settings, pace) else NO_PERMITS
    if not _does_wait(case, backlog, waiting):
        return EVENTS_LOST
    if _is_read_empty(case) and (pace.tells_states == 1 or is_certain(charge, cursor, settings) == 1):
        return TRANSACTION
    if _are_keys_blocked(case, waiting):
        # A delivery that was lost looks like entries that were put aside, until the broker says how many are.
        return KEYS_BLOCKED if is_certain(charge, cursor, settings) == 1 else EVENTS_LOST
    return CATCHING_UP


@compiled_part
def largest_part(charge: Record, backlog: int) -> int:
    """Where the time goes while the cause is CATCHING_UP: to where most of the backlog is, with consumers, held for later, or waiting.

    A message that has just arrived explains only itself.
    """
    waits = backlog - charge.delivered - charge.delayed
    if charge.delivered > waits and charge.delivered >= charge.delayed:
        return IN_FLIGHT
    return DELAYED if charge.delayed > waits else CATCHING_UP


@compiled_part
def _are_all_unwritable(subscription: Record, connectivity: Record) -> bool:
    """Whether all connections with consumers of the subscription are unwritable."""
    has_any = connectivity.unwritable > 0 and subscription.first_attachment != NONE
    return has_any and subscription.unwritable_at == connectivity.changes


@compiled_part
def _cap_that_is_on(charge: Record, reading: Record) -> int:
    """The cap of unacknowledged messages that stops deliveries, or NONE: the nearest to the consumers, if there are several."""
    if charge.consumers_capped > 0 and charge.consumers_capped >= reading.consumers:
        return CONSUMER_CAP
    if charge.is_capped & (1 << SUBSCRIPTION_CAP):
        return SUBSCRIPTION_CAP
    return BROKER_CAP if charge.is_capped & (1 << BROKER_CAP) else NONE


@compiled_part
def _hold_nothing(charge: Record, settings: Record, pace: Record) -> bool:
    """Whether consumers hold nothing that is not acknowledged, for certain."""
    return charge.delivered == 0 and (charge.certain_lost == settings.events_lost or pace.tells_states == 1)


@compiled_part
def _does_wait(case: Case, backlog: int, waiting: int) -> bool:
    """Whether something of the `waiting` entries does wait, whatever was lost; or most of the backlog is elsewhere anyway."""
    charge, pace = case.charge, case.pace
    if surely_waits(charge, case.settings, pace, waiting):
        return True
    return pace.tells_states == 1 and (largest_part(charge, backlog) != CATCHING_UP or _is_read_empty(case))


@compiled_part
def _is_read_empty(case: Case) -> bool:
    """Whether a transaction is open, and the latest read came back empty: something waits behind its first message."""
    return case.charge.done == EMPTY_READ and case.chain.transaction == OPEN


@compiled_part
def _are_keys_blocked(case: Case, waiting: int) -> bool:
    """Whether entries lie aside in a Key_Shared dispatcher that has nothing else to deliver."""
    charge = case.charge
    if case.dispatcher.sub_type != KEY_SHARED or case.pace.tells_deliveries == 0 or charge.aside <= charge.delayed:
        return False
    return charge.aside >= waiting or charge.asked_again >= ASKED_IN_VAIN
