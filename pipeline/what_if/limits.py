"""Names of what holds a subscription in a replay, and which of it binds."""

import numpy as np

from pipeline.rules.replay.layout import CATCHING_UP, CAUSE_COUNT, NO_CONSUMER, NO_PERMITS, UNACKED_CAP
from pipeline.what_if.play import Life
from schemas.events import LIMITER_LEVELS

_OTHERS = {NO_PERMITS: "consumers", UNACKED_CAP: "unacked", NO_CONSUMER: "no_consumer", CATCHING_UP: "catching_up"}
_LIMITERS = [f"{level}.dispatch_rate.{dimension}" for level in LIMITER_LEVELS for dimension in ("messages", "bytes")]
#: By cause (pipeline/rules/replay/layout.py); limiters as `--set` names them.
NAMES_OF_CAUSES = [*_LIMITERS, *(_OTHERS[cause] for cause in range(len(_LIMITERS), CAUSE_COUNT))]
#: What holds a subscription for less of the time does not bind.
LEAST_SHARE = 0.01
#: Nothing that somebody could raise.
_NO_LIMITS = [NO_CONSUMER, CATCHING_UP]


def next_limit(life: Life, subs: tuple[int, ...], lasted_ns: int) -> str | None:
    """What holds the subscriptions longest: a limiter, else their consumers or a cap; null: nothing does."""
    held = life.held_ns[list(subs)].sum(0)
    held[_NO_LIMITS] = 0
    cause = int(np.argmax(held)) if len(subs) else 0
    return NAMES_OF_CAUSES[cause] if len(subs) and held[cause] >= LEAST_SHARE * lasted_ns else None
