"""On how many random examples a property is tried: on all of them by ./test.sh all, otherwise on some. Each run draws others."""

import os

#: What ./test.sh all exports.
ALL = "ALL_EXAMPLES"
SHARE = 5


def examples(count: int) -> int:
    """`count`, or the share of it that a default run has time for."""
    return count if os.environ.get(ALL) else -(-count // SHARE)
