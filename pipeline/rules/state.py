"""The state of one epoch of a broker: every store of every package, grown, compacted, put in order, kept and restored as one.

Compiled rules change rows in place; stores are replaced only to give them more or fewer rows.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from pipeline.faults import invariant
from pipeline.rules import blocks
from pipeline.rules.array import Array
from pipeline.rules.index import fill, new_index
from pipeline.rules.package import Arena, Beside, Family, Listed, Package, Pool, Single, Store
from pipeline.rules.records import Record, Records, as_numbers, as_records, empty_rows, record, width_of, with_capacity, with_room
from pipeline.rules.segments import BEGIN, CAPACITY, MOVES, has_spare, packed, unpack, with_spare

FIRST_CAPACITY = 16
#: No event adds more rows to any list, but for two for each row of its topic or of all families. A quota check reports four limits of its
#: topic, each with six places that may set it.
FEW = 24
#: Rows on their way out that a fold has room for: where they are full it stops, and each stop costs as much as a hundred events.
FIRST_LIST_CAPACITY = 512


class Layout:
    """What the packages declare, looked up by name."""

    def __init__(self, packages: tuple[Package, ...]) -> None:
        self.packages = packages
        self.stores: dict[str, Store] = {store.name: store for package in packages for store in package.stores}
        self.families = [store for store in self.stores.values() if isinstance(store, Family)]
        self.arenas = [store for store in self.stores.values() if isinstance(store, Arena)]
        self.pools = [store for store in self.stores.values() if isinstance(store, Pool)]
        self.lists = [store for store in self.stores.values() if isinstance(store, Listed)]
        self.counted = (*(store.name for store in self.families), *(store.name for store in self.lists if not store.beside))
        #: Lists that leave after every fold, with the place of their count.
        self.leaving = [(store, self.counted.index(store.name)) for store in self.lists if store.table]
        self.counts_row = record(*self.counted)
        #: Stores of a state in which nothing has happened, once there was one: nobody changes them.
        self.unused: dict[str, Any] | None = None
        #: One tuple type per package: fold.py hands them to rules that ask for a whole package.
        self.groups: dict[str, Any] = {package.name: _tuple_type(package.name.capitalize(), self._names(package)) for package in packages}
        #: And one of these tuples: what the fold takes.
        self.stores_of_packages = _tuple_type("Stores", [package.name for package in packages])

    def family_of(self, name: str) -> str:
        """The family that a store's rows are counted with."""
        store = self.stores[name]
        return store.of if isinstance(store, Beside) else name

    def count_of(self, store: Listed) -> str:
        """The count that a list goes by."""
        return store.beside or store.name

    def in_family(self, family: str) -> list[str]:
        """The family and what lies beside it."""
        return [name for name, store in self.stores.items() if name == family or (isinstance(store, Beside) and store.of == family)]

    @staticmethod
    def _names(package: Package) -> list[str]:
        names: list[str] = []
        for store in package.stores:
            names.append(store.name)
            if isinstance(store, Arena):
                names.append(f"{store.name}_ends")
            if isinstance(store, Family):
                names.append(f"{store.name}_index")
        return names


