"""A topic's scale against a list of all ledgers that it ever had: the place of every position, and what is estimated behind it."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.array import Array
from pipeline.rules.broker import ledgers as invariants
from pipeline.rules.broker.layout import LEDGER_ROW, NEW_TOPIC
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, Records, empty_rows

GROW, CLOSE, TRIM = range(3)


@compiled
def change(topic: Record, ledgers: Records, ends: Array, what: int, ledger: int, entries: int, size: int) -> None:
    if what == TRIM:
        invariants.trim_ledger(topic, ledgers, ledger)
        return
    row = invariants.meet_ledger(topic, ledgers, ends, ledger)
    if what == GROW:
        invariants.grow_ledger(topic, ledgers, row, entries, size)
    else:
        invariants.close_ledger(topic, ledgers, row, entries, size, 7 * ledger)


@compiled
def place_of(topic: Record, ledgers: Records, ledger: int, entry: int) -> tuple[int, int]:
    """The position's place, and the bytes behind it."""
    return invariants.place_of(topic, ledgers, ledger, entry), invariants.size_behind(topic, ledgers, ledger, entry)


@compiled
def ledger_at(topic: Record, ledgers: Records, place: int) -> int:
    """Id of the ledger that has the entry after `place` others, or −1."""
    row = invariants.row_of_place(topic, ledgers, place)
    return ledgers[row].ledger if row >= 0 else -1


@compiled
def find(topic: Record, ledgers: Records, ledger: int) -> tuple[int, int]:
    return invariants.lower_bound(topic, ledgers, ledger), invariants.find_ledger(topic, ledgers, ledger)


@compiled
def sums(topic: Record, ledgers: Records) -> tuple[int, int]:
    return invariants.first_entries_before(topic, ledgers), invariants.storage_size(topic, ledgers)


@dataclass
class Ledger:
    """As the list has it; a trimmed one stays on the scale."""

    id: int
    entries: int = 0
    bytes: int = 0
    trimmed: bool = False
    close_ms: int = 0


class Scale:
    """All ledgers in their order on the scale, those that were trimmed among them."""

    def __init__(self) -> None:
        self.all: list[Ledger] = []

    @property
    def here(self) -> list[Ledger]:
        return [ledger for ledger in self.all if not ledger.trimmed]

    def before(self, ledger: Ledger) -> int:
        return sum(each.entries for each in self.all[: self.all.index(ledger)])

    @property
    def end(self) -> int:
        return sum(each.entries for each in self.all)

    def meet(self, number: int) -> Ledger:
        for ledger in self.here:
            if ledger.id == number:
                return ledger
        later = next((each for each in self.here if each.id > number), None)
        at = len(self.all) if later is None else self.all.index(later)
        self.all.insert(at, Ledger(number))
        return self.all[at]

    def place(self, number: int, entry: int) -> int:
        for ledger in self.here:
            if ledger.id == number:
                return self.before(ledger) + min(entry + 1, ledger.entries)
            if ledger.id > number:
                return self.before(ledger)
        return self.end

    def size_behind(self, number: int, entry: int) -> int:
        """§2.3: the total, less older ledgers, less the position's ledger at its integer average."""
        size = sum(ledger.bytes for ledger in self.here if ledger.id >= number)
        for ledger in self.here:
            if ledger.id == number and ledger.entries > 0 and entry >= 0:
                size -= ledger.bytes if ledger.entries <= entry + 1 else (entry + 1) * (ledger.bytes // ledger.entries)
        return size

    def ledger_at(self, place: int) -> int:
        """What lies in a trimmed ledger is looked for in the next one."""
        return next((ledger.id for ledger in self.here if self.before(ledger) + ledger.entries > place), -1)


steps = st.tuples(st.sampled_from([GROW] * 6 + [CLOSE, TRIM]), st.integers(1, 9), st.integers(0, 5), st.integers(0, 300))


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(steps, max_size=40))
def test_every_position_has_its_place(todo: list[tuple[int, int, int, int]]) -> None:
    topic, ledgers, ends, scale = NEW_TOPIC.copy()[0], empty_rows(LEDGER_ROW, 256), np.zeros(3, dtype=np.int64), Scale()
    for what, number, entries, size in todo:
        if what == TRIM and number not in [each.id for each in scale.here]:
            continue
        change(topic, ledgers, ends, what, number, entries, size)
        ledger = scale.meet(number)
        if what == GROW:
            ledger.entries, ledger.bytes = ledger.entries + entries, ledger.bytes + size
        elif what == CLOSE:
            ledger.entries, ledger.bytes, ledger.close_ms = entries, size, 7 * number
        else:
            ledger.trimmed = True
    assert (topic.end_entries, topic.end_bytes) == (scale.end, sum(each.bytes for each in scale.all))
    first_before = scale.before(scale.here[0]) if scale.here else scale.end
    assert sums(topic, ledgers) == (first_before, sum(each.bytes for each in scale.here))
    for number in range(11):
        at, row = find(topic, ledgers, number)
        assert at == sum(each.id < number for each in scale.here)
        assert (row >= 0) == (number in [each.id for each in scale.here])
        if row >= 0:
            held, expected = ledgers[row], scale.meet(number)
            assert (held.entries, held.bytes, held.close_ms) == (expected.entries, expected.bytes, expected.close_ms)
            assert held.closed == (expected.close_ms > 0)
        for entry in range(-1, 8):
            assert place_of(topic, ledgers, number, entry) == (scale.place(number, entry), scale.size_behind(number, entry))
    for place in range(scale.end + 2):
        assert ledger_at(topic, ledgers, place) == scale.ledger_at(place)


