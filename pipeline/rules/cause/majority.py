"""Which cause holds a subscription now: Boyer and Moore's majority vote over its time, a nanosecond a vote.

A cause that gets most of the latest time for a while takes the place of the one before. Short interruptions change nothing: a dispatcher
that a limiter blocks for most of each second is held back, though it reads in between. Time without a backlog votes for NONE.
"""

from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.layout import APART, DOUBTED
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record

#: A cause holds once it got so much more time than all others together. Shorter is a flicker.
HOLDS_NS = 1_000_000_000


@compiled_part
def vote(charge: Record, account: int, from_ns: int, until_ns: int, until_us: int) -> None:
    """The time from `from_ns` to `until_ns` went to `account`. `until_us`: its end on the wall clock. Time in doubt has no vote."""
    lasted_ns = until_ns - max(from_ns, charge.voted_ns)
    if lasted_ns <= 0 or account == DOUBTED:
        return
    if account == charge.rival and charge.rival_ns > 0:
        charge.rival_ns += lasted_ns
    elif charge.rival_ns >= lasted_ns or account == charge.holding:
        charge.rival_ns = max(0, charge.rival_ns - lasted_ns)
    else:
        charge.rival, charge.rival_ns = account, lasted_ns - charge.rival_ns
        charge.rival_since = until_us - lasted_ns // 1000


@compiled_part
def is_over(charge: Record) -> bool:
    """Whether another cause holds now."""
    return charge.rival_ns >= HOLDS_NS


@compiled_part
def let_rival_hold(charge: Record) -> None:
    """The rival takes the place of the cause that held."""
    charge.holding, charge.rival_ns = charge.rival, 0


@compiled_part
def forget_rival(charge: Record) -> None:
    """There is none. Equal states have equal rows: nothing is left of it."""
    charge.rival, charge.rival_ns, charge.rival_since = NONE, 0, 0
    if charge.holding == NONE:
        charge.voted_ns = 0


@compiled_part
def let_look(charge: Record, pace: Record, s: int) -> None:
    """Another cause may hold soon: the subscription is looked at until that is decided."""
    if charge.next_to_look == APART:
        charge.next_to_look, pace.first_to_look = pace.first_to_look, s