class BrokerState:
    """The stores by name in `rows` (indexes and arenas' ends among them; a pool is a `Blocks`), grouped by package for compiled rules."""

    def __init__(self, layout: Layout, kept: dict[str, Array] | None = None) -> None:
        """The state before the first event, or the one that `saved` gave. Raises BrokenInvariant for an array of another width."""
        self.layout = layout
        self.rows: dict[str, Any] = {}
        self._counts = empty_rows(layout.counts_row, 1)
        if kept is not None:
            self._counts[0] = as_records(_checked(kept, "counts", layout.counts_row), layout.counts_row)[0]
        #: Rows in use of every family and list.
        self.counts: Record = self._counts[0]
        if kept is None and layout.unused is not None:
            self._copy(layout.unused)
        else:
            self._open_all(kept)
        self._regroup()

    def _open_all(self, kept: dict[str, Array] | None) -> None:
        for store in self.layout.stores.values():
            self._open(store, kept)
        for arena in self.layout.arenas:
            self._open_arena(arena, kept)
        for pool in self.layout.pools:
            self.rows[pool.name] = blocks.laid_out(self._segments(pool), _lists(pool, kept))
        self._index()
        if kept is None:
            self.layout.unused = _copied(self.layout, self.rows)

    def _copy(self, unused: dict[str, Any]) -> None:
        """Begin as every state does, in a fifth of the time: many lanes are short."""
        self.rows = _copied(self.layout, unused)

    def group(self, package: str) -> Any:
        """All stores of a package, by name."""
        return getattr(self._groups, package)

    @property
    def groups(self) -> Any:
        """The packages' stores, as fold.py takes them."""
        return self._groups

    def saved(self, *, ordered: bool = False) -> dict[str, Array]:
        """The rows in use as int64 arrays by name, without those that have no meaning; `ordered`: equal states have equal arrays.

        Rows on their way out must have been taken.
        """
        self._compact(ordered=ordered)
        if ordered:
            self._order_lists()
        arrays = {"counts": as_numbers(self._counts).copy()}
        for name, store in self.layout.stores.items():
            if isinstance(store, Single) and store.kept:
                arrays[name] = as_numbers(self.rows[name]).copy()
            elif isinstance(store, Family | Beside):
                arrays[name] = as_numbers(self._in_use(name)).copy()
            elif isinstance(store, Listed) and store.kept:
                arrays[name] = as_numbers(self.rows[name][: self.counts[self.layout.count_of(store)]]).copy()
        for arena in self.layout.arenas:
            owners = as_records(arrays[arena.of], self.layout.stores[arena.of].kind)  # a view: places are taken out of what is kept
            arrays[arena.name] = as_numbers(packed(owners[arena.segment], self.rows[arena.name]))
            owners[arena.segment][:, BEGIN] = 0
            owners[arena.segment][:, CAPACITY] = 0  # the place follows from the rows in use
        for pool in self.layout.pools:
            owners = as_records(arrays[pool.of], self.layout.stores[pool.of].kind)
            arrays[pool.name] = as_numbers(blocks.gathered(owners[pool.segment], self.rows[pool.name]))
        return arrays

    def grow(self) -> None:
        """More rows wherever an event, or a check of every topic, could lack them; rows of families keep their numbers."""
        moved = replaced = False
        counts = dict(zip(self.layout.counted, as_numbers(self._counts)[0].tolist(), strict=True))
        for family in self.layout.families:
            used = counts[family.name]
            if used >= len(self.rows[family.name]):
                moved = True
                for name in self.layout.in_family(family.name):
                    self.rows[name] = with_capacity(self.rows[name], used, 2 * used)
        most = 2 * sum(counts[family.name] for family in self.layout.families) + FEW
        # All lists alike: the fold compares the longest with the room of the smallest.
        needed = most + max(counts[self.layout.count_of(store)] for store in self.layout.lists)
        for store in self.layout.lists:
            if len(self.rows[store.name]) < needed:
                replaced = True
                self.rows[store.name] = with_room(self.rows[store.name], counts[self.layout.count_of(store)], needed + needed // 4)
        for arena in self.layout.arenas:
            ends = self.rows[f"{arena.name}_ends"]
            if not has_spare(len(self.rows[arena.name]), ends):
                replaced = True
                self._lay_out(arena, self.rows[arena.name], int(ends[MOVES]))
        for pool in self.layout.pools:
            before = self.rows[pool.name]
            self.rows[pool.name] = blocks.with_room(self._segments(pool), before)
            replaced = replaced or self.rows[pool.name] is not before
        if moved:
            self._index()
        if moved or replaced:
            self._regroup()

    def taken(self, epoch: int) -> "Iterable[tuple[str, Records]]":
        """(table, rows) of the lists that leave after every fold, emptied."""
        counts = as_numbers(self._counts)[0].tolist()
        for store, place in self.layout.leaving:
            used = counts[place]
            if used:
                rows = self.rows[store.name][:used].copy()
                rows["epoch"] = epoch
                self.counts[store.name] = 0
                yield store.table, rows

    def _open(self, store: Store, kept: dict[str, Array] | None) -> None:
        if isinstance(store, Arena | Pool):
            return
        if isinstance(store, Single):
            self.rows[store.name] = empty_rows(store.kind, 1)
            for name, value in store.first:
                self.rows[store.name][name] = value
            if kept is not None and store.kept:
                self.rows[store.name] = as_records(_checked(kept, store.name, store.kind).copy(), store.kind)
            return
        rows = empty_rows(store.kind, 0)
        if kept is not None and (not isinstance(store, Listed) or store.kept):
            rows = as_records(_checked(kept, store.name, store.kind), store.kind)
            count = self.layout.count_of(store) if isinstance(store, Listed) else self.layout.family_of(store.name)
            invariant(len(rows) == self.counts[count], f"state array {store.name} has {len(rows)} rows, its count is {self.counts[count]}")
        room = len(rows) + len(rows) // 4
        if isinstance(store, Listed):
            self.rows[store.name] = with_room(rows, len(rows), max(FIRST_LIST_CAPACITY, room))
        else:
            self.rows[store.name] = with_capacity(rows, len(rows), max(FIRST_CAPACITY, room))

    def _open_arena(self, arena: Arena, kept: dict[str, Array] | None) -> None:
        unpack(self._segments(arena))
        self._lay_out(arena, _lists(arena, kept), 0)

    def _lay_out(self, arena: Arena, rows: Records, moves: int) -> None:
        self.rows[arena.name], self.rows[f"{arena.name}_ends"] = with_spare(self._segments(arena), rows, moves)

    def _segments(self, store: Arena | Pool) -> Array:
        segments: Array = self._in_use(store.of)[store.segment]
        return segments

    def _in_use(self, name: str) -> Records:
        """The rows in use of a family, or of what lies beside one."""
        rows: Records = self.rows[name][: self.counts[self.layout.family_of(name)]]
        return rows

    def _index(self) -> None:
        for family in self.layout.families:
            rows = self.rows[family.name]
            index = new_index(len(rows))
            fill(index, rows, self.counts[family.name])
            self.rows[f"{family.name}_index"] = index

    def _regroup(self) -> None:
        groups = self.layout.groups.values()
        self._groups = self.layout.stores_of_packages(*(group(*(self.rows[field] for field in group._fields)) for group in groups))

    def _compact(self, *, ordered: bool) -> None:
        """Drop rows that no package keeps; with `ordered` the others lie in order of owner and id."""
        keep = {family.name: np.zeros(self.counts[family.name], dtype=np.bool_) for family in self.layout.families}
        for package in self.layout.packages:
            for name, flags in package.ends.keeps(self).items():
                keep[name] |= flags
        self._keep_owners(keep)
        if all(flags.all() for flags in keep.values()) and not ordered:
            return
        new_rows: dict[str, Array] = {}
        for family in self.layout.families:
            rows = self._in_use(family.name)
            order = np.flatnonzero(keep[family.name])
            if ordered:
                order = order[np.lexsort((rows["id"][order], rows["owner"][order]))]
            new_rows[family.name] = np.full(len(rows) + 1, -1, dtype=np.int64)  # so that −1, its last place, stays −1
            new_rows[family.name][order] = np.arange(len(order))
            for name in self.layout.in_family(family.name):
                kept = self._in_use(name).take(order)
                self.rows[name] = with_capacity(kept, len(kept), max(FIRST_CAPACITY, len(kept) + len(kept) // 4))
            self.counts[family.name] = len(order)
        self._index()
        self._regroup()
        for package in self.layout.packages:
            package.ends.renumber(self, new_rows)

    def _order_lists(self) -> None:
        """Rows that wait for the end of their window came in an order that means nothing."""
        for store in self.layout.lists:
            if store.kept and not store.beside:
                count = self.counts[store.name]
                together = [each.name for each in self.layout.lists if store.name in (each.name, each.beside)]
                numbers = np.hstack([as_numbers(self.rows[name][:count]) for name in together])
                order = np.lexsort(numbers.T[::-1])
                for name in together:
                    self.rows[name][:count] = self.rows[name][:count][order]

    def _keep_owners(self, keep: "dict[str, np.ndarray[Any, np.dtype[np.bool_]]]") -> None:
        """Whoever owns a row that is kept is kept: subscriptions belong to topics."""
        topics, subscriptions = self._in_use("topics"), self._in_use("subscriptions")
        keep["topics"] |= np.isin(topics["id"], subscriptions["owner"][keep["subscriptions"]])


def _tuple_type(name: str, fields: list[str]) -> Any:
    return NamedTuple(name, [(field, Any) for field in fields])


def _copied(layout: Layout, rows: dict[str, Any]) -> dict[str, Any]:
    lists = {store.name for store in layout.lists}
    return {name: with_room(of_store, 0, len(of_store)) if name in lists else of_store.copy() for name, of_store in rows.items()}


def _lists(store: Arena | Pool, kept: dict[str, Array] | None) -> Records:
    """Rows of all lists of a store, one list after the other."""
    return empty_rows(store.kind, 0) if kept is None else as_records(_checked(kept, store.name, store.kind), store.kind)


def _checked(kept: dict[str, Array], name: str, kind: np.dtype[Any]) -> Array:
    width = width_of(kind)
    array = kept[name]
    invariant(array.ndim == 2 and array.shape[1] == width, f"state array {name} has shape {array.shape}, expected (n, {width})")
    return array
