"""Is an answer right? Pure: a document of `explain` and the truth of its subscription in, a judgement out.

**The cause** is right if it is the main one: the one with the most entries × time of the stretch that the answer speaks of. At a border
either of the two neighbours is right: borders of causes may lie elsewhere by a tenth of the stretch, at most by five seconds.
So a backlog of at most five seconds of which no truth is stated is open.
**The all-clear** (`current`, `keeping up`) is wrong if the subscription was behind at the instant of the answer, and "behind" is a false
alarm if it was well; what lies between may be called either (`Truth.is_behind`). `unknown` is neither.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from bench.trust.truth import US_PER_S, Truth, matches
from sim.confusion import label

BORDER_US = 5 * US_PER_S
RIGHT, WRONG, UNKNOWN, OPEN = "right", "wrong", "unknown", "open"
NO_BACKLOG = "(no backlog)"
#: A cause that stands for any: only whether it is behind is known.
ANY = "*"
#: Statuses that let an operator go back to sleep.
ALL_CLEAR = ("current", "keeping up")
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_US = timedelta(microseconds=1)


class Judgement(NamedTuple):
    """`cause`: as it was said. `word`: right, wrong, unknown (it says so), open (no truth is known). `true`: the causes with most weight.

    `false_clear`: an all-clear while it was behind; `false_alarm`: behind while it was well.
    """

    cause: str
    word: str
    true: str
    false_clear: bool
    false_alarm: bool


def judge(document: Mapping[str, Any], truth: Truth) -> Judgement:
    """The judgement of one answer."""
    from_us, to_us = _us(document["from"]), _us(document["to"])
    said = NO_BACKLOG if document["cause"] is None else label(document)
    behind = truth.is_behind(to_us)
    word, true = _cause(said, truth, from_us, to_us)
    if true == NO_BACKLOG and word == WRONG and document["backlog_s"] * US_PER_S <= BORDER_US:
        word = OPEN
    is_clear, is_alarm = document["status"] in ALL_CLEAR, document["behind"] and document["status"] != "unknown"
    return Judgement(said, word, true, is_clear and behind is True, is_alarm and behind is False)


def _cause(said: str, truth: Truth, from_us: int, to_us: int) -> tuple[str, str]:
    weights: dict[frozenset[str], int] = defaultdict(int)
    for one in truth.within(from_us, to_us):
        weights[one.causes] += truth.weight(one.from_us, one.to_us)
    heaviest = max(weights, key=lambda causes: (weights[causes], sorted(causes)), default=frozenset((NO_BACKLOG,)))
    true = " or ".join(sorted(heaviest))
    open_weight = sum(weight for causes, weight in weights.items() if ANY in causes)
    if not truth.is_known(from_us, to_us) or 2 * open_weight > sum(weights.values()):
        return OPEN, true
    if said == "unknown":
        return UNKNOWN, true
    if said == NO_BACKLOG:
        return (RIGHT if truth.seconds_with_backlog(from_us, to_us) * US_PER_S <= BORDER_US else WRONG), true
    own = sum(weight for causes, weight in weights.items() if any(matches(said, cause) for cause in causes))
    others = [weight for causes, weight in weights.items() if not any(matches(said, cause) for cause in causes)]
    # What a border gives to one cause it takes from the other.
    border = 2 * sum(weights.values()) * min(BORDER_US, (to_us - from_us) // 10) // (to_us - from_us)
    return (RIGHT if own and own + border >= max(others, default=0) else WRONG), true


def _us(at: datetime) -> int:
    return (at - _EPOCH) // _US
