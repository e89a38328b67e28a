"""A publish ends the idleness of subscriptions for which nothing waited: each of them is judged anew, and no other."""

from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.case import Case, Cases
from pipeline.rules.cause.charging import settle_if_due
from pipeline.rules.cause.judging import judge
from pipeline.rules.cause.layout import APART, DELAYED, IN_FLIGHT, REDELIVERY
from pipeline.rules.cause.progress import note_progress
from pipeline.rules.cause.watching import look_at_channels, may_be_unwritable
from pipeline.rules.compiled import inlined_part

#: Two threads may write a publish and its delivery in the other order, this far apart at most.
LATE_NS = 10_000_000


@inlined_part
def wake(cases: Cases, ts_us: int, ns: int) -> None:
    """The topic has entries more. What has nothing to read all the same goes back into the chain."""
    chain, connectivity = cases.chain, cases.connectivity
    s = chain.first_in_chain
    chain.first_in_chain = NONE
    while s >= 0:  # NONE is −1
        charge, cursor, subscription = cases.charges[s], cases.cursors[s], cases.subscriptions[s]
        following = charge.next_in_chain
        charge.next_in_chain = APART
        if cursor.open == 1:
            case = Case(
                charge, chain, s, cases.topic, subscription, cursor, cases.readings[s], cases.dispatchers[s],
                cases.settings, cases.pace, connectivity,
            )  # fmt: skip
            settle_if_due(case, ns)
            if charge.running == 0 and ns > charge.moved_ns + LATE_NS:
                charge.delivered = 0
            if charge.running == 0 or charge.account in (IN_FLIGHT, DELAYED, REDELIVERY):
                note_progress(charge, max(charge.moved_ns, ns))
            if may_be_unwritable(subscription, connectivity):
                look_at_channels(subscription, connectivity, cases.attachments, cases.connections)
            judge(case, False, ts_us, ns)
        s = following
