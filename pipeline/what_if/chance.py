"""Who of several that share a limit gets its next token: lives in which chance decides it otherwise.

A bucket refills when somebody asks it after its period, and a classic limiter at its own timer. The retry that comes first after that
takes most tokens, the others take the rest. A retry comes a second after the read that was blocked. So the order stays, until somebody is
not blocked for a while: the phase of the first blocked read decides over many seconds. After a change it is chance: a read that comes some
milliseconds later meets another bucket.
"""

from collections.abc import Iterable

import numpy as np

from pipeline.rules.array import Array

#: The truth is one more of such lives: it lies outside of the least and the most of them at two of 25 instants.
LIVES = 24
#: Of records with more entries each life would take a second and more.
MOST_ENTRIES = 100_000
_SEED = 7


def phases_ns(subs: int, retry_ns: int) -> Iterable[Array]:
    """For each life, of each subscription, the time from the first of several blocked reads to its retry: int64 [subs], at most `retry_ns`.

    Over the lives each subscription has phases of all parts of a period, in an order of its own (a Latin hypercube: McKay, Beckman and
    Conover, Technometrics 21(2), 1979). They are the same each time.
    """
    chance = np.random.default_rng(_SEED)
    parts = np.stack([chance.permutation(LIVES) for _ in range(subs)], axis=1) + chance.uniform(size=(LIVES, subs))
    yield from np.maximum(1, parts / LIVES * retry_ns).astype(np.int64)
