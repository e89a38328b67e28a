"""What a broker does with the cursor of a subscription from the load of its topic to the unload: it reads, acknowledges and persists."""

from sim.agenda import NS_PER_S
from sim.managed_ledger import ManagedLedger
from sim.scenario import Subscription
from sim.storage import Cursor, Position

#: A cursor's position goes to the metadata at most once in this time.
PERSIST_NS = NS_PER_S
#: An entry has this many bytes more than its payload when the broker estimates how many fit.
ENTRY_OVERHEAD_BYTES = 64


class ManagedCursor:
    """The cursor of a subscription on a loaded topic."""

    def __init__(self, ledger: ManagedLedger, declared: Subscription, stored: Cursor) -> None:
        self.ledger, self.declared, self.stored, self.process = ledger, declared, stored, ledger.process
        self.json = f'{ledger.json},"sub":"{declared.name}"'
        #: Its consumers share the entries, and acknowledge them one by one; those of a key go to one of them.
        self.is_shared, self.is_keyed = declared.type != "Exclusive", declared.type == "Key_Shared"
        #: Index of the next entry to read.
        self.read_index = stored.mark + 1
        #: The topic is unloaded, or its process has ended.
        self.closed = False

    def backlog(self) -> int:
        """Entries that are not acknowledged."""
        return self.ledger.stored.backlog(self.stored)

    def is_unacknowledged(self, index: int) -> bool:
        """Whether the entry waits to be acknowledged."""
        return index > self.stored.mark and index not in self.stored.acked

    # ---- reading -------------------------------------------------------------------------------------------------------------------
    def take(self, most_entries: int, most_bytes: int, end: int | None) -> tuple[list[int], list[int]]:
        """The next entries as (indexes to deliver, indexes that are delayed), up to `end`; the read position moves behind them."""
        stored, cursor = self.ledger.stored, self.stored
        end = stored.end if end is None else end
        average = stored.bytes // max(1, stored.end - stored.ledgers[0].first) + ENTRY_OVERHEAD_BYTES
        room = min(most_entries, max(1, most_bytes // average))
        now_ns = self.process.log.now_ns()
        taken: list[int] = []
        delayed: list[int] = []
        index = max(self.read_index, cursor.mark + 1)
        while index < end and len(taken) + len(delayed) < room:
            if index not in cursor.acked:
                is_due = not self.is_shared or stored.ledger_of(index).due_ns.get(index, 0) <= now_ns
                (taken if is_due else delayed).append(index)
            index += 1
        self.read_index = index
        return taken, delayed

    def rewind(self) -> None:
        """What is not acknowledged is read again."""
        self.read_index = self.stored.mark + 1

    # ---- acknowledging -------------------------------------------------------------------------------------------------------------
    def without_withheld(self, indexes: list[int]) -> list[int]:
        """The broker acknowledges what no consumer gets: markers of transactions, and what was aborted. The others of `indexes`."""
        stored = self.ledger.stored
        withheld = [index for index in indexes if index in stored.withheld] if stored.withheld else []
        for index in withheld:
            ledger, entry = stored.position_of(index)
            if self.process.tells_states:
                self.process.log.add(f'"broker_ack",{self.json},"ack_type":"individual","ledger":{ledger},"entry":{entry}')
            self.stored.acked.add(index)
            self.slide(moved_by="broker")
        return [index for index in indexes if index not in stored.withheld] if withheld else indexes

    def slide(self, moved_by: str = "") -> None:
        """Move the mark-delete position over the acknowledged entries that follow it. `moved_by`: who did, if no consumer."""
        self._move(self._slid(self.stored.mark), None, moved_by=moved_by)

    def evict_to(self, mark: int, position: Position | None) -> None:
        """A quota moves the position to `mark` at least (printed as `position`, if given), at once also in the metadata."""
        slid = self._slid(mark)
        self._move(slid, position if slid == mark else None, at_once=True)
        self.read_index = max(self.read_index, self.stored.mark + 1)

    def _slid(self, mark: int) -> int:
        """`mark`, moved over the acknowledged entries that follow."""
        acked = self.stored.acked
        while mark + 1 in acked:
            mark += 1
        return mark

    def _move(self, mark: int, position: Position | None, at_once: bool = False, moved_by: str = "") -> None:
        """Move the mark-delete position, in memory, and in the metadata if it is time."""
        cursor, log = self.stored, self.process.log
        position = position or self.ledger.stored.position_of(mark)
        if mark > cursor.mark or position > cursor.position:
            if cursor.acked:
                if len(cursor.acked) > mark - cursor.mark:
                    cursor.acked.difference_update(range(cursor.mark + 1, mark + 1))
                else:
                    cursor.acked = {index for index in cursor.acked if index > mark}
            cursor.mark, cursor.position = mark, position
            by = f',"moved_by":"{moved_by}"' if moved_by and self.process.tells_states else ""
            log.add(f'"mark_delete",{self.json},"ledger":{position[0]},"entry":{position[1]},"persisted":false{by}')
        if at_once or self.process.agenda.now_ns >= cursor.persisted_ns + PERSIST_NS:
            self.persist()

    def persist(self) -> None:
        """Write the position into the metadata, by which cursors are ordered, if it is another one."""
        cursor = self.stored
        if cursor.persisted != cursor.position:
            cursor.persisted, cursor.persisted_mark, cursor.persisted_ns = cursor.position, cursor.mark, self.process.agenda.now_ns
            self.ledger.stored.heap.moved(cursor)
            ledger, entry = cursor.position
            self.process.log.add(f'"mark_delete",{self.json},"ledger":{ledger},"entry":{entry},"persisted":true')
            self.ledger.trim()
