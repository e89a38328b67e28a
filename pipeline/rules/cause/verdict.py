"""Which account a subscription's time goes to from now on: the precedence of causes (docs/design/causes.md)."""

from pipeline.rules.broker.attachments import is_unwritable
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.charging import backlog_of, begin_at, begin_backlog, begin_stretch, end_backlog, settle_plainly
from pipeline.rules.cause.doubt import decide_doubt, has_lost, is_certain
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
from pipeline.rules.cause.repeats import forget_given_back, is_redelivering, limit_to
from pipeline.rules.cause.stalls import is_capped
from pipeline.rules.cause.waiting import chain, surely_waits, waiting_entries
from pipeline.rules.cause.watching import watch
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records


@compiled_part
def may_be_unwritable(subscription: Record, connectivity: Record) -> bool:
    """Whether all connections of the subscription may be unwritable."""
    return connectivity.unwritable > 0 and subscription.first_attachment != NONE


@compiled_part
def look_at_channels(subscription: Record, connectivity: Record, attachments: Records, connections: Records) -> None:
    """Note on the subscription whether all of its connections are unwritable."""
    if may_be_unwritable(subscription, connectivity):
        is_unwritable(subscription, connectivity, attachments, connections)


@compiled_part
def judge(
    charge: Record,
    chain_of_topic: Record,
    s: int,
    topic: Record,
    subscription: Record,
    cursor: Record,
    reading: Record,
    dispatcher: Record,
    settings: Record,
    pace: Record,
    connectivity: Record,
    weighs: bool,
    ts_us: int,
    ns: int,
) -> None:
    """Look at everything anew, once what is due at `ns` is charged, and the channels were looked at (`look_at_channels`).

    `weighs`: also at where most of the backlog is, while reads and deliveries follow each other.
    """
    backlog = backlog_of(topic, cursor, charge)
    had_delivered = charge.delivered
    waiting = waiting_entries(charge, topic, cursor, reading, backlog)
    limit_to(charge, waiting)
    if cursor.open == 1 and waiting <= charge.delayed:
        chain(charge, chain_of_topic, s)
    if backlog == 0:
        settle_plainly(charge, chain_of_topic, topic, backlog, ns)
        decide_doubt(charge, settings, NONE)
        end_backlog(charge, ns)
        forget_given_back(charge)
        watch(charge, cursor)
        return
    is_lost = has_lost(charge, settings, pace, ns)
    if is_lost and pace.tells_states == 1 and charge.running == 1:  # in doubt until a proof comes
        charge.backlog_seen = backlog
        watch(charge, cursor)
        return
    account = EVENTS_LOST
    if not is_lost:
        account = _account(charge, chain_of_topic, waiting, backlog, cursor, reading, settings, pace, subscription, connectivity)
    if account == CATCHING_UP:
        account = _why_fruitless(charge, chain_of_topic, waiting, cursor, dispatcher, settings, pace)
    if account == CATCHING_UP and charge.account == TRANSACTION:
        charge.progress_ns, charge.fruitless = ns, 0  # it has ended
    if had_delivered > 0 and charge.delivered == 0 and is_capped(charge.account):
        charge.moved_ns = max(charge.moved_ns, ns)  # the cap has nothing to be about any more
    charged_to = _largest_part(charge, backlog) if account == CATCHING_UP else account
    decide_doubt(charge, settings, charged_to)
    if charge.running == 1 and account == charge.account and (charged_to == charge.charged_to or not weighs):
        charge.backlog_seen = backlog
        watch(charge, cursor)
        return
    settle_plainly(charge, chain_of_topic, topic, backlog, ns)
    begin_at(charge, ts_us, ns)
    if charge.running == 0:
        begin_backlog(charge, pace, s)
    charge.account, charge.charged_to = account, charged_to
    begin_stretch(charge, chain_of_topic, topic, cursor, backlog)


@compiled_part
def _largest_part(charge: Record, backlog: int) -> int:
    """Where most of the backlog is: with consumers, held for later, or waiting. A message that has just arrived explains only itself."""
    waits = backlog - charge.delivered - charge.delayed
    if charge.delivered > waits and charge.delivered >= charge.delayed:
        return IN_FLIGHT
    return DELAYED if charge.delayed > waits else CATCHING_UP


@compiled_part
def _account(
    charge: Record,
    chain_of_topic: Record,
    waiting: int,
    backlog: int,
    cursor: Record,
    reading: Record,
    settings: Record,
    pace: Record,
    subscription: Record,
    connectivity: Record,
) -> int:
    """The first cause that applies."""
    if reading.consumers == 0 and charge.is_attached == 0:
        return NO_CONSUMER if cursor.began_complete == 1 or charge.stated != NONE else BEGINNING_NOT_SEEN
    if may_be_unwritable(subscription, connectivity) and subscription.unwritable_at == connectivity.changes:
        return CHANNEL
    if is_redelivering(charge, cursor):
        return REDELIVERY
    if waiting == 0:
        return IN_FLIGHT
    if waiting <= charge.delayed:
        return DELAYED
    cap = _cap_that_is_on(charge, reading)
    if cap != NONE:
        return UNACKED_LIMIT + cap
    if charge.blocked != NONE:
        return charge.blocked
    if charge.permits_known != PERMITS_UNKNOWN and charge.permits <= 0:
        holds_nothing = charge.delivered == 0 and (charge.certain_lost == settings.events_lost or pace.tells_states == 1)
        return NO_FLOW if holds_nothing else NO_PERMITS
    if surely_waits(charge, settings, pace, waiting) or (pace.tells_states == 1 and _largest_part(charge, backlog) != CATCHING_UP):
        return CATCHING_UP
    if charge.done == EMPTY_READ and chain_of_topic.transaction == OPEN and pace.tells_states == 1:
        return CATCHING_UP  # a read came back empty: something waits
    return EVENTS_LOST


@compiled_part
def _cap_that_is_on(charge: Record, reading: Record) -> int:
    """The cap of unacknowledged messages that stops deliveries, or NONE: the nearest to the consumers, if there are several."""
    if charge.consumers_capped > 0 and charge.consumers_capped >= reading.consumers:
        return CONSUMER_CAP
    if charge.is_capped & (1 << SUBSCRIPTION_CAP):
        return SUBSCRIPTION_CAP
    return BROKER_CAP if charge.is_capped & (1 << BROKER_CAP) else NONE


@compiled_part
def _is_known(charge: Record, cursor: Record, settings: Record, pace: Record) -> bool:
    """Whether the log has what reads bring, and which transactions are open: all events, or now and then what the broker holds."""
    return pace.tells_states == 1 or is_certain(charge, cursor, settings) == 1


@compiled_part
def _why_fruitless(
    charge: Record, chain_of_topic: Record, waiting: int, cursor: Record, dispatcher: Record, settings: Record, pace: Record
) -> int:
    """Permits, tokens and waiting entries are there: what keeps them from being delivered all the same, or CATCHING_UP."""
    if charge.done == EMPTY_READ and chain_of_topic.transaction == OPEN and _is_known(charge, cursor, settings, pace):
        return TRANSACTION
    if dispatcher.sub_type != KEY_SHARED or pace.tells_deliveries == 0 or charge.aside <= charge.delayed:
        return CATCHING_UP
    has_no_more = charge.aside >= waiting or charge.asked_again >= ASKED_IN_VAIN
    if not has_no_more:
        return CATCHING_UP
    # A delivery that was lost looks like entries that were put aside, until the broker says how many are.
    return KEYS_BLOCKED if is_certain(charge, cursor, settings) == 1 else EVENTS_LOST
