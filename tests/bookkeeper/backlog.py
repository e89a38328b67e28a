"""What waits for a subscription: entries and bytes published beyond its read position (docs/design/throttling.md, Binding and nominal)."""

from dataclasses import dataclass, field

Place = tuple[int, int]

#: That a cursor is gone is forgotten after so long.
GONE_FOR_US = 600_000_000


@dataclass
class Ledger:
    """A ledger of the topic's life; one that was trimmed still counts for what lies before later ones."""

    id: int
    entries: int = 0
    bytes: int = 0
    trimmed: bool = False


@dataclass
class Cursor:
    """Where a subscription reads and where its mark-delete position stands, both on the topic's scale."""

    read: Place
    deleted: Place


@dataclass
class TopicBacklog:
    """The ledgers of one loaded topic, in any order, and the positions of its subscriptions."""

    life: list[Ledger] = field(default_factory=list)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    consumers: dict[str, int] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)  # whose cursor is there
    gone: dict[str, int] = field(default_factory=dict)  # whose cursor ended, and when: ts in µs
    doubted: set[str] = field(default_factory=set)  # of these: something was lost since, and it may have come back

    @property
    def published(self) -> Place:
        """Everything that the topic ever had."""
        return sum(ledger.entries for ledger in self.life), sum(ledger.bytes for ledger in self.life)

    def known(self, ledger: int) -> Ledger | None:
        """The ledger, if it is in the topic's list."""
        return next((one for one in self.life if one.id == ledger and not one.trimmed), None)

    def open_ledger(self, ledger: int) -> Ledger:
        """A ledger becomes known, empty."""
        if self.known(ledger) is None:
            self.life.append(Ledger(ledger))
        found = self.known(ledger)
        assert found is not None
        return found

    def publish(self, ledger: int, entry: int, size: int) -> None:
        """An entry. Those before it in its ledger were published, too; an entry that is known is a repeat."""
        found = self.open_ledger(ledger)
        if entry >= found.entries:
            found.entries = entry + 1
            found.bytes += size

    def close_ledger(self, ledger: int, entries: int, size: int) -> None:
        """A ledger's totals: they count, whatever was seen of it."""
        found = self.open_ledger(ledger)
        found.entries, found.bytes = entries, size

    def trim(self, ledger: int) -> None:
        """A ledger leaves the list; what was published stays published."""
        found = self.known(ledger)
        if found is not None:
            found.trimmed = True

    def upto(self, ledger: Ledger, entry: int) -> Place:
        """(entries, bytes) of the topic up to and including `entry`; a part of a ledger counts its integer average."""
        before = [one for one in self.life if one.id < ledger.id]
        entries, size = sum(one.entries for one in before), sum(one.bytes for one in before)
        if entry + 1 >= ledger.entries:
            return entries + ledger.entries, size + ledger.bytes
        return entries + entry + 1, size + (entry + 1) * (ledger.bytes // ledger.entries)

    def meet(self, sub: str) -> Cursor:
        """The subscription's cursor; one that nobody opened starts where the published entries stand now."""
        return self.cursors.setdefault(sub, Cursor(self.published, self.published))

    def meets(self, sub: str) -> bool:
        """Whether there is a cursor, opened in the log or not: of one that is gone threads of the broker may write later."""
        if sub not in self.opened and (sub not in self.gone or sub in self.doubted):
            self._begin(sub)
        return sub in self.opened

    def _begin(self, sub: str) -> None:
        self.opened.add(sub)
        self.gone.pop(sub, None)

    def end_cursor(self, sub: str, ts: int) -> None:
        """The cursor is gone."""
        self.opened.discard(sub)
        self.gone[sub] = ts
        self.doubted.discard(sub)

    def close_cursor(self, sub: str, ts: int) -> None:
        """Unsubscribed, or a reader that left."""
        self.end_cursor(sub, ts)
        self.cursors.pop(sub, None)

    def unloaded(self, ts: int) -> "TopicBacklog":
        """What is left of the topic: which cursors are gone."""
        left = TopicBacklog(gone=dict(self.gone), doubted=set(self.doubted))
        for sub in self.opened:
            left.end_cursor(sub, ts)
        return left

    def forget_gone(self, before_ts: int) -> None:
        """Which cursors ended before that time is forgotten, and what was written of them since."""
        for sub in [sub for sub, ts in self.gone.items() if ts < before_ts]:
            del self.gone[sub]
            self.cursors.pop(sub, None)
            self.consumers.pop(sub, None)

    def open_cursor(self, sub: str, ledger: int, entry: int, deleted: int) -> None:
        """A cursor at its mark-delete position, with `deleted` individually deleted entries behind it."""
        self._begin(sub)
        self.consumers[sub] = 0
        self.cursors.pop(sub, None)
        cursor = self.meet(sub)
        known = self.known(ledger)
        if known is not None:
            cursor.deleted = self.upto(known, entry)
            average = known.bytes // known.entries if known.entries else 0
            cursor.read = self.within((cursor.deleted[0] + deleted, cursor.deleted[1] + deleted * average))

    def within(self, place: Place) -> Place:
        """The place, but never beyond what is published; at all entries it is at all bytes."""
        if place[0] >= self.published[0]:
            return self.published
        return place[0], min(place[1], self.published[1])

    def dispatch(self, sub: str, entries: int, size: int) -> None:
        """A delivery moves the read position."""
        self.meets(sub)
        cursor = self.meet(sub)
        cursor.read = self.within((cursor.read[0] + entries, cursor.read[1] + size))

    def mark_delete(self, sub: str, ledger: int, entry: int, *, persisted: bool, reset: bool) -> None:
        """The mark-delete position moved in memory: a seek puts the read position there, any other only pushes it forward."""
        if not self.meets(sub):
            return
        cursor, known = self.meet(sub), self.known(ledger)
        if persisted or known is None:
            return
        cursor.deleted = self.upto(known, entry)
        if reset or cursor.deleted[0] > cursor.read[0]:
            cursor.read = self.within(cursor.deleted)

    def open_consumer(self, sub: str) -> None:
        """One more consumer."""
        self.meets(sub)
        self.meet(sub)
        self.consumers[sub] = self.consumers.get(sub, 0) + 1

    def close_consumer(self, sub: str) -> None:
        """One consumer less; when none is left the broker rewinds the cursor to its mark-delete position."""
        if not self.meets(sub):
            return
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
