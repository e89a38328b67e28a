"""Entries on their way to a file or a table that may be slow, hang or fail: whoever hands them over never waits and never fails.

A thread of its own writes what has gathered. The room is bounded: what does not fit pushes out the oldest, and is counted.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Entry = Mapping[str, Any]
#: Some hours of micro-batches of two queries at five seconds each, and some MB.
CAPACITY = 5_000
#: A disk that is full, or a store that does not answer, often comes back; entries that cannot be written must not bar the way of others.
ATTEMPTS = 3


class Outbox:
    """Writes entries with `write(entries, number)` from a daemon thread, once they have gathered for `interval_s` seconds.

    `number` counts the bundles of entries from 0; a bundle that failed comes again with the same number, ATTEMPTS times in all.
    What `write` raises is kept in `fault` (the first only) and never reaches anybody else.
    """

    def __init__(self, name: str, write: Callable[[Sequence[Entry], int], None], interval_s: float, capacity: int = CAPACITY) -> None:
        self.name = name
        self.fault: Exception | None = None
        self.failures = 0
        self._write = write
        self._interval_s = interval_s
        self._capacity = capacity
        self._changed = threading.Condition()
        self._waiting: deque[Entry] = deque()
        self._bundle: list[Entry] = []
        self._number = 0
        self._failed_attempts = 0
        self._given_up = 0
        self._closing = False
        self._thread = threading.Thread(target=self._work, name=f"outbox-{name}", daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> None:
        """Take an entry. Never waits for what is being written."""
        with self._changed:
            if len(self._waiting) >= self._capacity:
                self._waiting.popleft()
                self._given_up += 1
            self._waiting.append(entry)
            self._changed.notify()

    def close(self) -> None:
        """Have the rest written at once; the thread ends then. Does not wait: `join` does."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def join(self, seconds: float) -> bool:
        """Wait for the end of the thread, so long at most; whether it ended. One that hangs is left behind: it dies with the process."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def given_up(self) -> int:
        """Entries that will not be written: pushed out, or failed too often."""
        return self._given_up

    @property
    def unwritten(self) -> int:
        """Entries that are not written now: those given up, and those on their way."""
        with self._changed:
            return self._given_up + len(self._waiting) + len(self._bundle)

    def _work(self) -> None:
        while self._gather():
            self._write_bundle()

    def _gather(self) -> bool:
        """Wait until there is a bundle to write; False: there is none, and none will come."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._bundle or self._closing)
            self._changed.wait_for(lambda: self._closing, self._interval_s)
            if not self._bundle:
                self._bundle = list(self._waiting)
                self._waiting.clear()
            return bool(self._bundle)

    def _write_bundle(self) -> None:
        try:
            self._write(self._bundle, self._number)
        except Exception as fault:  # noqa: BLE001 - whatever it is: a fault of its records must not end the job; `fault` is reported
            self.failures += 1
            self.fault = self.fault or fault
            self._failed_attempts += 1
            if self._failed_attempts < ATTEMPTS:
                return
            self._given_up += len(self._bundle)
        with self._changed:
            self._bundle = []
        self._number += 1
        self._failed_attempts = 0
