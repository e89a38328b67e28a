"""The backlog of a subscription by where its entries are: with consumers, delayed, put back, or not read. So it knows why it is there."""

from collections import deque

from sim.consumer import Consumer
from sim.managed_cursor import ManagedCursor
from sim.truth import (
    CATCHING_UP,
    DELAYED,
    IN_FLIGHT,
    KEYS_BLOCKED,
    NO_CONSUMER,
    NO_FLOW,
    NO_PERMITS,
    REDELIVERY,
    TRANSACTION,
    Account,
    Cause,
)


class Backlog:
    """What subscription and dispatcher write down of it; `settle` follows whatever changes it."""

    def __init__(self, cursor: ManagedCursor) -> None:
        self.cursor, self.process = cursor, cursor.process
        self.consumers: list[Consumer] = []
        #: What holds the dispatcher while entries wait.
        self.held: Cause = CATCHING_UP
        #: Entries that are delivered and not acknowledged; those that are held for later delivery.
        self.in_flight = 0
        self.delayed: set[int] = set()
        #: Entries to deliver again.
        self.replay: deque[int] = deque()
        #: Of them, those that nobody can take now, as far as the dispatcher looked.
        self.kept_aside = 0
        self.was_given_back = False
        self._account = Account(self.process.truth, self.process.name, self.process.epoch_ms, cursor.ledger.name, cursor.declared.name)

    def settle(self) -> None:
        """Report to the account why the backlog is there now."""
        entries = 0 if self.cursor.closed else self.cursor.backlog()
        self._account.settle(self.process.log.now_ns(), self._cause(entries) if entries else None)

    def _cause(self, entries: int) -> Cause:
        waiting = entries - self.in_flight
        if not self.consumers:
            return NO_CONSUMER
        if self.was_given_back and any(one.is_giving_back for one in self.consumers):
            return REDELIVERY
        if waiting <= 0:
            return IN_FLIGHT
        if len(self.delayed) >= waiting:
            return DELAYED
        if self.held is NO_PERMITS and self.in_flight <= 0:
            return NO_FLOW
        if self.held is CATCHING_UP:
            return TRANSACTION if self._is_held_back() else self._largest_part(waiting - len(self.delayed))
        return self.held

    def _is_held_back(self) -> bool:
        """All that may be read is read, and there is more, behind the first message of an open transaction."""
        stored = self.cursor.ledger.stored
        return bool(stored.open) and stored.readable_end <= self.cursor.read_index < stored.end and not self.replay

    def _largest_part(self, to_read: int) -> Cause:
        """Nothing holds the dispatcher: the backlog is there for the reason that most of it has."""
        aside = min(self.kept_aside, to_read)
        to_read -= aside
        if aside > max(to_read, self.in_flight, len(self.delayed)):
            return KEYS_BLOCKED
        if self.in_flight > to_read and self.in_flight >= len(self.delayed):
            return IN_FLIGHT
        return DELAYED if len(self.delayed) > to_read else CATCHING_UP
