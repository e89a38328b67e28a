"""On how many random examples a property is tried: on all of them by ./test.sh all, by ./test.sh fast on few. Each run draws others."""

import os

#: What ./test.sh all and ./test.sh fast export: of so many examples one is tried.
ONE_IN = "EXAMPLES_ONE_IN"
USUAL = 8


def examples(count: int) -> int:
    """`count`, or the share of it that a default run has time for."""
    return -(-count // int(os.environ.get(ONE_IN, USUAL)))
