"""Topics whose producers are made to wait, because a connection with producers of them is paused.

Invariant: time in which several such connections are paused counts once. As in the broker, a pause costs a step for each topic with
producers on the connection (`ServerCnxThrottleTracker`: every producer's topic counts a limited publish).
"""

from pipeline.rules.broker.layout import NONE, PRODUCING
from pipeline.rules.channel.bundles import Reach
from pipeline.rules.channel.stretches import place_of_border
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records


@compiled_part
def join_topics(reach: Reach, ts_us: int, ns: int) -> None:
    """The connection is paused: all its topics are, and count it once for each of its producers."""
    a = reach.connection.first_attachment[PRODUCING]
    while a != NONE:
        attachment = reach.attachments[a]
        pause = reach.topic_pauses[attachment.target]
        join(pause, ts_us, ns)
        pause.publish_limited_times += attachment.endpoints
        a = attachment.next_of_connection


@compiled_part
def leave_topics(connection: Record, attachments: Records, topic_pauses: Records, ns: int) -> None:
    """The connection goes on, or is gone."""
    a = connection.first_attachment[PRODUCING]
    while a != NONE:
        leave(topic_pauses[attachments[a].target], ns)
        a = attachments[a].next_of_connection


@compiled_part
def join(pause: Record, ts_us: int, ns: int) -> None:
    """One more paused connection with producers of the topic."""
    if pause.paused_connections == 0:
        pause.began_ts, pause.began_ns = ts_us, ns
    pause.paused_connections += 1
    pause.connections_paused_max = max(pause.connections_paused_max, pause.paused_connections)


@compiled_part
def leave(pause: Record, ns: int) -> None:
    """One less."""
    if pause.paused_connections == 1:
        charge_pause(pause, ns)
    pause.paused_connections = max(0, pause.paused_connections - 1)


@compiled_part
def end_pause(pause: Record, ns: int) -> None:
    """The topic has no producers any more."""
    charge_pause(pause, ns)
    pause.paused_connections = 0


@compiled_part
def charge_pause(pause: Record, ns: int) -> None:
    """Count what has lasted so far; it goes on from there."""
    if pause.paused_connections > 0:
        lasted = max(0, ns - pause.began_ns)
        pause.producers_paused_ns += lasted
        pause.began_ns += lasted


@compiled_part
def pass_pause_border(pause: Record, border_us: int, border_ns: int) -> None:
    """Charge up to the border."""
    if pause.paused_connections > 0:
        charge_pause(pause, place_of_border(pause.began_ts, pause.began_ns, border_us, border_ns))
        pause.began_ts = max(border_us, pause.began_ts)
