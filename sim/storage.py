"""What survives a broker: ledgers and cursors. An entry has an index that counts through all ledgers of its topic."""

from bisect import bisect_right

from sim.scenario import Topic

Position = tuple[int, int]


class Ledger:
    """Entries one after the other; `first` is the index of its first one. `close_ms` is 0 while it is open."""

    __slots__ = ("bytes", "close_ms", "due_ns", "entry_bytes", "first", "id", "keys", "msgs", "publish_ms")

    def __init__(self, ledger_id: int, first: int) -> None:
        self.id, self.first, self.bytes, self.close_ms = ledger_id, first, 0, 0
        self.entry_bytes: list[int] = []
        self.msgs: list[int] = []
        self.publish_ms: list[int] = []
        #: Index → when a delayed entry may be delivered.
        self.due_ns: dict[int, int] = {}
        #: Index → key, where somebody asks for keys.
        self.keys: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.entry_bytes)


class Cursor:
    """A durable subscription's position: `mark` is the index of the last entry of the gapless acknowledged ones."""

    __slots__ = ("acked", "mark", "name", "persisted", "persisted_mark", "persisted_ns", "position")

    def __init__(self, name: str, mark: int, position: Position) -> None:
        self.name, self.mark, self.position, self.persisted = name, mark, position, position
        self.persisted_mark = mark
        self.persisted_ns = -(10**18)
        #: Indexes beyond `mark` that were acknowledged one by one.
        self.acked: set[int] = set()


class SlowestFirst:
    """The heap of cursors by persisted position as the broker keeps it: ties fall as they fall there (semantics §2.4)."""

    def __init__(self) -> None:
        self.cursors: list[Cursor] = []

    def add(self, cursor: Cursor) -> None:
        """A new cursor goes to the end, then up."""
        self.cursors.append(cursor)
        self._up(len(self.cursors) - 1)

    def moved(self, cursor: Cursor) -> None:
        """Its persisted position has changed."""
        place = self.cursors.index(cursor)
        if not self._up(place):
            self._down(place)

    def _up(self, place: int) -> bool:
        heap, began = self.cursors, place
        while place and heap[place].persisted < heap[(place - 1) // 2].persisted:
            parent = (place - 1) // 2
            heap[place], heap[parent] = heap[parent], heap[place]
            place = parent
        return place != began

    def _down(self, place: int) -> None:
        heap = self.cursors
        while True:
            left, right, least = 2 * place + 1, 2 * place + 2, place
            if left < len(heap) and heap[left].persisted < heap[least].persisted:
                least = left
            # Of two children that are equal and smaller, the right one wins.
            if right < len(heap) and heap[right].persisted < heap[place].persisted and heap[right].persisted <= heap[least].persisted:
                least = right
            if least == place:
                return
            heap[place], heap[least] = heap[least], heap[place]
            place = least


class StoredTopic:
    """A topic's ledgers and cursors."""

    def __init__(self, declared: Topic, name: str) -> None:
        self.declared, self.name = declared, name
        self.ledgers: list[Ledger] = []
        self.cursors: dict[str, Cursor] = {}
        self.heap = SlowestFirst()
        #: Index of the next entry.
        self.end = 0
        self.bytes = 0
        #: Open transactions → index of the first entry of each; all of their entries; those that ended.
        self.open: dict[int, int] = {}
        self.in_transaction: dict[int, list[int]] = {}
        self.ended: set[int] = set()
        #: Entries that no consumer gets: markers of ends, and what was aborted.
        self.withheld: set[int] = set()
        self._firsts: list[int] = []

    def open_ledger(self, ledger_id: int) -> Ledger:
        """A new ledger for entries to come."""
        ledger = Ledger(ledger_id, self.end)
        self.ledgers.append(ledger)
        self._firsts.append(self.end)
        return ledger

    def drop_first(self) -> Ledger:
        """The oldest ledger is trimmed."""
        self._firsts.pop(0)
        ledger = self.ledgers.pop(0)
        self.bytes -= ledger.bytes
        return ledger

    def append(self, size_bytes: int, msgs: int, publish_ms: int, due_ns: int) -> int:
        """Persist an entry in the open ledger (`due_ns` 0: not delayed); its number in the ledger."""
        ledger = self.ledgers[-1]
        if due_ns:
            ledger.due_ns[self.end] = due_ns
        ledger.entry_bytes.append(size_bytes)
        ledger.msgs.append(msgs)
        ledger.publish_ms.append(publish_ms)
        ledger.bytes += size_bytes
        self.bytes += size_bytes
        self.end += 1
        return len(ledger.entry_bytes) - 1

    def ledger_of(self, index: int) -> Ledger:
        """The ledger that holds the entry; the first one for an entry that was trimmed."""
        firsts = self._firsts
        if index >= firsts[-1]:
            return self.ledgers[-1]
        if len(firsts) > 1 and firsts[0] <= index < firsts[1]:
            return self.ledgers[0]
        return self.ledgers[max(0, bisect_right(firsts, index) - 1)]

    def position_of(self, index: int) -> Position:
        """(ledger, entry) of an index; before the first entry: (first ledger, −1)."""
        ledger = self.ledger_of(index)
        return ledger.id, max(index - ledger.first, -1)

    @property
    def readable_end(self) -> int:
        """Dispatchers read up to here: behind the last entry before the lowest open transaction (maxReadPosition)."""
        return min(self.open.values()) if self.open else self.end

    def key_of(self, index: int) -> int:
        """The key of an entry; −1 where it has none, as a marker."""
        return self.ledger_of(index).keys.get(index, -1)

    def backlog(self, cursor: Cursor) -> int:
        """Entries that are not acknowledged."""
        return self.end - 1 - cursor.mark - len(cursor.acked)

    def backlog_size(self) -> int:
        """Bytes behind the slowest cursor as the broker estimates them (semantics §2.3)."""
        if not self.heap.cursors:
            return 0
        return self.size_behind(self.heap.cursors[0].position)

    def size_behind(self, position: Position) -> int:
        """Bytes behind a position: the consumed part of its ledger by the integer average of an entry."""
        size = self.bytes
        for ledger in self.ledgers:
            if ledger.id < position[0]:
                size -= ledger.bytes
            elif ledger.id == position[0]:
                entries, consumed = len(ledger), position[1] + 1
                if entries:
                    size -= ledger.bytes if consumed >= entries else consumed * (ledger.bytes // entries)
                break
            else:
                break
        return size
