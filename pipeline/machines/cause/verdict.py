"""Which account a subscription's time goes to from now on: the precedence of causes (docs/causes.md)."""

from pipeline.machines.broker.attachments import is_unwritable
from pipeline.machines.broker.layout import NONE
from pipeline.machines.cause.charging import backlog_of, begin_at, begin_backlog, begin_stretch, end_backlog, settle_plainly
from pipeline.machines.cause.layout import (
    BEGINNING_NOT_SEEN,
    CATCHING_UP,
    CHANNEL,
    DELAYED,
    EVENTS_LOST,
    IN_FLIGHT,
    NO_CONSUMER,
    NO_PERMITS,
    UNACKED_LIMIT,
)
from pipeline.machines.cause.waiting import chain, surely_waits, waiting_entries
from pipeline.machines.cause.watching import watch
from pipeline.machines.compiled import compiled_part
from pipeline.machines.records import Record, Records


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
    waiting = waiting_entries(charge, topic, cursor, reading, backlog)
    if cursor.open == 1 and waiting <= charge.delayed:
        chain(charge, chain_of_topic, s)
    if backlog == 0:
        settle_plainly(charge, chain_of_topic, topic, backlog, ns)
        end_backlog(charge, ns)
        watch(charge, cursor)
        return
    account = _account(charge, waiting, cursor, reading, settings, pace, subscription, connectivity)
    charged_to = _largest_part(charge, backlog) if account == CATCHING_UP else account
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
    waiting: int,
    cursor: Record,
    reading: Record,
    settings: Record,
    pace: Record,
    subscription: Record,
    connectivity: Record,
) -> int:
    """The first cause that applies."""
    if charge.losses != settings.losses:
        return EVENTS_LOST
    if reading.consumers == 0 and charge.is_attached == 0:
        return NO_CONSUMER if cursor.began_complete == 1 else BEGINNING_NOT_SEEN
    if may_be_unwritable(subscription, connectivity) and subscription.unwritable_at == connectivity.changes:
        return CHANNEL
    if waiting == 0:
        return IN_FLIGHT
    if waiting <= charge.delayed:
        return DELAYED
    if charge.is_capped != 0 or (charge.consumers_capped > 0 and charge.consumers_capped >= reading.consumers):
        return UNACKED_LIMIT
    if charge.blocked != NONE:
        return charge.blocked
    if charge.permits_known == 1 and charge.permits <= 0:
        return NO_PERMITS
    return CATCHING_UP if surely_waits(charge, settings, pace, waiting) else EVENTS_LOST
