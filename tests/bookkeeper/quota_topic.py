"""A loaded topic as its broker knows it: ledgers, cursors, the oldest position (semantics 2.1 to 2.4). Slow and obvious."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from bookkeeper.quota_heap import Position, SlowestHeap

#: Cursors that are no subscriptions: deduplication and replication. They are in the heap, but nobody's backlog (2.4 step 1).
NO_SUBSCRIPTION = ("pulsar.dedup", "pulsar.repl")
#: What is known of an entry: publish time (ms), messages in it.
Entry = tuple[int, int]
#: ledger → entry → facts. Outlives loads and epochs, goes with a trimmed ledger.
History = dict[int, dict[int, Entry]]


@dataclass
class Ledger:
    """`close_ts` (ms) is None while it is the open one; `size` in bytes."""

    entries: int = 0
    size: int = 0
    close_ts: int | None = None


@dataclass
class Cursor:
    """`mark` is the mark-delete position in memory; `deleted` the individually acknowledged entries beyond it.

    `unknown_deleted` counts entries that a snapshot says are deleted without saying which. `asked` is the greatest cumulative ack.
    """

    durable: bool
    mark: Position
    deleted: set[Position] = field(default_factory=set)
    unknown_deleted: int = 0
    asked: Position = (-1, -1)

    def clone(self) -> "Cursor":
        return replace(self, deleted=set(self.deleted))


@dataclass(frozen=True)
class Oldest:
    """What the broker cached at its last look: at which position of which cursor it looked, and the timestamp (ms) it found."""

    position: Position
    name: str
    ts_ms: int | None


@dataclass
class Topic:
    """State of one load of a topic. All of it, but for `history`, goes with an unload."""

    history: History
    complete: bool = True
    last_confirmed: Position = (-1, -1)
    ledgers: dict[int, Ledger] = field(default_factory=dict)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    heap: SlowestHeap = field(default_factory=SlowestHeap)
    producers: set[Any] = field(default_factory=set)
    quotas: dict[str, tuple[int, str]] = field(default_factory=dict)
    oldest: Oldest | None = None
    evictions_size: int = 0
    evictions_time: int = 0

    def clone(self) -> "Topic":
        """A copy to try an eviction on; the facts about entries are shared."""
        return replace(
            self,
            ledgers={number: replace(ledger) for number, ledger in self.ledgers.items()},
            cursors={name: cursor.clone() for name, cursor in self.cursors.items()},
            heap=self.heap.clone(),
            producers=set(self.producers),
            quotas=dict(self.quotas),
        )

    # ---- positions -------------------------------------------------------------------------------------------------------------

    def total_size(self) -> int:
        return sum(ledger.size for ledger in self.ledgers.values())

    def entries_after(self, mark: Position) -> Iterator[Position]:
        """Every entry of the ledgers that still exist, in order, beyond `mark`."""
        for number in sorted(self.ledgers):
            if number >= mark[0]:
                first = mark[1] + 1 if number == mark[0] else 0
                for entry in range(first, self.ledgers[number].entries):
                    yield number, entry

    def count_after(self, mark: Position) -> int:
        return sum(
            max(0, ledger.entries - (mark[1] + 1)) if number == mark[0] else ledger.entries
            for number, ledger in self.ledgers.items()
            if number >= mark[0]
        )

    def next_valid(self, mark: Position) -> Position | None:
        """The entry right behind `mark`, over empty and trimmed ledgers; individually acknowledged ones are not skipped."""
        return next(self.entries_after(mark), None)

    # ---- sizes and counts ------------------------------------------------------------------------------------------------------

    def size_from(self, mark: Position) -> int:
        """The broker's estimate of the bytes behind `mark`: the consumed part of its ledger counts as entries × integer average."""
        size = self.total_size() - sum(ledger.size for number, ledger in self.ledgers.items() if number < mark[0])
        ledger = self.ledgers.get(mark[0])
        if ledger is None or ledger.entries <= 0:
            return size
        if ledger.entries <= mark[1] + 1:
            return size - ledger.size
        return size - max(0, mark[1] + 1) * (ledger.size // ledger.entries)

    def backlog_size(self) -> int:
        """From the mark-delete in memory of the cursor whose persisted one is lowest; 0 without a durable cursor.

        Seen on a broker: in between a move in memory and its persisted one, only the one in memory gives its size.
        """
        root = self.heap.root()
        return 0 if root is None else self.size_from(self.cursors[root].mark)

    def subscription_size(self, cursor: Cursor, *, less_deleted: bool) -> int:
        """As `backlogSize` of a subscription; newer brokers take off the individually deleted at the average of what lies behind.

        Seen on 4.0.8: nothing is taken off, whatever 2.3 says of the heads of the branches.
        """
        size = self.size_from(cursor.mark)
        entries, deleted = self.count_after(cursor.mark), self.deleted_after(cursor)
        if not less_deleted or deleted == 0 or entries <= deleted:
            return size
        return size - deleted * (size // entries)

    def deleted_after(self, cursor: Cursor) -> int:
        return cursor.unknown_deleted + sum(
            1 for ledger, entry in cursor.deleted if ledger in self.ledgers and entry < self.ledgers[ledger].entries
        )

    def backlog_entries(self, cursor: Cursor) -> int:
        """Also what 2.3 calls imprecise. Seen on 4.0.8: entries added less entries consumed is the same number in every capture."""
        return max(0, self.count_after(cursor.mark) - self.deleted_after(cursor))

    def oldest_unacknowledged(self, cursor: Cursor) -> Position | None:
        return next((position for position in self.entries_after(cursor.mark) if position not in cursor.deleted), None)

    def backlog_messages(self, cursor: Cursor) -> int | None:
        """None if an entry is from before the log, or if it is not known which entries are deleted: but for a backlog of none."""
        if self.backlog_entries(cursor) == 0:
            return 0
        known = [self.fact(position) for position in self.entries_after(cursor.mark) if position not in cursor.deleted]
        if cursor.unknown_deleted or None in known:
            return None
        return sum(fact[1] for fact in known if fact is not None)

    def fact(self, position: Position) -> Entry | None:
        return self.history.get(position[0], {}).get(position[1])

    def publish_ts(self, position: Position | None) -> int | None:
        fact = None if position is None else self.fact(position)
        return None if fact is None else fact[0]

    def subscriptions(self) -> dict[str, Cursor]:
        """Cursors that are subscriptions: readers and compaction too."""
        return {name: cursor for name, cursor in self.cursors.items() if not name.startswith(NO_SUBSCRIPTION)}

    # ---- cursors ---------------------------------------------------------------------------------------------------------------

    def set_mark(self, cursor: Cursor, position: Position) -> None:
        """The mark-delete in memory moved to `position`: what is individually deleted at or before it is forgotten."""
        cursor.mark = position
        cursor.deleted = {deleted for deleted in cursor.deleted if deleted > position}

    def forward(self, cursor: Cursor, position: Position) -> None:
        """A skip, cumulative ack or eviction to `position`, then over the entries right behind it that are individually deleted."""
        for following in self.entries_after(position):
            if following not in cursor.deleted:
                break
            position = following
        self.set_mark(cursor, position)

    def after_skip(self, mark: Position, entries: int) -> Position:
        """The position `entries` entries behind `mark`, individually deleted ones included; the last entry if there are fewer."""
        reached = mark
        for position in self.entries_after(mark):
            if entries == 0:
                break
            reached, entries = position, entries - 1
        return reached

    # ---- the oldest position ---------------------------------------------------------------------------------------------------

    def look_up_oldest(self, precise: bool) -> bool:
        """Steps of 2.4; False if the broker could not read the entry: then nothing is stored and this check decides nothing.

        Seen on brokers: once per check, before its action, so name and timestamp of what an eviction removed stay until the next check.
        """
        root = self.heap.root()
        if root is None or not any(self.backlog_entries(cursor) > 0 for cursor in self.subscriptions().values()):
            self.oldest = None
            return True
        position = self.heap.at[root]
        if self.oldest is not None and self.oldest.position == position and self._still_there(position):
            self.oldest = replace(self.oldest, name=root)
            return True
        if not precise:
            ts_ms = self.close_ts_behind(position)
            self.oldest = None if ts_ms is None else Oldest(position, root, ts_ms)
            return True
        entry = self.next_valid(position)
        if entry is None:
            return False
        self.oldest = Oldest(position, root, self.publish_ts(entry))
        return True

    def _still_there(self, position: Position) -> bool:
        """Whether the position is not before the first one of the ledger list."""
        return bool(self.ledgers) and position >= (min(self.ledgers), -1)

    def close_ts_behind(self, position: Position) -> int | None:
        """Close time of the ledger that holds the first entry behind `position`; None if that is the open one (2.4 step 5)."""
        numbers = sorted(self.ledgers)
        number = position[0]
        if not numbers or number == numbers[-1]:
            return None
        if number not in self.ledgers or position[1] + 1 >= self.ledgers[number].entries:
            behind = self.next_valid(position)
            number = numbers[-1] if behind is None else behind[0]
        close_ts = self.ledgers[number].close_ts
        return close_ts if close_ts is not None and close_ts > 0 else None
