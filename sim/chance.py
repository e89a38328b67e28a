"""Chance from a seed: each thing has a stream of its own, so that a change of one leaves the others as they were."""

from random import Random as Stream

__all__ = ["Stream", "stream"]


def stream(seed: int, *names: object) -> Stream:
    """The stream of the thing with these names. The same seed and names give the same numbers on every machine."""
    return Stream("/".join(map(str, (seed, *names))))
