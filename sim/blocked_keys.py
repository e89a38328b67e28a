"""`keys_blocked` as the collector writes it: the first of a kind at once, then at most one a second with the sum of what has come."""

from dataclasses import dataclass

from sim.agenda import NS_PER_S
from sim.backlog import Backlog
from sim.consumer import Consumer

EVERY_NS = NS_PER_S


@dataclass
class _Sum:
    """Of one reason and one consumer, what was not written."""

    reason: str
    consumer: Consumer | None
    entries: int = 0
    commands: int = 0
    written_ns: int | None = None


class BlockedKeys:
    """Of the dispatcher of one subscription."""

    def __init__(self, backlog: Backlog) -> None:
        self._backlog, self._process = backlog, backlog.process
        self._sums: dict[tuple[str, int], _Sum] = {}

    def add(self, reason: str, consumer: Consumer | None, entries: int) -> None:
        """So many entries were put aside in one look at what was read; 0: the dispatcher did not read."""
        if not self._process.tells_states:
            return
        # Another consumer of the same number is another one: it has another connection.
        key = reason, consumer.connection if consumer is not None else -1
        one = self._sums.setdefault(key, _Sum(reason, consumer))
        one.entries, one.commands = one.entries + entries, one.commands + 1
        if one.written_ns is None or self._process.log.now_ns() - one.written_ns >= EVERY_NS:
            self._write(one)

    def heartbeat(self) -> None:
        """What waits is written; what has not come for a second is forgotten."""
        for key, one in list(self._sums.items()):
            if one.commands:
                self._write(one)
            else:
                del self._sums[key]

    def _write(self, one: _Sum) -> None:
        whose = f',"conn":{one.consumer.connection},"consumer":{one.consumer.number}' if one.consumer is not None else ""
        several = f',"commands":{one.commands}' if one.commands > 1 else ""
        one.written_ns = self._process.log.add(
            f'"keys_blocked",{self._backlog.cursor.json},"reason":"{one.reason}","entries":{one.entries},'
            f'"replay_entries":{len(self._backlog.replay)}{whose}{several}'
        )
        one.entries = one.commands = 0
