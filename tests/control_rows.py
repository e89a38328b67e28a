"""Control rows as lanes get them: a request to hold, a state in parts, a release."""

import random

import numpy as np

from pipeline.lanes.orders import parts_of
from schemas.events import SEED_CODE
from schemas.lane_columns import COLUMN, LANE_COLUMNS

REQUEST = 77


def order(code: int, request: int = REQUEST, **columns: int) -> np.ndarray:
    """A control row."""
    row = np.zeros((1, len(LANE_COLUMNS)), dtype=np.int64)
    row[0, COLUMN["type_code"]], row[0, COLUMN["seq"]] = code, request
    for name, value in columns.items():
        row[0, COLUMN[name]] = value
    return row


def seed(state: bytes, epoch: int, next_seq: int, request: int = REQUEST) -> np.ndarray:
    """The control rows of a state, in no order."""
    rows = []
    for number, part in enumerate(parts_of(state)):
        words = np.frombuffer(part, dtype=">i8").astype(np.int64).tolist()
        slots = {f"s{k}": word for k, word in enumerate(words)}
        rows.append(order(SEED_CODE, request, epoch=epoch, ts=next_seq, ns=number, **slots))
    random.Random(3).shuffle(rows)
    return np.concatenate(rows)
