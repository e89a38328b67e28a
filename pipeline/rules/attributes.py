"""Which events have something in common: a bit of a number per code, so that the fold asks with one look."""

import numpy as np

from pipeline.rules.array import Array
from schemas.events import CODES, TOMBSTONE_CODE

CODE_COUNT = max(*CODES.values(), TOMBSTONE_CODE) + 1


def bits_by_code(*traits: tuple[int, tuple[int, ...]]) -> Array:
    """int64 [code]: the sum of the bits of those `traits` (bit, codes) that the code is among."""
    bits = np.zeros(CODE_COUNT, dtype=np.int64)
    for bit, codes in traits:
        bits[list(codes)] |= bit
    return bits
