"""Who hangs on which connection: producers of topics, consumers of subscriptions.

A connection's producers of one topic are one attachment, so are its consumers of one subscription. An attachment lies in two chains: that
of its connection and that of its topic or subscription. Invariants: opening, closing and finding cost the same however many there are;
ending a connection or a topic costs a step for each that ends with it. Ending what is not there changes nothing.
"""

from typing import NamedTuple

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import CONSUMING, NO_ATTACHMENT, NO_ENDPOINT, NONE, PRODUCING
from pipeline.rules.compiled import compiled_part
from pipeline.rules.index import EMPTY, find, insert
from pipeline.rules.records import Record, Records


class Links(NamedTuple):
    """All connections, and all rows that the chains of what hangs on them pass."""

    connectivity: Record
    connections: Records
    topics: Records
    subscriptions: Records
    attachments: Records
    endpoints: Records


class LinkIndexes(NamedTuple):
    """Where attachments and endpoints are found by their ids, and how many there are."""

    attachments_index: Array
    endpoints_index: Array
    counts: Record


@compiled_part
def owner_of(kind: int, conn: int) -> int:
    """Second key of a connection's producers (PRODUCING) or consumers (CONSUMING), which have ids of their own."""
    return conn if kind == PRODUCING else -1 - conn


@compiled_part
def attach(links: Links, indexes: LinkIndexes, c: int, kind: int, target: int, target_id: int, endpoint_id: int) -> None:
    """A producer of the topic in row `target`, or a consumer of that subscription, opens. One of that id that is open there ends."""
    owner = owner_of(kind, links.connections[c].id)
    e = _endpoint_of(links.endpoints, indexes.endpoints_index, indexes.counts, endpoint_id, owner)
    detach(links, kind, e)
    a = _attachment_of(links.attachments, indexes.attachments_index, indexes.counts, target_id, owner)
    attachment, endpoint = links.attachments[a], links.endpoints[e]
    if attachment.endpoints == 0:
        _begin(links, kind, a, c, target)
    endpoint.attachment, endpoint.previous, endpoint.next = a, NONE, attachment.first_endpoint
    if endpoint.next != NONE:
        links.endpoints[endpoint.next].previous = e
    attachment.first_endpoint = e
    attachment.endpoints += 1
    links.connections[c].endpoints[kind] += 1


@compiled_part
def _endpoint_of(endpoints: Records, index: Array, counts: Record, endpoint_id: int, owner: int) -> int:
    """Row of a producer or consumer, made if it is not there."""
    e = find(index, endpoints, endpoint_id, owner)
    if e == EMPTY:
        e = counts.endpoints
        counts.endpoints += 1
        endpoints[e] = NO_ENDPOINT[0]
        endpoints[e].id, endpoints[e].owner = endpoint_id, owner
        insert(index, endpoint_id, owner, e)
    return e


@compiled_part
def _attachment_of(attachments: Records, index: Array, counts: Record, target_id: int, owner: int) -> int:
    """Row of an attachment, made if it is not there."""
    a = find(index, attachments, target_id, owner)
    if a == EMPTY:
        a = counts.attachments
        counts.attachments += 1
        attachments[a] = NO_ATTACHMENT[0]
        attachments[a].id, attachments[a].owner = target_id, owner
        insert(index, target_id, owner, a)
    return a


@compiled_part
def detach(links: Links, kind: int, e: int) -> None:
    """The producer or consumer ends."""
    endpoint = links.endpoints[e]
    a = endpoint.attachment
    if a == NONE:
        return
    attachment = links.attachments[a]
    if endpoint.previous == NONE:
        attachment.first_endpoint = endpoint.next
    else:
        links.endpoints[endpoint.previous].next = endpoint.next
    if endpoint.next != NONE:
        links.endpoints[endpoint.next].previous = endpoint.previous
    endpoint.attachment, endpoint.next, endpoint.previous = NONE, NONE, NONE
    attachment.endpoints -= 1
    links.connections[attachment.connection].endpoints[kind] -= 1
    if attachment.endpoints == 0:
        _end(links, kind, a)


