"""PIP-434's own story as a log: many consumers restart, each asks at once for the names of ten thousand topics, several times.

With the feature off the broker answers everything it is asked: what the clients cannot take yet lies in write buffers. With it on
a connection is not read from while its answer waits: one answer a connection, the rest waits in the clients.
"""

from dataclasses import dataclass

from bookkeeper.channel_script import SHIPPED, ChannelLog
from bookkeeper.channel_settings import PAUSE
from bookkeeper.channel_tracker import BUFFER

NAMES, NAME_BYTES = 10_000, 64
#: One answer: a header and a body, 96 bytes of Netty's for each (semantics 3.3).
ANSWER_BYTES = NAMES * NAME_BYTES + 2 * 96
HIGH_MARK, LOW_MARK = 65_536, 32_768
STEP_MS = 10


@dataclass
class Client:
    """One connection: questions not yet answered, bytes that wait to be sent."""

    conn: int
    questions: int
    pending: int = 0
    writable: bool = True
    recovered: bool = False


def restart_of_many(consumers: int = 50, questions: int = 10, *, feature: bool, network_bytes_s: int = 100_000_000) -> ChannelLog:
    """From the restart until every question is answered and sent; a heartbeat a second, with the sum over all channels."""
    log = ChannelLog().begin(SHIPPED | {PAUSE: str(feature).lower()}, *range(1, consumers + 1))
    clients = [Client(conn, questions) for conn in range(1, consumers + 1)]
    share = network_bytes_s * STEP_MS // 1000 // consumers
    now_ms = STEP_MS
    while any(client.questions or client.pending for client in clients):
        for client in clients:
            log.ms(now_ms)
            answer(log, client, feature)
            send(log.ms(now_ms + 1), client, share, feature)
        now_ms += STEP_MS
        if now_ms % 1_000 == 0:
            log.ms(now_ms).heartbeat(sum(client.pending for client in clients))
    log.ms(now_ms + 6_000).heartbeat(0)
    return log


def answer(log: ChannelLog, client: Client, feature: bool) -> None:
    """Questions are read from the connection unless it is paused; a request is logged while its cooldown is open."""
    while client.questions and (client.writable or not feature):
        if client.recovered and feature:
            log.request(command="GET_TOPICS_OF_NAMESPACE", conn=client.conn)
        client.questions -= 1
        client.pending += ANSWER_BYTES
        if client.writable and client.pending > HIGH_MARK:
            client.writable = False
            log.full(client.pending, conn=client.conn)
            if feature:
                log.throttle(BUFFER, True, conn=client.conn)


def send(log: ChannelLog, client: Client, share: int, feature: bool) -> None:
    """What the network takes of it in one step."""
    client.pending = max(0, client.pending - share)
    if not client.writable and client.pending < LOW_MARK:
        client.writable = client.recovered = True
        log.free(client.pending, conn=client.conn)
        if feature:
            log.throttle(BUFFER, False, conn=client.conn)
