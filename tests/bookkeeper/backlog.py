"""What waits for a subscription: entries and bytes published beyond its read position (docs/throttling.md, Binding and nominal)."""

from dataclasses import dataclass, field


@dataclass
class Ledger:
    """What is known of one ledger."""

    entries: int = 0
    bytes: int = 0


@dataclass
class Cursor:
    """A read position on the scale of published entries, and the mark-delete position, if it is known."""

    entries: int
    bytes: int
    mark: tuple[int, int] | None = None


@dataclass
class TopicBacklog:
    """The ledgers of one loaded topic and the positions of its subscriptions."""

    ledgers: dict[int, Ledger] = field(default_factory=dict)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    consumers: dict[str, int] = field(default_factory=dict)

    @property
    def published(self) -> tuple[int, int]:
        """Entries and bytes of all ledgers known so far, trimmed ones included."""
        return sum(ledger.entries for ledger in self.ledgers.values()), sum(ledger.bytes for ledger in self.ledgers.values())

    def publish(self, ledger: int, size: int) -> None:
        """One more entry in `ledger`."""
        known = self.ledgers.setdefault(ledger, Ledger())
        known.entries += 1
        known.bytes += size

    def snapshot_ledger(self, ledger: int, entries: int, size: int) -> None:
        """A ledger that came closed with its totals."""
        self.ledgers[ledger] = Ledger(entries, size)

    def position(self, ledger: int, entry: int, further: int = 0) -> tuple[int, int]:
        """Where the entry after (ledger, entry), and `further` ones, stand: entries and bytes before that place.

        Whole ledgers count their bytes, a part of one counts its integer average per entry.
        """
        before = sum(known.entries for number, known in self.ledgers.items() if number < ledger)
        own = self.ledgers.get(ledger, Ledger())
        entries = min(before + min(entry + 1, own.entries) + further, self.published[0])
        left, size = entries, 0
        for _, known in sorted(self.ledgers.items()):
            if left >= known.entries:
                size += known.bytes
                left -= known.entries
            else:
                size += left * (known.bytes // known.entries)
                break
        return entries, size

    def met(self, sub: str) -> Cursor:
        """The subscription's cursor; one that nobody opened starts where the published entries stand now."""
        if sub not in self.cursors:
            self.cursors[sub] = Cursor(*self.published)
        return self.cursors[sub]

    def open_cursor(self, sub: str, ledger: int, entry: int, deleted: int) -> None:
        """A cursor at its mark-delete position, with `deleted` individually deleted entries behind it."""
        self.cursors[sub] = Cursor(*self.position(ledger, entry, deleted), mark=(ledger, entry))

    def dispatch(self, sub: str, entries: int, size: int) -> None:
        """A delivery moves the read position, never beyond what is published."""
        cursor, published = self.met(sub), self.published
        cursor.entries = min(cursor.entries + entries, published[0])
        cursor.bytes = min(cursor.bytes + size, published[1])

    def mark_delete(self, sub: str, ledger: int, entry: int, *, persisted: bool, reset: bool) -> None:
        """The mark-delete position moved. The move of a seek in memory sets the read position, others only push it forward."""
        cursor = self.met(sub)
        if not persisted:
            cursor.mark = (ledger, entry)
        place = self.position(ledger, entry)
        if (reset and not persisted) or (not reset and place[0] > cursor.entries):
            cursor.entries, cursor.bytes = place

    def open_consumer(self, sub: str) -> None:
        """One more consumer."""
        self.consumers[sub] = self.consumers.get(sub, 0) + 1

    def close_consumer(self, sub: str) -> None:
        """One consumer less; when none is left the broker rewinds the cursor to its mark-delete position."""
        self.consumers[sub] = max(0, self.consumers.get(sub, 0) - 1)
        cursor = self.met(sub)
        if self.consumers[sub] == 0 and cursor.mark is not None:
            cursor.entries, cursor.bytes = self.position(*cursor.mark)

    def waiting(self, sub: str) -> tuple[int, int]:
        """Entries and bytes waiting beyond the read position."""
        cursor, published = self.met(sub), self.published
        return max(0, published[0] - cursor.entries), max(0, published[1] - cursor.bytes)
