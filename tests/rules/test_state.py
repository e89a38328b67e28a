"""The state of a small package against dicts: growing, saving, restoring and compacting lose nothing, and equal states are equal arrays."""

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.faults import BrokenInvariant
from pipeline.rules import blocks, segments
from pipeline.rules.array import Array
from pipeline.rules.blocks import Blocks
from pipeline.rules.compiled import compiled
from pipeline.rules.index import EMPTY, find, insert
from pipeline.rules.package import Arena, Beside, Ends, Family, Listed, Package, Pool, Single, State
from pipeline.rules.records import Record, Records, record
from pipeline.rules.segments import BEGIN, DROPPED, SEGMENT, USED
from pipeline.rules.state import FIRST_CAPACITY, BrokerState, Layout

#: `kept`: the package keeps the row. `friend`: number of another row of its family.
THING = record("id", "owner", "kept", "friend", "value", queue=SEGMENT, sorted=SEGMENT)
ITEM, KEY, TWO = record("number"), record("ledger", "entry"), record("epoch", "number")


class SmallEnds(Ends):
    """Keeps what is marked, and lets friends find each other again."""

    def keeps(self, state: State) -> dict[str, Any]:
        group = state.group("small")
        return {name: (getattr(group, name)["kept"] == 1)[: getattr(state.counts, name)] for name in ("topics", "subscriptions")}

    def renumber(self, state: State, new_rows: dict[str, Array]) -> None:
        for name in ("topics", "subscriptions"):
            friends = getattr(state.group("small"), name)["friend"][: getattr(state.counts, name)]
            friends[...] = new_rows[name][friends]


STORES = (
    Single("kept_single", TWO, first=(("number", 7),)),
    Single("scratch", TWO, kept=False, first=(("number", 8),)),
    Family("topics", "topic", THING),
    Beside("shadows", "shadow", ITEM, of="topics"),
    Arena("queues", ITEM, of="topics", segment="queue"),
    Pool("sorteds", KEY, of="topics", segment="sorted"),
    Family("subscriptions", "subscription", THING),
    Listed("waiting", TWO),
    Listed("beside_waiting", ITEM, beside="waiting"),
    Listed("going", TWO, table="a_table"),
)
LAYOUT = Layout((Package("small", 1, STORES, ModuleType("rules"), SmallEnds()),))
FAMILIES = ("topics", "subscriptions")
#: A row by its family, owner and id.
Name = tuple[str, int, int]


@compiled
def look_up(index: Array, rows: Records, number: int, owner: int) -> int:
    return find(index, rows, number, owner)


@compiled
def enter(index: Array, number: int, owner: int, row: int) -> None:
    insert(index, number, owner, row)


@compiled
def append(row: Record, arena: Records, ends: Array, at_front: bool, number: int) -> None:
    arena[segments.insert_row(row.queue, arena, ends, 0 if at_front else row.queue[USED])].number = number


@compiled
def put(row: Record, lists: Blocks, ledger: int, entry: int) -> None:
    block, at = blocks.last_at_or_before(row.sorted, lists, ledger, entry)
    at = blocks.put_behind(row.sorted, lists, block, at)
    lists.rows[at].ledger, lists.rows[at].entry = ledger, entry


@dataclass
class Thing:
    """What a row is and what it owns."""

    value: int = 0
    shadow: int = 0
    friend: Name | None = None
    kept: bool = True
    queue: list[int] = field(default_factory=list)
    sorted: list[tuple[int, int]] = field(default_factory=list)