@compiled_part
def attached_to(subscription: Record, attachments: Records) -> int:
    """How many consumers of the subscription are known by their connections."""
    count, a = 0, subscription.first_attachment
    while a != NONE:
        count += attachments[a].endpoints
        a = attachments[a].next_of_target
    return count


@compiled_part
def detach_all(links: Links, kind: int, a: int) -> None:
    """All producers or consumers of an attachment end, and it with them."""
    while links.attachments[a].endpoints > 0:
        detach(links, kind, links.attachments[a].first_endpoint)


@compiled_part
def detach_all_of_connection(links: Links, c: int) -> None:
    """Everything that hangs on the connection ends."""
    for kind in (PRODUCING, CONSUMING):
        while links.connections[c].first_attachment[kind] != NONE:
            detach_all(links, kind, links.connections[c].first_attachment[kind])


@compiled_part
def detach_all_of_subscription(links: Links, s: int) -> None:
    """All consumers of the subscription end."""
    while links.subscriptions[s].first_attachment != NONE:
        detach_all(links, CONSUMING, links.subscriptions[s].first_attachment)


@compiled_part
def detach_all_of_topic(links: Links, t: int) -> None:
    """All producers of the topic and all consumers of its subscriptions end."""
    while links.topics[t].first_attachment != NONE:
        detach_all(links, PRODUCING, links.topics[t].first_attachment)
    s = links.topics[t].first_subscription
    while s != NONE:
        detach_all_of_subscription(links, s)
        s = links.subscriptions[s].next_of_topic


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
def _begin(links: Links, kind: int, a: int, c: int, target: int) -> None:
    attachment, connection = links.attachments[a], links.connections[c]
    attachment.connection, attachment.target = c, target
    attachment.previous_of_connection, attachment.next_of_connection = NONE, connection.first_attachment[kind]
    attachment.previous_of_target, attachment.next_of_target = NONE, _head(links, kind, target)
    if attachment.next_of_connection != NONE:
        links.attachments[attachment.next_of_connection].previous_of_connection = a
    if attachment.next_of_target != NONE:
        links.attachments[attachment.next_of_target].previous_of_target = a
    connection.first_attachment[kind] = a
    connection.targets[kind] += 1
    _set_head(links, kind, target, a)


@compiled_part
def _end(links: Links, kind: int, a: int) -> None:
    attachment = links.attachments[a]
    connection = links.connections[attachment.connection]
    if attachment.previous_of_connection == NONE:
        connection.first_attachment[kind] = attachment.next_of_connection
    else:
        links.attachments[attachment.previous_of_connection].next_of_connection = attachment.next_of_connection
    if attachment.next_of_connection != NONE:
        links.attachments[attachment.next_of_connection].previous_of_connection = attachment.previous_of_connection
    if attachment.previous_of_target == NONE:
        _set_head(links, kind, attachment.target, attachment.next_of_target)
    else:
        links.attachments[attachment.previous_of_target].next_of_target = attachment.next_of_target
    if attachment.next_of_target != NONE:
        links.attachments[attachment.next_of_target].previous_of_target = attachment.previous_of_target
    attachment.next_of_connection, attachment.previous_of_connection = NONE, NONE
    attachment.next_of_target, attachment.previous_of_target = NONE, NONE
    attachment.connection, attachment.target = NONE, NONE
    connection.targets[kind] -= 1


@compiled_part
def _head(links: Links, kind: int, target: int) -> int:
    return links.topics[target].first_attachment if kind == PRODUCING else links.subscriptions[target].first_attachment


@compiled_part
def _set_head(links: Links, kind: int, target: int, a: int) -> None:
    """Whoever comes or goes may change whether all of a subscription's connections are unwritable."""
    if kind == PRODUCING:
        links.topics[target].first_attachment = a
    else:
        links.subscriptions[target].first_attachment = a
        links.subscriptions[target].unwritable_at = NONE
