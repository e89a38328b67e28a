"""One row for each change of a channel, with its cause."""

from typing import NamedTuple

from pipeline.rules.broker.layout import NONE
from pipeline.rules.channel.bundles import Reach
from pipeline.rules.compiled import compiled_part
from schemas.outcomes import NULL

#: Positions in CHANNEL_CHANGES and TRANSITION_CAUSES (schemas/tables/channels.py).
BECAME_UNWRITABLE, BECAME_WRITABLE, THROTTLED, UNTHROTTLED, COOLDOWN_OPENED, COOLDOWN_RESTARTED, COOLDOWN_CLOSED = range(7)
WRITABILITY, REQUEST_REFUSED, COOLDOWN_TIMER, LOGGED, COOLDOWN_OVER = range(5)


class Cause(NamedTuple):
    """What changes a channel, and when. `seq` is that of the event at which it was found; `pending_bytes` counts for `writability`."""

    what: int
    seq: int
    ts_us: int
    ns: int
    pending_bytes: int


@compiled_part
def note_transition(reach: Reach, change: int, throttle_type: int, changed_connection: bool, cause: Cause) -> None:
    """Add the row, once the change is made. `throttle_type` is NONE if it is none that changed."""
    row, throttle_count = reach.out_transitions[reach.counts.out_transitions], reach.channel_row.throttled
    reach.counts.out_transitions += 1
    row.seq, row.conn, row.ts, row.ns = cause.seq, reach.connection.id, cause.ts_us, cause.ns
    row.change, row.throttle_type, row.cause = change, NULL if throttle_type == NONE else throttle_type, cause.what
    row.auto_read, row.throttle_count = 1 if throttle_count == 0 else 0, throttle_count
    row.changed_connection = 1 if changed_connection else 0
    is_level = change in (BECAME_UNWRITABLE, BECAME_WRITABLE)
    row.pending_bytes = cause.pending_bytes if is_level else NULL
