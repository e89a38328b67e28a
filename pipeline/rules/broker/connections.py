"""Connections open, are met without their opening, become unwritable and writable again, and close with all that hangs on them."""

from pipeline.rules.array import Array
from pipeline.rules.broker.attachments import Links, detach_all_of_connection
from pipeline.rules.broker.layout import NO_CONNECTION
from pipeline.rules.compiled import compiled_part
from pipeline.rules.index import insert
from pipeline.rules.records import Record, Records


@compiled_part
def new_connection(connections: Records, connections_index: Array, counts: Record, conn: int) -> int:
    """Row for a connection that is met for the first time; it is not open yet."""
    c = counts.connections
    counts.connections += 1
    connections[c] = NO_CONNECTION[0]
    connections[c].id = conn
    insert(connections_index, conn, 0, c)
    return c


@compiled_part
def open_connection(connection: Record, connectivity: Record, settings: Record, seq: int, ts_us: int, complete: bool) -> None:
    """A connection begins: writable, with nothing on it."""
    connection.open, connection.life, connection.opened_at = 1, seq, ts_us
    connection.began_complete, connection.losses_at_open = 1 if complete else 0, settings.losses
    connectivity.open += 1


@compiled_part
def ensure_connected(connection: Record, connectivity: Record, settings: Record, seq: int, ts_us: int) -> None:
    """A connection met without its `conn_open` is followed from here on, incomplete."""
    if connection.open == 0:
        open_connection(connection, connectivity, settings, seq, ts_us, False)


@compiled_part
def set_writable(connection: Record, connectivity: Record, writable: int, pending_bytes: int) -> None:
    """The channel reported on which side of its water marks it is; it may be the same as before."""
    connection.pending_bytes = pending_bytes
    if writable == connection.writable:
        return
    connection.writable = writable
    connectivity.unwritable += 1 - 2 * writable
    connectivity.unwritable_ids ^= connection.id
    connectivity.changes += writable


@compiled_part
def close_connection(links: Links, c: int) -> None:
    """The connection is gone, with its producers and consumers."""
    connection, connectivity = links.connections[c], links.connectivity
    if connection.open == 0:
        return
    set_writable(connection, connectivity, 1, 0)
    detach_all_of_connection(links, c)
    conn = connection.id
    links.connections[c] = NO_CONNECTION[0]
    links.connections[c].id = conn
    connectivity.open -= 1
