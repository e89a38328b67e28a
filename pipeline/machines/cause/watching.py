"""From when on acknowledgements are looked at: most of them change nothing but a number, and need not touch the row of a charge.

Law: a cursor's `look_at` is never more than it has acknowledged while its backlog `may_be_over`. So it is noted anew whenever a stretch
begins, and whenever a subscription was judged.
"""

from pipeline.machines.compiled import compiled_part
from pipeline.machines.integers import INT64_MAX, add
from pipeline.machines.records import Record


@compiled_part
def is_elsewhere(charge: Record) -> bool:
    """Whether time goes to entries that do not wait, though reads and deliveries follow each other."""
    return charge.account != charge.charged_to


@compiled_part
def may_be_over(charge: Record, cursor: Record) -> bool:
    """Whether the backlog may be over: as many entries were acknowledged as it had; or most of it may be elsewhere now."""
    return charge.running == 1 and (is_elsewhere(charge) or cursor.acknowledged - charge.acknowledged_seen >= charge.backlog_seen)


@compiled_part
def watch(charge: Record, cursor: Record) -> None:
    """Let the cursor be looked at as soon as its backlog `may_be_over`: an acknowledgement before that does not touch the charge."""
    if charge.running == 0:
        cursor.look_at = INT64_MAX
    else:
        cursor.look_at = 0 if is_elsewhere(charge) else add(charge.acknowledged_seen, charge.backlog_seen)