class Small:
    """The state, and what should be in it."""

    def __init__(self) -> None:
        self.state = BrokerState(LAYOUT)
        self.things: dict[Name, Thing] = {}
        self.waiting: list[tuple[int, int]] = []

    def row_of(self, name: Name) -> int:
        family, owner, number = name
        return int(look_up(self.state.rows[f"{family}_index"], self.state.rows[family], number, owner))

    def meet(self, name: Name) -> Record:
        """The row of a thing, made if it is not there."""
        self.state.grow()
        family, owner, number = name
        rows, row = self.state.rows[family], self.row_of(name)
        if row == EMPTY:
            row = int(self.state.counts[family])
            self.state.counts[family] += 1
            rows["id"][row], rows["owner"][row], rows["friend"][row] = number, owner, -1
            enter(self.state.rows[f"{family}_index"], number, owner, row)
            self.things[name] = Thing()
        rows["kept"][row] = self.things[name].kept = True
        return rows[row]

    def do(self, what: str, name: Name, number: int) -> None:
        row, thing, rows = self.meet(name), None, self.state.rows
        thing = self.things[name]
        if what == "value":
            row.value = thing.value = number
        elif what == "forget":
            row.kept, thing.kept = 0, False
        elif what == "friend":
            others = [other for other in self.things if other[0] == name[0]]
            thing.friend = others[number % len(others)]
            row.friend = self.row_of(thing.friend)
        elif what == "wait":
            count = int(self.state.counts["waiting"])
            rows["waiting"][count] = (0, number)  # whole, as rules do: what lies in the room of a list may be anything
            rows["beside_waiting"]["number"][count] = number + 1
            self.state.counts["waiting"] += 1
            self.waiting.append((number, number + 1))
        elif name[0] == "topics" and what == "queue":
            append(row, rows["queues"], rows["queues_ends"], number % 2 == 0, number)
            thing.queue.insert(0 if number % 2 == 0 else len(thing.queue), number)
        elif name[0] == "topics" and what == "sorted":
            put(row, rows["sorteds"], number % 3, number)
            thing.sorted = sorted([*thing.sorted, (number % 3, number)])
        elif name[0] == "topics":
            rows["shadows"]["number"][self.row_of(name)] = thing.shadow = number

    def save(self, *, ordered: bool = False) -> dict[str, Array]:
        """Rows that nobody keeps are gone; owners of those that are kept stay."""
        owners = {thing[1] for thing in self.things if thing[0] == "subscriptions" and self.things[thing].kept}
        stay = {name: thing for name, thing in self.things.items() if thing.kept or (name[0] == "topics" and name[2] in owners)}
        for thing in stay.values():
            thing.friend = thing.friend if thing.friend in stay else None
        arrays, self.things = self.state.saved(ordered=ordered), stay
        return arrays

    def restart(self) -> None:
        self.state = BrokerState(LAYOUT, self.save())

    def assert_is_there(self) -> None:
        rows, counts = self.state.rows, self.state.counts
        assert {family: counts[family] for family in FAMILIES} == {
            family: sum(name[0] == family for name in self.things) for family in FAMILIES
        }  # fmt: skip
        group = self.state.group("small")
        assert all(getattr(group, name) is rows[name] for name in group._fields), "rules get what is in the state"
        for name, thing in self.things.items():
            at = self.row_of(name)
            row = rows[name[0]][at]
            assert (row.value, row.friend) == (thing.value, self.row_of(thing.friend) if thing.friend else -1)
            if name[0] == "topics":
                first = row.queue[BEGIN] + row.queue[DROPPED]
                assert rows["queues"]["number"][first : first + row.queue[USED]].tolist() == thing.queue
                kept = blocks.gathered(rows["topics"][at : at + 1].copy()["sorted"], rows["sorteds"])
                assert list(zip(kept["ledger"].tolist(), kept["entry"].tolist(), strict=True)) == thing.sorted
                assert rows["shadows"]["number"][at] == thing.shadow
        waiting = zip(rows["waiting"]["number"].tolist(), rows["beside_waiting"]["number"].tolist(), strict=True)
        assert sorted(list(waiting)[: counts.waiting]) == sorted(self.waiting)


topics = st.tuples(st.just("topics"), st.just(0), st.integers(1, 30))
names = topics | st.tuples(st.just("subscriptions"), st.integers(1, 30), st.integers(1, 3))
whats = st.sampled_from(["value", "queue", "queue", "sorted", "sorted", "shadow", "friend", "wait", "forget"])
steps = st.lists(st.tuples(whats, names, st.integers(0, 1_000)), max_size=120)


def done(todo: list[tuple[str, Name, int]], restart_after: int = -1) -> Small:
    """A subscription's topic is met before it."""
    small = Small()
    for number, (what, name, value) in enumerate(todo):
        if name[0] == "subscriptions":
            small.meet(("topics", 0, name[1]))
        small.do(what, name, value)
        if restart_after > 0 and number % restart_after == 0:
            small.restart()
    return small


