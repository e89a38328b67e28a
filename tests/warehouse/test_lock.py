"""One driver at a time."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from s3_server import S3

from pipeline.faults import BadWarehouse
from pipeline.store.files import files_at
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


@pytest.fixture(params=["disk", "object store"])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Warehouse:
    """Where the locks are."""
    return Warehouse(f"file:{tmp_path}/wh" if request.param == "disk" else request.getfixturevalue("lake"))


@pytest.fixture
def lock_of(warehouse: Warehouse, clock: Clock, notices: list[str]) -> Callable[..., DriverLock]:
    """Makes locks."""

    def make(driver: Driver, alive: bool = True, heartbeat_seconds: float = 3600.0) -> DriverLock:
        return DriverLock(files_at(warehouse.root), warehouse, driver, clock, lambda _: alive, notices.append, heartbeat_seconds)

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


def test_a_running_driver_renews_its_lock(lock_of: Callable[..., DriverLock], clock: Clock, warehouse: Warehouse) -> None:
    first = lock_of(FIRST, heartbeat_seconds=0.05)
    first.acquire()
    clock.time += STALE_AFTER * 10
    waiting = time.monotonic() + 20
    while "2026-11-21T12:10" not in (files_at(warehouse.root).read(warehouse.lock_file) or "") and time.monotonic() < waiting:
        pass
    with pytest.raises(BadWarehouse, match="another driver"):
        lock_of(SECOND).acquire()
    first.release()


def test_a_lock_file_that_vanished_stops_its_driver(lock_of: Callable[..., DriverLock], warehouse: Warehouse) -> None:
    first = lock_of(FIRST)
    first.acquire()
    files_at(warehouse.root).delete(warehouse.lock_file)
    with pytest.raises(BadWarehouse, match="lost the warehouse"):
        first.verify()
    first.release()


def test_a_damaged_lock_file_is_taken_over(lock_of: Callable[..., DriverLock], notices: list[str], warehouse: Warehouse) -> None:
    files_at(warehouse.root).create(warehouse.lock_file, "{half")
    first = lock_of(FIRST)
    first.acquire()
    first.verify()
    first.release()
    assert "cannot be read" in notices[0]


def test_upkeep_and_writing_do_not_exclude_each_other_two_upkeeps_do(
    lock_of: Callable[..., DriverLock], warehouse: Warehouse, clock: Clock
) -> None:
    writing = lock_of(FIRST)
    writing.acquire()
    upkeep = [
        UpkeepLock(files_at(warehouse.root), warehouse, driver, clock, lambda _: True, lambda _: None, 3600.0) for driver in (FIRST, SECOND)
    ]
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


@pytest.mark.parametrize("warehouse", ["object store"], indirect=True)
def test_of_many_that_take_over_one_wins(lock_of: Callable[..., DriverLock], clock: Clock) -> None:
    """In an object store, where another host decides at the same time. Who loses is told who has it."""
    lock_of(ELSEWHERE).acquire()
    clock.time += STALE_AFTER * 2
    rivals = [lock_of(Driver(f"run-{number}", f"host-{number}", number, "boot:1")) for number in range(8)]

    def won(rival: DriverLock) -> bool:
        try:
            rival.acquire()
        except BadWarehouse:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        winners = [rival for rival, has_won in zip(rivals, threads.map(won, rivals), strict=True) if has_won]
    assert len(winners) == 1
    winners[0].verify()


@pytest.mark.parametrize("warehouse", ["object store"], indirect=True)
def test_a_store_that_cannot_exclude_a_second_driver_is_refused(lock_of: Callable[..., DriverLock], s3: S3) -> None:
    """It answers as if all were well."""
    s3.ignores_conditions = True
    with pytest.raises(BadWarehouse, match="overwrites an object though it is told not to"):
        lock_of(FIRST).acquire()
