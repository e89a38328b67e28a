"""What happens to events between the broker and the log files: lost, late, written twice, damaged. By shares of all events."""

from heapq import heappop, heappush

from sim.agenda import ns
from sim.chance import Stream
from sim.files import LineFiles
from sim.scenario import Faults


class Carrier:
    """Carries the lines of one epoch to their files."""

    def __init__(self, files: LineFiles, faults: Faults, chance: Stream) -> None:
        self.lost = self.damaged = self.repeated = self.late = 0
        self._files, self._faults, self._chance = files, faults, chance
        self._held: list[tuple[int, int, str]] = []
        self._count = 0
        whole = not (faults.lost or faults.damaged or faults.repeated or faults.late)
        self.carry = self._carry_whole if whole else self._carry_with_faults

    def _carry_whole(self, now_ns: int, line: str) -> None:
        self._files.write(line)

    def _carry_with_faults(self, now_ns: int, line: str) -> None:
        faults, chance, files = self._faults, self._chance, self._files
        while self._held and self._held[0][0] <= now_ns:
            files.write(heappop(self._held)[2])
        if chance.random() < faults.lost:
            self.lost += 1
            return
        if chance.random() < faults.damaged:
            self.damaged += 1
            line = line[: chance.randrange(len(line) // 4, len(line) - 1)]
        if chance.random() < faults.late:
            self.late += 1
            self._hold(now_ns, line)
        else:
            files.write(line)
        if chance.random() < faults.repeated:
            self.repeated += 1
            self._hold(now_ns, line)

    def _hold(self, now_ns: int, line: str) -> None:
        self._count += 1
        heappush(self._held, (now_ns + ns(self._faults.late_s * self._chance.random()), self._count, line))

    def end(self) -> None:
        """What is still on its way arrives."""
        while self._held:
            self._files.write(heappop(self._held)[2])
