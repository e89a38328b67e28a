"""One driver writes a warehouse at a time: a lock file with a heartbeat, taken over when its holder is gone."""

import threading
from collections.abc import Callable
from datetime import datetime

from pipeline.faults import BadWarehouse
from pipeline.store.small_files import SmallFiles
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock_file import STALE_AFTER, Driver, LockEntry, is_gone, read_lock

HEARTBEAT_SECONDS = 10.0


class DriverLock:
    """Shows that only this driver writes rows. Held from `acquire` to `release`; a thread renews it. Times (`now`) need a zone.

    `is_alive` is whether the process of a driver on this host runs; `notice` receives lines for the operator.
    """

    def __init__(
        self,
        files: SmallFiles,
        warehouse: Warehouse,
        driver: Driver,
        now: Callable[[], datetime],
        is_alive: Callable[[Driver], bool],
        notice: Callable[[str], None],
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        self._files = files
        self._warehouse = warehouse
        self._file = self.file_of(warehouse)
        self._driver = driver
        self._now = now
        self._is_alive = is_alive
        self._notice = notice
        self._heartbeat_seconds = heartbeat_seconds
        self._started_at = now()
        self._written = ""
        self._released = threading.Event()
        self._fault: BaseException | None = None
        self._heartbeat = threading.Thread(target=self._renew_until_released, name="driver-lock", daemon=True)

    @staticmethod
    def file_of(warehouse: Warehouse) -> str:
        """URI of the lock file."""
        return warehouse.lock_file

    def acquire(self) -> None:
        """Take the lock, or raise BadWarehouse that names its holder. A stale lock is taken over with a notice."""
        self._written = self._entry()
        if not self._files.create(self._file, self._written) and not self._takes_over():
            raise BadWarehouse(self._refusal(self._read()))
        if self._files.create(self._file, ""):
            raise BadWarehouse(
                f"{self._warehouse.root} is in a store that overwrites an object though it is told not to (If-None-Match): "
                "two jobs would write at once. Use a store that knows conditional writes"
            )
        self._heartbeat.start()

    def _takes_over(self) -> bool:
        """Whether the lock is ours now: its holder is gone, and nobody else was quicker. Raises BadWarehouse if it is not gone."""
        before = self._files.read(self._file)
        if before is None:  # given back since
            return self._files.create(self._file, self._written)
        holder = self._read()
        if holder is not None and not is_gone(holder, self._now(), self._driver.host, self._is_alive):
            raise BadWarehouse(self._refusal(holder))
        self._notice(f"taking over the lock of a driver that is gone: {_words(holder)}")
        return self._files.replace(self._file, before, self._written)

    def verify(self) -> None:
        """Raise BadWarehouse if the lock is no longer ours, or what ended its heartbeat."""
        if self._fault is not None:
            raise BadWarehouse(f"the lock {self._file} could not be renewed: {self._fault}") from self._fault
        holder = self._read()
        if holder is None or holder.driver != self._driver:
            raise BadWarehouse(
                f"this driver lost the warehouse {self._warehouse.root} to {_words(holder)}; it stops before it writes: "
                "see which of the two should run, and start that one again"
            )

    def release(self) -> None:
        """End the heartbeat and remove the file, if it is still ours."""
        self._released.set()
        if self._heartbeat.is_alive():
            self._heartbeat.join()
        holder = self._read()
        if holder is not None and holder.driver == self._driver:
            self._files.delete(self._file)

    def _entry(self) -> str:
        return LockEntry(self._driver, self._started_at, self._now()).to_json()

    def _read(self) -> LockEntry | None:
        return read_lock(self._files, self._file)

    def _refusal(self, holder: LockEntry | None) -> str:
        return (
            f"another driver ({_words(holder)}) is writing {self._warehouse.root}; stop it first: "
            f"make the file {self._warehouse.stop_file.removeprefix('file:')}, or send it SIGTERM. "
            f"A driver that died is forgotten after {STALE_AFTER.seconds} s"
        )

    def _renew_until_released(self) -> None:
        while not self._released.wait(self._heartbeat_seconds):
            try:
                entry = self._entry()
                if not self._files.replace(self._file, self._written, entry):
                    return  # it is somebody else's: verify() raises for it before the next micro-batch
                self._written = entry
            except BaseException as fault:  # noqa: BLE001 - kept for verify(), which raises it where the job can end
                self._fault = fault
                return


class UpkeepLock(DriverLock):
    """Shows that only this driver rewrites or deletes files of the tables: `maintain`, `backfill`, `rebuild`, `quarantine replay`.

    `stream` may run beside the first two.
    """

    @staticmethod
    def file_of(warehouse: Warehouse) -> str:
        """URI of the lock file."""
        return warehouse.upkeep_lock_file

    def _refusal(self, holder: LockEntry | None) -> str:
        return (
            f"another `maintain`, `backfill`, `rebuild` or `quarantine replay` ({_words(holder)}) is at work in {self._warehouse.root}; "
            f"wait for its end. One that died is forgotten after {STALE_AFTER.seconds} s"
        )


def _words(holder: LockEntry | None) -> str:
    if holder is None:
        return "unknown, its lock file cannot be read"
    return f"host {holder.driver.host}, pid {holder.driver.pid}, since {holder.started_at.isoformat(timespec='seconds')}"
