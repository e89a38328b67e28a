"""What a loss of events makes doubtful, and what proves it. Only in logs that have `state` (from version 1.2 on).

A proof is an event of the subscription's own that shows a living dispatcher, or a `state`. For a moment after a proof a subscription is
what it was then. Later, until the next proof, its time is DOUBTED. The next proof decides: where the cause is the same as before, all of it
goes there, else nobody knows.
"""

from pipeline.rules.broker.cursors import is_whole
from pipeline.rules.cause.layout import AREA, DOUBTED, EVENTS_LOST, PROOF_LASTS_NS, TIME
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import add
from pipeline.rules.records import Record


@compiled_part
def is_certain(charge: Record, cursor: Record, settings: Record) -> int:
    """1 if the log has the cursor's whole life, or all of it since the broker said what it holds."""
    return 1 if is_whole(cursor, settings) == 1 or charge.stated == settings.losses else 0


@compiled_part
def is_window_whole(charge: Record, cursor: Record, settings: Record, is_calm: bool) -> bool:
    """Whether all of the open window is known of the cursor. `is_calm`: nothing was lost in it."""
    return is_whole(cursor, settings) == 1 or (is_calm and charge.was_certain == 1)


@compiled_part
def prove(charge: Record, settings: Record, ns: int) -> None:
    """What is known of the subscription is known at this instant: noted where something was lost before."""
    charge.losses = settings.losses
    if settings.losses > 0:
        charge.proven_ns = ns


@compiled_part
def proven_until_ns(charge: Record, pace: Record) -> int:
    """Until when events that were lost make nothing doubtful. Before the first loss the latest sign of life is the proof."""
    proven_ns = charge.proven_ns if charge.proven_ns > 0 else charge.moved_ns
    return int(proven_ns + PROOF_LASTS_NS) if pace.tells_states == 1 else 0


@compiled_part
def has_lost(charge: Record, settings: Record, pace: Record, ns: int) -> bool:
    """Whether events were lost since the latest proof, which may have changed everything."""
    return charge.losses != settings.losses and ns > proven_until_ns(charge, pace)


@compiled_part
def decide_doubt(charge: Record, settings: Record, account: int) -> None:
    """Time in doubt goes to the account that it would have gone to, if it is `account`; else nobody knows."""
    if settings.losses == 0 or charge.charged[DOUBTED, TIME] == 0:
        return
    to = account if account == charge.charged_to else EVENTS_LOST
    if charge.charged[to, TIME] == 0:
        charge.first_at[to] = charge.first_at[DOUBTED]
    charge.charged[to, TIME] += charge.charged[DOUBTED, TIME]
    charge.charged[to, AREA] = add(charge.charged[to, AREA], charge.charged[DOUBTED, AREA])
    charge.charged[DOUBTED, TIME], charge.charged[DOUBTED, AREA] = 0, 0
