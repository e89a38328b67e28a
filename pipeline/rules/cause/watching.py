"""When a subscription is looked at again: hints, so that most events touch no row of a charge. What the cause is they never decide.

Invariants: a cursor's `look_at` is never more than it has acknowledged while its backlog `may_be_over`: so it is noted anew whenever a
stretch begins, and whenever a subscription was judged. A subscription for which nothing waits is in the chain of its topic: a publish looks
at these, and at no others.
"""

from pipeline.rules.broker.attachments import is_unwritable
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.case import Case
from pipeline.rules.cause.layout import APART, NO_PERMITS, REDELIVERY
from pipeline.rules.cause.stalls import is_capped, is_fruitless
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import INT64_MAX, add
from pipeline.rules.records import Record, Records


@compiled_part
def is_elsewhere(charge: Record) -> bool:
    """Whether time goes to entries that do not wait, though reads and deliveries follow each other."""
    return charge.account != charge.charged_to


@compiled_part
def _is_about_each(charge: Record) -> bool:
    """Whether each acknowledgement may change where time goes."""
    return is_elsewhere(charge) or charge.account == REDELIVERY or is_fruitless(charge)


@compiled_part
def _entries_to_go(charge: Record) -> int:
    """After so many acknowledgements the backlog may be over; or consumers hold nothing, where that is what counts."""
    if is_capped(charge.account) or charge.account == NO_PERMITS:
        return int(min(charge.backlog_seen, max(charge.delivered, 1)))
    return int(charge.backlog_seen)


@compiled_part
def may_be_over(charge: Record, cursor: Record) -> bool:
    """Whether the backlog may be over: as many entries were acknowledged as it had; or time may go elsewhere now."""
    return charge.running == 1 and (_is_about_each(charge) or cursor.acknowledged - charge.acknowledged_seen >= _entries_to_go(charge))


@compiled_part
def watch(charge: Record, cursor: Record) -> None:
    """Let the cursor be looked at as soon as its backlog `may_be_over`: an acknowledgement before that does not touch the charge."""
    if charge.running == 0:
        cursor.look_at = INT64_MAX
    else:
        cursor.look_at = 0 if _is_about_each(charge) else add(charge.acknowledged_seen, _entries_to_go(charge))


@compiled_part
def chain_if_idle(case: Case, waiting: int) -> None:
    """Where nothing waits the next publish is to look."""
    charge, chain = case.charge, case.chain
    if case.cursor.open == 1 and waiting <= charge.delayed and charge.next_in_chain == APART:
        charge.next_in_chain, chain.first_in_chain = chain.first_in_chain, case.s


@compiled_part
def may_be_due(charge: Record, settings: Record, pace: Record, ns: int) -> bool:
    """Whether time since the stretch began may go elsewhere than to its account: never before so long after the latest sign of life."""
    return charge.running == 1 and (charge.losses != settings.losses or ns > charge.moved_ns + pace.due_ns or is_fruitless(charge))


@compiled_part
def may_be_unwritable(subscription: Record, connectivity: Record) -> bool:
    """Whether all connections of the subscription may be unwritable."""
    return connectivity.unwritable > 0 and subscription.first_attachment != NONE


@compiled_part
def look_at_channels(subscription: Record, connectivity: Record, attachments: Records, connections: Records) -> None:
    """Note on the subscription whether all of its connections are unwritable."""
    if may_be_unwritable(subscription, connectivity):
        is_unwritable(subscription, connectivity, attachments, connections)
