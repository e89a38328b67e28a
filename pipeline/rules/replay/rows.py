"""A replay without rows: whoever makes one puts his own in their place, so that all are of the types that the rules were compiled for."""

import numpy as np

from pipeline.rules.broker.layout import DIMENSION_COUNT, LEVEL_COUNT, LIMITER_ROW
from pipeline.rules.records import empty_rows
from pipeline.rules.replay.layout import CLOCK, CONSUMER, ENTRY, GIVEN, LEDGER, PACE, PLAN, SUB, TOPIC, Replay


def empty_replay() -> Replay:
    """Nothing but a clock."""
    kinds = {
        "topics": TOPIC, "ledgers": LEDGER, "entries": ENTRY, "subs": SUB, "consumers": CONSUMER, "paces": PACE, "limiters": LIMITER_ROW,
        "agenda": PLAN, "given": GIVEN,
    }  # fmt: skip
    return Replay(
        clock=empty_rows(CLOCK, 1),
        **{name: empty_rows(kind, 0) for name, kind in kinds.items()},
        acked=np.zeros(0, dtype=np.int8),
        replays=np.zeros(0, dtype=np.int64),
        in_hand=np.zeros(0, dtype=np.int64),
        samples=np.zeros((0, 0, 2), dtype=np.int64),
        answers=np.zeros((LEVEL_COUNT, DIMENSION_COUNT), dtype=np.int64),
        present=np.zeros(LEVEL_COUNT, dtype=np.int64),
        lowered=np.zeros((LEVEL_COUNT, DIMENSION_COUNT), dtype=np.int64),
    )
