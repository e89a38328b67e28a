"""A publish ends the idleness of subscriptions for which nothing waited: each of them is judged anew, and no other."""

from typing import NamedTuple

from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.charging import settle_if_due
from pipeline.rules.cause.layout import APART, DELAYED, IN_FLIGHT, REDELIVERY
from pipeline.rules.cause.stalls import note_progress
from pipeline.rules.cause.verdict import judge, look_at_channels, may_be_unwritable
from pipeline.rules.compiled import inlined_part
from pipeline.rules.records import Record, Records

#: Two threads may write a publish and its delivery in the other order, this far apart at most.
LATE_NS = 10_000_000


class Around(NamedTuple):
    """What lies around the subscriptions of one topic."""

    topic: Record
    subscriptions: Records
    cursors: Records
    readings: Records
    dispatchers: Records
    settings: Record
    pace: Record
    connectivity: Record
    attachments: Records
    connections: Records


@inlined_part
def wake(charges: Records, chain: Record, around: Around, ts_us: int, ns: int) -> None:
    """The topic has entries more. What has nothing to read all the same goes back into the chain."""
    topic, settings, connectivity = around.topic, around.settings, around.connectivity
    s = chain.first_in_chain
    chain.first_in_chain = NONE
    while s >= 0:  # NONE is −1
        charge, cursor = charges[s], around.cursors[s]
        following = charge.next_in_chain
        charge.next_in_chain = APART
        if cursor.open == 1:
            settle_if_due(charge, chain, topic, cursor, around.dispatchers[s], settings, around.pace, ns)
            if charge.running == 0 and ns > charge.moved_ns + LATE_NS:
                charge.delivered = 0
            if charge.running == 0 or charge.account in (IN_FLIGHT, DELAYED, REDELIVERY):
                note_progress(charge, max(charge.moved_ns, ns))
            subscription, reading = around.subscriptions[s], around.readings[s]
            if may_be_unwritable(subscription, connectivity):
                look_at_channels(subscription, connectivity, around.attachments, around.connections)
            dispatcher = around.dispatchers[s]
            judge(charge, chain, s, topic, subscription, cursor, reading, dispatcher, settings, around.pace, connectivity, False, ts_us, ns)
        s = following