def topic_of(totals: dict[int, tuple[int, int]]) -> tuple[Record, Records]:
    topic, ledgers, ends = NEW_TOPIC.copy()[0], empty_rows(LEDGER_ROW, 64), np.zeros(3, dtype=np.int64)
    for number, (entries, size) in totals.items():
        change(topic, ledgers, ends, GROW, number, entries, size)
    return topic, ledgers


B1, B2 = {1: (5, 5 * 1024)}, dict.fromkeys(range(1, 6), (2, 2))
B3, B4 = {1: (3, 700)}, {1: (5, 5 * 1024), 2: (5, 5 * 1024), 3: (4, 4 * 1024)}


@pytest.mark.parametrize(
    ("totals", "sizes"),
    [
        (B1, {(1, -1): 5120, (1, 1): 3072, (1, 4): 0}),
        (B2, {(-1, -1): 10, (1, 1): 8, (5, 1): 0}),
        (B3, {(1, -1): 700, (1, 0): 467, (1, 1): 234, (1, 2): 0}),
        (B4, {(1, 4): 9216, (2, 1): 7168, (3, -1): 4096, (0, 5): 14336}),
    ],
    ids=["B1", "B2", "B3", "B4"],
)
def test_the_estimated_size_has_pulsars_figures(totals: dict[int, tuple[int, int]], sizes: dict[tuple[int, int], int]) -> None:
    topic, ledgers = topic_of(totals)
    for (ledger, entry), size in sizes.items():
        assert place_of(topic, ledgers, ledger, entry)[1] == size


def test_trimming_what_is_not_there_changes_nothing() -> None:
    topic, ledgers = topic_of(B4)
    before = [place_of(topic, ledgers, 2, entry) for entry in range(5)]
    change(topic, ledgers, np.zeros(3, dtype=np.int64), TRIM, 7, 0, 0)
    assert [place_of(topic, ledgers, 2, entry) for entry in range(5)] == before
    change(topic, ledgers, np.zeros(3, dtype=np.int64), TRIM, 1, 0, 0)
    assert [place_of(topic, ledgers, 2, entry) for entry in range(5)] == before, "places stay when ledgers go"
