"""What waits for a subscription: entries and bytes published beyond its read position (docs/throttling.md, Binding and nominal)."""

from dataclasses import dataclass, field

Place = tuple[int, int]


@dataclass
class Ledger:
    """A ledger that is known: the (entries, bytes) published before it, and every entry's share of its own."""

    before: Place
    entries: int = 0
    bytes: int = 0

    def upto(self, entry: int) -> Place:
        """(entries, bytes) of the topic up to and including `entry`; a part of a ledger counts its integer average."""
        if entry + 1 >= self.entries:
            return self.before[0] + self.entries, self.before[1] + self.bytes
        return self.before[0] + entry + 1, self.before[1] + (entry + 1) * (self.bytes // self.entries)


@dataclass
class Cursor:
    """Where a subscription reads and where its mark-delete position stands, both on the topic's scale."""

    read: Place
    deleted: Place


@dataclass
class TopicBacklog:
    """The ledgers of one loaded topic and the positions of its subscriptions."""

    published: Place = (0, 0)
    ledgers: dict[int, Ledger] = field(default_factory=dict)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    consumers: dict[str, int] = field(default_factory=dict)

    def open_ledger(self, ledger: int) -> Ledger:
        """A ledger becomes known, empty, at the end of what is published."""
        return self.ledgers.setdefault(ledger, Ledger(self.published))

    def append(self, ledger: int, entries: int, size: int) -> None:
        """More entries in `ledger`."""
        known = self.open_ledger(ledger)
        known.entries += entries
        known.bytes += size
        self.published = (self.published[0] + entries, self.published[1] + size)

    def snapshot_ledger(self, ledger: int, entries: int, size: int) -> None:
        """A ledger that came closed with its totals, unless it is known already."""
        if ledger not in self.ledgers:
            self.append(ledger, entries, size)

    def trim(self, ledger: int) -> None:
        """A ledger is forgotten; what was published stays published."""
        self.ledgers.pop(ledger, None)

    def meet(self, sub: str) -> Cursor:
        """The subscription's cursor; one that nobody opened starts where the published entries stand now."""
        return self.cursors.setdefault(sub, Cursor(self.published, self.published))

    def open_cursor(self, sub: str, ledger: int, entry: int, deleted: int) -> None:
        """A cursor at its mark-delete position, with `deleted` individually deleted entries behind it."""
        self.consumers[sub] = 0
        self.cursors.pop(sub, None)
        cursor = self.meet(sub)
        known = self.ledgers.get(ledger)
        if known is not None:
            cursor.deleted = known.upto(entry)
            average = known.bytes // known.entries if known.entries else 0
            cursor.read = self.within((cursor.deleted[0] + deleted, cursor.deleted[1] + deleted * average))

    def within(self, place: Place) -> Place:
        """The place, but never beyond what is published; at all entries it is at all bytes."""
        if place[0] >= self.published[0]:
            return self.published
        return place[0], min(place[1], self.published[1])

    def dispatch(self, sub: str, entries: int, size: int) -> None:
        """A delivery moves the read position."""
        cursor = self.meet(sub)
        cursor.read = self.within((cursor.read[0] + entries, cursor.read[1] + size))

    def mark_delete(self, sub: str, ledger: int, entry: int, *, persisted: bool, reset: bool) -> None:
        """The mark-delete position moved in memory: a seek puts the read position there, any other only pushes it forward."""
        cursor = self.meet(sub)
        known = self.ledgers.get(ledger)
        if persisted or known is None:
            return
        cursor.deleted = known.upto(entry)
        if reset or cursor.deleted[0] > cursor.read[0]:
            cursor.read = self.within(cursor.deleted)

    def open_consumer(self, sub: str) -> None:
        """One more consumer."""
        self.meet(sub)
        self.consumers[sub] = self.consumers.get(sub, 0) + 1

    def close_consumer(self, sub: str) -> None:
        """One consumer less; when none is left the broker rewinds the cursor to its mark-delete position."""
        cursor = self.meet(sub)
        self.consumers[sub] = max(0, self.consumers.get(sub, 0) - 1)
        if self.consumers[sub] == 0:
            cursor.read = self.within(cursor.deleted)

    def waiting(self, sub: str) -> Place:
        """Entries and bytes waiting beyond the read position; nothing waits for a cursor that was closed."""
        if sub not in self.cursors:
            return 0, 0
        read = self.cursors[sub].read
        return max(0, self.published[0] - read[0]), max(0, self.published[1] - read[1])
