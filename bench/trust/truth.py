"""What is true of one subscription over time: which causes hold it back, and whether it is behind. Pure, in µs of the wall clock."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sim.confusion import Clock, label

US_PER_S = 1_000_000
#: broker, epoch, topic, subscription.
Key = tuple[str, int, str, str]
#: Something moves, or waits because somebody wants it: an entry may be in this state for long, and nothing is wrong.
MOVING = frozenset({"in_flight", "catching_up"})
#: Who keeps up has nothing that is older than this.
FRESH_US = 2 * US_PER_S
#: Who is held back has something that is older than this, …
OLD_US = 10 * US_PER_S
#: … and was held back for the last 10 s before the answer, but for a part in which a read went out.
LAST_US, HELD_SHARE = 10 * US_PER_S, 0.8


class Stretch(NamedTuple):
    """From `from_us` to `to_us` each of `causes` is right: one, where it is certain. A cause stands for all its levels.

    `*`: the cause is not known. `behind`: whether the subscription is behind; None follows from the causes and the age of the oldest entry.
    """

    from_us: int
    to_us: int
    causes: frozenset[str]
    behind: bool | None = None


class Sample(NamedTuple):
    """At a whole second: entries that are not acknowledged, and how long ago the oldest of them was published; 0 without one."""

    backlog: int
    age_us: int


@dataclass(frozen=True)
class Truth:
    """Of one subscription. `stretches` in order, without overlaps; `is_whole`: where there is none, there is no backlog.

    `samples`: by the second since 1970, counted from the log by itself (backlogs.py).
    """

    stretches: Sequence[Stretch]
    samples: Mapping[int, Sample]
    is_whole: bool

    def within(self, from_us: int, to_us: int) -> Iterator[Stretch]:
        """The stretches, cut to that time."""
        for one in self.stretches:
            begin, end = max(one.from_us, from_us), min(one.to_us, to_us)
            if begin < end:
                yield one._replace(from_us=begin, to_us=end)

    def weight(self, from_us: int, to_us: int) -> int:
        """Entries × time of the backlog in that time, in µs: at least one entry, for this is asked of times with a backlog."""
        weight, at = 0, from_us
        while at < to_us:
            second = at // US_PER_S
            end = min(to_us, (second + 1) * US_PER_S)
            weight += (end - at) * max(1, self.sample(at).backlog)
            at = end
        return weight

    def seconds_with_backlog(self, from_us: int, to_us: int) -> int:
        """Of the samples of that time."""
        return sum(self.sample(at).backlog > 0 for at in range(from_us, to_us, US_PER_S))

    def sample(self, at_us: int) -> Sample:
        """The sample of that second."""
        return self.samples.get(at_us // US_PER_S, Sample(0, 0))

    def is_known(self, from_us: int, to_us: int) -> bool:
        """Whether (nearly) all of that time has a truth."""
        return self.is_whole or sum(one.to_us - one.from_us for one in self.within(from_us, to_us)) >= 0.9 * (to_us - from_us)

    def is_behind(self, at_us: int) -> bool | None:
        """Whether it is behind at that instant; None: one may call it so or not.

        Behind: an entry is older than 10 s, at the whole seconds before and after, and something else than movement held it back for the
        last 10 s. Well: nothing was older than
        2 s in the last 10 s, or all that waits is to be delivered later. A stretch that says it for itself decides.
        """
        last = list(self.within(at_us - LAST_US, at_us))
        said = {one.behind for one in last}
        if last and len(said) == 1 and None not in said and sum(one.to_us - one.from_us for one in last) >= HELD_SHARE * LAST_US:
            return last[0].behind
        if None not in said and said:
            return None
        if not self.is_known(at_us - LAST_US, at_us):
            return None
        held = sum(one.to_us - one.from_us for one in last if not one.causes & (MOVING | {"delayed"}))
        later = sum(one.to_us - one.from_us for one in last if one.causes == {"delayed"})
        if held >= HELD_SHARE * LAST_US and min(self.sample(at_us).age_us, self.sample(at_us + US_PER_S - 1).age_us) > OLD_US:
            return True
        is_fresh = all(self.sample(at_us - back * US_PER_S).age_us <= FRESH_US for back in range(LAST_US // US_PER_S))
        return False if is_fresh or later >= HELD_SHARE * LAST_US else None


def matches(said: str, true: str) -> bool:
    """Whether a cause that is said, with level and dimension, is the true one; `throttled broker` is true of both dimensions."""
    return said == true or said.startswith(f"{true} ")


def of_simulator(lines: Iterable[Mapping[str, Any]], clock: Clock) -> list[Stretch]:
    """Intervals of the simulator's truth, on the wall clock that the log had by then."""
    found = []
    for line in lines:
        for place, (began_ns, ahead_us) in enumerate(clock):
            ends_ns = clock[place + 1][0] if place + 1 < len(clock) else line["to_ns"]
            begin, end = max(line["from_ns"], began_ns), min(line["to_ns"], ends_ns)
            if begin < end:
                found.append(Stretch(begin // 1000 + ahead_us, end // 1000 + ahead_us, frozenset({label(line)})))
    return sorted(found)
