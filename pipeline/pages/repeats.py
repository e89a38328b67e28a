"""What happens again and again is one line: repeats of the same, each soon after the one before. Pure."""

from collections.abc import Callable, Hashable, Iterable
from datetime import datetime, timedelta
from typing import TypeVar

T = TypeVar("T")
#: A repeat comes within so much time of the one before.
SOON = timedelta(minutes=2)
#: Fewer are told one by one.
FEWEST = 4


def folded(happened: Iterable[T], key: Callable[[T], Hashable], at: Callable[[T], datetime]) -> list[list[T]]:
    """Lists of repeats, in order of their first one; of one alone the others. `happened` is in order of time.

    Repeats have the same key; null has none. Others may have happened in between.
    """
    runs: list[list[T]] = []
    last: dict[Hashable, list[T]] = {}
    for one in happened:
        name = key(one)
        run = last.get(name) if name is not None else None
        if run is not None and at(one) - at(run[-1]) <= SOON:
            run.append(one)
            continue
        last[name] = [one]
        runs.append(last[name])
    parted = [part for run in runs for part in ([run] if len(run) >= FEWEST else [[one] for one in run])]
    return sorted(parted, key=lambda run: at(run[0]))
