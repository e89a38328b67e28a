"""Whoever hands an entry over never waits and never fails, whatever happens to the writer behind."""

import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from pipeline.upkeep.run_records.outbox import ATTEMPTS, Entry, Outbox

SOON = 0.01
#: Beyond what a busy machine needs to wake a thread.
PATIENCE_S = 30.0


class Writer:
    """Remembers what it was given; fails as long as `faults` has something, waits as long as `open` is not set."""

    def __init__(self) -> None:
        self.bundles: list[tuple[int, list[Entry]]] = []
        self.faults: list[Exception] = []
        self.open = threading.Event()
        self.entered = threading.Event()
        self.open.set()

    def __call__(self, entries: Sequence[Entry], number: int) -> None:
        self.entered.set()
        assert self.open.wait(PATIENCE_S)
        if self.faults:
            raise self.faults.pop(0)
        self.bundles.append((number, list(entries)))

    @property
    def numbers(self) -> list[int]:
        return [entry["n"] for _, entries in self.bundles for entry in entries]


@pytest.fixture
def writer() -> Iterator[Writer]:
    made = Writer()
    yield made
    made.open.set()


def closed(box: Outbox) -> Outbox:
    box.close()
    assert box.join(PATIENCE_S)
    return box


def test_entries_arrive_in_order_in_one_bundle_when_it_closes(writer: Writer) -> None:
    box = Outbox("b", writer, interval_s=3600)
    for n in range(5):
        box.put({"n": n})
    closed(box)
    assert writer.bundles == [(0, [{"n": n} for n in range(5)])]
    assert (box.fault, box.given_up, box.unwritten) == (None, 0, 0)


def test_what_has_gathered_for_the_interval_is_written_before_the_end(writer: Writer) -> None:
    box = Outbox("b", writer, interval_s=SOON)
    box.put({"n": 1})
    assert writer.entered.wait(PATIENCE_S)
    box.put({"n": 2})
    closed(box)
    assert writer.bundles == [(0, [{"n": 1}]), (1, [{"n": 2}])]


def test_a_writer_that_hangs_holds_nobody_up_and_the_oldest_entries_give_way(writer: Writer) -> None:
    writer.open.clear()
    box = Outbox("b", writer, interval_s=SOON, capacity=3)
    box.put({"n": 0})
    assert writer.entered.wait(PATIENCE_S)
    began = time.monotonic()
    for n in range(1, 1001):
        box.put({"n": n})
    box.close()
    assert not box.join(SOON), "it is left behind"
    assert time.monotonic() - began < 5
    assert (box.given_up, box.unwritten) == (997, 1001)
    writer.open.set()
    assert box.join(PATIENCE_S)
    assert writer.numbers == [0, 998, 999, 1000]


def test_a_bundle_that_failed_comes_again_with_its_number_and_once_in_all(writer: Writer) -> None:
    writer.faults = [ValueError("once"), ValueError("twice")]
    box = Outbox("b", writer, interval_s=SOON)
    box.put({"n": 1})
    closed(box)
    assert writer.bundles == [(0, [{"n": 1}])]
    assert (str(box.fault), box.failures, box.given_up) == ("once", 2, 0)


def test_a_bundle_that_fails_too_often_does_not_bar_the_way_of_others(writer: Writer) -> None:
    writer.faults = [ValueError("never")] * ATTEMPTS
    box = Outbox("b", writer, interval_s=SOON)
    box.put({"n": 1})
    deadline = time.monotonic() + PATIENCE_S
    while box.given_up == 0 and time.monotonic() < deadline:
        time.sleep(SOON)
    box.put({"n": 2})
    closed(box)
    assert writer.bundles == [(1, [{"n": 2}])], "another number: what failed may have been written after all"
    assert (box.given_up, box.unwritten) == (1, 1)


def test_the_thread_does_not_keep_the_process_alive(writer: Writer) -> None:
    box = Outbox("some table", writer, interval_s=3600)
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "outbox-some table"]
    assert thread.daemon
    closed(box)
