"""Who hangs on which connection: producers of topics, consumers of subscriptions.

A connection's producers of one topic are one attachment, so are its consumers of one subscription. An attachment lies in two chains: that
of its connection and that of its topic or subscription. Laws: opening, closing and finding cost the same however many there are; ending a
connection or a topic costs a step for each that ends with it. Ending what is not there changes nothing.
"""

from typing import Any

from pipeline.machines.broker.layout import CONSUMING, NO_ATTACHMENT, NO_ENDPOINT, NONE, PRODUCING
from pipeline.machines.compiled import compiled_part
from pipeline.machines.index import EMPTY, find, insert
from pipeline.machines.records import Record, Records


@compiled_part
def owner_of(kind: int, conn: int) -> int:
    """Second key of a connection's producers (PRODUCING) or consumers (CONSUMING), which have ids of their own."""
    return conn if kind == PRODUCING else -1 - conn


@compiled_part
def attach(broker: Any, counts: Record, c: int, kind: int, target: int, target_id: int, endpoint_id: int) -> None:
    """A producer of the topic in row `target`, or a consumer of that subscription, opens. One of that id that is open there ends."""
    owner = owner_of(kind, broker.connections[c].id)
    e = find(broker.endpoints_index, broker.endpoints, endpoint_id, owner)
    if e == EMPTY:
        e = counts.endpoints
        counts.endpoints += 1
        broker.endpoints[e] = NO_ENDPOINT[0]
        broker.endpoints[e].id, broker.endpoints[e].owner = endpoint_id, owner
        insert(broker.endpoints_index, endpoint_id, owner, e)
    else:
        detach(broker, kind, e)
    a = find(broker.attachments_index, broker.attachments, target_id, owner)
    if a == EMPTY:
        a = counts.attachments
        counts.attachments += 1
        broker.attachments[a] = NO_ATTACHMENT[0]
        broker.attachments[a].id, broker.attachments[a].owner = target_id, owner
        insert(broker.attachments_index, target_id, owner, a)
    if broker.attachments[a].endpoints == 0:
        _begin(broker, kind, a, c, target)
    attachment, endpoint = broker.attachments[a], broker.endpoints[e]
    endpoint.attachment, endpoint.previous, endpoint.next = a, NONE, attachment.first_endpoint
    if endpoint.next != NONE:
        broker.endpoints[endpoint.next].previous = e
    attachment.first_endpoint = e
    attachment.endpoints += 1
    broker.connections[c].endpoints[kind] += 1


@compiled_part
def detach(broker: Any, kind: int, e: int) -> None:
    """The producer or consumer ends."""
    endpoint = broker.endpoints[e]
    a = endpoint.attachment
    if a == NONE:
        return
    attachment = broker.attachments[a]
    if endpoint.previous == NONE:
        attachment.first_endpoint = endpoint.next
    else:
        broker.endpoints[endpoint.previous].next = endpoint.next
    if endpoint.next != NONE:
        broker.endpoints[endpoint.next].previous = endpoint.previous
    endpoint.attachment, endpoint.next, endpoint.previous = NONE, NONE, NONE
    attachment.endpoints -= 1
    broker.connections[attachment.connection].endpoints[kind] -= 1
    if attachment.endpoints == 0:
        _end(broker, kind, a)


@compiled_part
def detach_all(broker: Any, kind: int, a: int) -> None:
    """All producers or consumers of an attachment end, and it with them."""
    while broker.attachments[a].endpoints > 0:
        detach(broker, kind, broker.attachments[a].first_endpoint)


@compiled_part
def detach_all_of_connection(broker: Any, c: int) -> None:
    """Everything that hangs on the connection ends."""
    for kind in (PRODUCING, CONSUMING):
        while broker.connections[c].first_attachment[kind] != NONE:
            detach_all(broker, kind, broker.connections[c].first_attachment[kind])


@compiled_part
def detach_all_of_topic(broker: Any, t: int) -> None:
    """All producers of the topic and all consumers of its subscriptions end."""
    while broker.topics[t].first_attachment != NONE:
        detach_all(broker, PRODUCING, broker.topics[t].first_attachment)
    s = broker.topics[t].first_subscription
    while s != NONE:
        while broker.subscriptions[s].first_attachment != NONE:
            detach_all(broker, CONSUMING, broker.subscriptions[s].first_attachment)
        s = broker.subscriptions[s].next_of_topic


@compiled_part
def is_unwritable(subscription: Record, connectivity: Record, attachments: Records, connections: Records) -> bool:
    """Whether all connections with consumers of the subscription are unwritable, of which there is at least one.

    Looks until it finds a writable one, and once more only after a connection became writable or a consumer came or went.
    """
    if subscription.unwritable_at == connectivity.changes:
        return True
    a = subscription.first_attachment
    while a != NONE:
        if connections[attachments[a].connection].writable == 1:
            return False
        a = attachments[a].next_of_target
    subscription.unwritable_at = connectivity.changes
    return True


@compiled_part
def _begin(broker: Any, kind: int, a: int, c: int, target: int) -> None:
    attachment, connection = broker.attachments[a], broker.connections[c]
    attachment.connection, attachment.target = c, target
    attachment.previous_of_connection, attachment.next_of_connection = NONE, connection.first_attachment[kind]
    attachment.previous_of_target, attachment.next_of_target = NONE, _head(broker, kind, target)
    if attachment.next_of_connection != NONE:
        broker.attachments[attachment.next_of_connection].previous_of_connection = a
    if attachment.next_of_target != NONE:
        broker.attachments[attachment.next_of_target].previous_of_target = a
    connection.first_attachment[kind] = a
    connection.targets[kind] += 1
    _set_head(broker, kind, target, a)


@compiled_part
def _end(broker: Any, kind: int, a: int) -> None:
    attachment = broker.attachments[a]
    connection = broker.connections[attachment.connection]
    if attachment.previous_of_connection == NONE:
        connection.first_attachment[kind] = attachment.next_of_connection
    else:
        broker.attachments[attachment.previous_of_connection].next_of_connection = attachment.next_of_connection
    if attachment.next_of_connection != NONE:
        broker.attachments[attachment.next_of_connection].previous_of_connection = attachment.previous_of_connection
    if attachment.previous_of_target == NONE:
        _set_head(broker, kind, attachment.target, attachment.next_of_target)
    else:
        broker.attachments[attachment.previous_of_target].next_of_target = attachment.next_of_target
    if attachment.next_of_target != NONE:
        broker.attachments[attachment.next_of_target].previous_of_target = attachment.previous_of_target
    attachment.next_of_connection, attachment.previous_of_connection = NONE, NONE
    attachment.next_of_target, attachment.previous_of_target = NONE, NONE
    attachment.connection, attachment.target = NONE, NONE
    connection.targets[kind] -= 1


@compiled_part
def _head(broker: Any, kind: int, target: int) -> int:
    return broker.topics[target].first_attachment if kind == PRODUCING else broker.subscriptions[target].first_attachment


@compiled_part
def _set_head(broker: Any, kind: int, target: int, a: int) -> None:
    """Whoever comes or goes may change whether all of a subscription's connections are unwritable."""
    if kind == PRODUCING:
        broker.topics[target].first_attachment = a
    else:
        broker.subscriptions[target].first_attachment = a
        broker.subscriptions[target].unwritable_at = NONE
