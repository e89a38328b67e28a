"""What happens later, in order of time. Things of one instant happen in the order in which they were planned."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000


class Agenda:
    """A heap of actions. Times are ns since the start of the scenario."""

    def __init__(self, now_ns: int) -> None:
        self.now_ns = now_ns
        self._planned: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0

    def at(self, when_ns: int, action: Callable[..., None], *arguments: Any) -> None:
        """Plan `action(*arguments)`; what is planned for the past happens now."""
        self._count += 1
        heappush(self._planned, (max(when_ns, self.now_ns), self._count, action, arguments))

    def run_until(self, end_ns: int) -> None:
        """Do everything that is planned before `end_ns`, and what comes of it."""
        planned = self._planned
        while planned and planned[0][0] < end_ns:
            self.now_ns, _, action, arguments = heappop(planned)
            action(*arguments)
        self.now_ns = end_ns


def ns(seconds: float) -> int:
    """Seconds of a scenario in ns."""
    return round(seconds * NS_PER_S)
