"""One driver at a time."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipeline.faults import BadWarehouse
from pipeline.warehouse.files import WarehouseFiles
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock import DriverLock, UpkeepLock
from pipeline.warehouse.lock_file import STALE_AFTER, Driver

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FIRST = Driver("run-1", "here", 100, "boot:1")
SECOND = Driver("run-2", "here", 200, "boot:2")
ELSEWHERE = Driver("run-3", "there", 100, "boot:1")


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def notices() -> list[str]:
    """What the locks of `lock_of` tell the operator."""
    return []


@pytest.fixture
def lock_of(spark: SparkSession, warehouse: Warehouse, clock: Clock, notices: list[str]) -> Callable[..., DriverLock]:
    """Makes locks."""

    def make(driver: Driver, alive: bool = True, heartbeat_seconds: float = 3600.0) -> DriverLock:
        return DriverLock(spark, warehouse, driver, clock, lambda _: alive, notices.append, heartbeat_seconds)

    return make


@pytest.mark.parametrize("second", [SECOND, ELSEWHERE])
def test_a_second_driver_is_refused_and_told_who_writes(lock_of: Callable[..., DriverLock], second: Driver) -> None:
    first = lock_of(FIRST)
    first.acquire()
    with pytest.raises(BadWarehouse, match=r"another driver \(host here, pid 100, since 2026-11-21T12:00:00\+00:00\) is writing .*_stop"):
        lock_of(second).acquire()
    first.verify()
    first.release()


def test_after_a_release_the_next_driver_starts_without_a_notice(lock_of: Callable[..., DriverLock], notices: list[str]) -> None:
    first = lock_of(FIRST)
    first.acquire()
    first.release()
    second = lock_of(SECOND)
    second.acquire()
    second.release()
    assert notices == []


@pytest.mark.parametrize(
    ("second", "alive", "waited", "refused"),
    [
        (SECOND, False, timedelta(0), False),  # same host: its process is gone
        (ELSEWHERE, False, timedelta(0), True),  # another host: nobody can tell whether the process is gone
        (SECOND, True, STALE_AFTER, True),  # not yet longer than allowed
        (ELSEWHERE, True, STALE_AFTER + timedelta(microseconds=1), False),
    ],
)
def test_a_lock_is_taken_over_only_from_a_driver_that_is_gone(
    lock_of: Callable[..., DriverLock],
    notices: list[str],
    clock: Clock,
    second: Driver,
    alive: bool,
    waited: timedelta,
    refused: bool,
) -> None:
    first = lock_of(FIRST)
    first.acquire()
    clock.time += waited
    successor = lock_of(second, alive)
    if refused:
        with pytest.raises(BadWarehouse, match="another driver"):
            successor.acquire()
        return
    successor.acquire()
    assert "host here, pid 100" in notices[0]
    with pytest.raises(BadWarehouse, match=f"lost the warehouse .* pid {second.pid}"):
        first.verify()
    first.release()  # must not remove what is no longer its own
    successor.verify()
    successor.release()


def test_a_running_driver_renews_its_lock(
    lock_of: Callable[..., DriverLock], clock: Clock, spark: SparkSession, warehouse: Warehouse
) -> None:
    first = lock_of(FIRST, heartbeat_seconds=0.05)
    first.acquire()
    clock.time += STALE_AFTER * 10
    waiting = time.monotonic() + 20
    while "2026-11-21T12:10" not in (WarehouseFiles(spark).read(warehouse.lock_file) or "") and time.monotonic() < waiting:
        pass
    with pytest.raises(BadWarehouse, match="another driver"):
        lock_of(SECOND).acquire()
    first.release()


def test_a_lock_file_that_vanished_stops_its_driver(lock_of: Callable[..., DriverLock], warehouse: Warehouse) -> None:
    first = lock_of(FIRST)
    first.acquire()
    Path(warehouse.lock_file).unlink()
    with pytest.raises(BadWarehouse, match="lost the warehouse"):
        first.verify()
    first.release()


def test_a_damaged_lock_file_is_taken_over(lock_of: Callable[..., DriverLock], notices: list[str], warehouse: Warehouse) -> None:
    Path(warehouse.root).mkdir()
    Path(warehouse.lock_file).write_text("{half")
    first = lock_of(FIRST)
    first.acquire()
    first.verify()
    first.release()
    assert "cannot be read" in notices[0]


def test_upkeep_and_writing_do_not_exclude_each_other_two_upkeeps_do(
    lock_of: Callable[..., DriverLock], spark: SparkSession, warehouse: Warehouse, clock: Clock
) -> None:
    writing = lock_of(FIRST)
    writing.acquire()
    upkeep = [UpkeepLock(spark, warehouse, driver, clock, lambda _: True, lambda _: None, 3600.0) for driver in (FIRST, SECOND)]
    upkeep[0].acquire()
    with pytest.raises(
        BadWarehouse, match=r"another `maintain`, `backfill`, `rebuild` or `quarantine replay` \(host here, pid 100, .* wait for its end"
    ):
        upkeep[1].acquire()
    writing.verify()
    upkeep[0].verify()
    upkeep[0].release()
    writing.verify()
    writing.release()


def test_of_many_that_create_a_file_at_once_one_wins(spark: SparkSession, warehouse: Warehouse) -> None:
    from concurrent.futures import ThreadPoolExecutor

    files = WarehouseFiles(spark)
    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(lambda n: files.create(warehouse.lock_file, str(n)), range(16)))
    assert won.count(True) == 1
    assert files.read(warehouse.lock_file) == str(won.index(True))