@settings(max_examples=examples(60), deadline=None)
@given(steps, st.sampled_from([-1, 1, 5, 40]), st.booleans())
def test_growing_saving_and_restoring_lose_nothing(todo: list[tuple[str, Name, int]], restart_after: int, ordered: bool) -> None:
    small = done(todo, restart_after)
    small.assert_is_there()
    kept = small.save(ordered=ordered)
    small.assert_is_there()
    small.state = BrokerState(LAYOUT, kept)
    small.assert_is_there()
    small.do("queue", ("topics", 0, 99), 1)
    small.assert_is_there()


@settings(max_examples=examples(60), deadline=None)
@given(steps, st.randoms(use_true_random=False), st.sampled_from([-1, 5]))
def test_equal_states_have_equal_arrays(todo: list[tuple[str, Name, int]], random: Any, restart_after: int) -> None:
    """In whatever order their rows came, and wherever they were saved on the way. Of queues and values the last or first step counts."""
    steps = [step for step in todo if step[0] in ("sorted", "wait")] + [("value", name, 5) for _, name, _ in todo]
    shuffled = random.sample(steps, len(steps))
    ours, theirs = done(steps).save(ordered=True), done(shuffled, restart_after).save(ordered=True)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if not np.array_equal(ours[name], theirs[name])] == []


def test_saving_in_order_puts_rows_in_order_of_owner_and_id() -> None:
    small = done([("value", ("subscriptions", owner, number), 1) for owner, number in ((9, 2), (3, 3), (9, 1), (3, 1))])
    rows = small.save(ordered=True)["subscriptions"]
    assert rows[:, [1, 0]].tolist() == [[3, 1], [3, 3], [9, 1], [9, 2]]


def test_what_is_no_part_of_the_state_is_not_saved_and_begins_anew() -> None:
    small = Small()
    for name in ("kept_single", "scratch"):
        assert small.state.rows[name][0].number in (7, 8)
        small.state.rows[name][0].number = 1
    arrays = small.save()
    assert set(arrays) == {"counts", "kept_single", "topics", "shadows", "queues", "sorteds", "subscriptions", "waiting", "beside_waiting"}
    restored = BrokerState(LAYOUT, arrays)
    assert (restored.rows["kept_single"][0].number, restored.rows["scratch"][0].number) == (1, 8)


def test_rows_on_their_way_out_are_taken_once_with_their_epoch() -> None:
    small = done([("wait", ("topics", 0, 1), 5)])
    small.state.rows["going"]["number"][:2] = 3, 4
    small.state.counts["going"] = 2
    ((table, rows),) = small.state.taken(77)
    assert (table, rows["epoch"].tolist(), rows["number"].tolist()) == ("a_table", [77, 77], [3, 4])
    assert list(small.state.taken(77)) == []
    assert small.state.counts["waiting"] == 1, "those without a table wait"


def test_a_family_that_is_full_grows_and_keeps_its_numbers() -> None:
    small = done([("value", ("topics", 0, number), number) for number in range(1, FIRST_CAPACITY + 1)])
    before = small.state.rows["topics"]["id"].tolist()
    small.state.grow()
    rows = small.state.rows
    assert len(rows["topics"]) == len(rows["shadows"]) > FIRST_CAPACITY
    assert rows["topics"]["id"][:FIRST_CAPACITY].tolist() == before
    small.assert_is_there()


def test_lists_have_room_for_a_row_of_everything_twice() -> None:
    small = done([("value", ("topics", 0, number), 1) for number in range(1, 200)])
    small.state.counts["waiting"] = len(small.state.rows["waiting"])
    small.state.grow()
    for name in ("waiting", "beside_waiting", "going"):
        assert len(small.state.rows[name]) >= small.state.counts["waiting"] + 2 * 199


def test_arrays_that_do_not_fit_are_refused() -> None:
    arrays = done([("queue", ("topics", 0, 1), 5)]).save()
    with pytest.raises(BrokenInvariant, match="shadows"):
        BrokerState(LAYOUT, {**arrays, "shadows": arrays["shadows"][:0]})
    with pytest.raises(BrokenInvariant, match="queues"):
        BrokerState(LAYOUT, {**arrays, "queues": np.zeros((1, 2), dtype=np.int64)})
