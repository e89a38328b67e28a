"""What the file of a lock says, and whether its holder is gone. Reads only."""

import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from pipeline.store.small_files import SmallFiles

#: Six heartbeats missed: longer than a long collection of a JVM's heap, short enough to wait for by hand.
STALE_AFTER = timedelta(seconds=60)
#: A file that is being rewritten may be empty for a moment.
_READ_ATTEMPTS = 5
_READ_PAUSE_SECONDS = 0.2


@dataclass(frozen=True)
class Driver:
    """A process that writes, or wrote. `process` (its start time) distinguishes processes with one `pid`; empty where nobody knows."""

    run_id: str
    host: str
    pid: int
    process: str


@dataclass(frozen=True)
class LockEntry:
    """What the lock file holds."""

    driver: Driver
    started_at: datetime
    heartbeat_at: datetime

    def to_json(self) -> str:
        """One JSON object; times are ISO 8601 with their zone."""
        return json.dumps({**asdict(self.driver), "started_at": self.started_at.isoformat(), "heartbeat_at": self.heartbeat_at.isoformat()})

    @staticmethod
    def from_json(text: str) -> "LockEntry | None":
        """None if the text is not a lock entry (half-written, or somebody else's file)."""
        try:
            entry = json.loads(text)
            driver = Driver(str(entry["run_id"]), str(entry["host"]), int(entry["pid"]), str(entry["process"]))
            return LockEntry(driver, datetime.fromisoformat(entry["started_at"]), datetime.fromisoformat(entry["heartbeat_at"]))
        except (ValueError, KeyError, TypeError):
            return None


def read_lock(files: SmallFiles, uri: str) -> LockEntry | None:
    """What the lock file holds; None if there is none, or if it stays unreadable for a second."""
    for attempt in range(_READ_ATTEMPTS):
        text = files.read(uri)
        entry = None if text is None else LockEntry.from_json(text)
        if entry is not None:
            return entry
        if attempt < _READ_ATTEMPTS - 1:
            threading.Event().wait(_READ_PAUSE_SECONDS)
    return None


def is_gone(holder: LockEntry, now: datetime, host: str, is_alive: Callable[[Driver], bool]) -> bool:
    """Whether the lock was left behind: silent for STALE_AFTER, or its process (if it was of `host`, where we are) is not alive."""
    return now - holder.heartbeat_at > STALE_AFTER or (holder.driver.host == host and not is_alive(holder.driver))
