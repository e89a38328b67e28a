"""From when on acknowledgements are looked at: most of them change nothing but a number, and need not touch the row of a charge.

Law: a cursor's `look_at` is never more than it has acknowledged while its backlog `may_be_over`. So it is noted anew whenever a stretch
begins, and whenever a subscription was judged.
"""

from pipeline.rules.cause.layout import NO_PERMITS, REDELIVERY
from pipeline.rules.cause.stalls import is_capped, is_fruitless
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import INT64_MAX, add
from pipeline.rules.records import Record


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
