"""What a broker does with the ledgers of a topic from its load to its unload: it adds entries, rolls to the next ledger, and trims."""

from sim.chance import stream
from sim.process import Process
from sim.storage import StoredTopic


class ManagedLedger:
    """The ledgers of a loaded topic; `loads`: topics that its process has loaded so far."""

    def __init__(self, process: Process, stored: StoredTopic, loads: int) -> None:
        self.process, self.stored, self.declared, self.name = process, stored, stored.declared, stored.name
        self.loads = loads
        self.json = f'"topic":"{stored.name}"'
        #: The topic is unloaded.
        self.closed = False
        self._is_keyed = any(one.type == "Key_Shared" for one in self.declared.subscriptions)
        self._keys = stream(process.seed, process.name, process.epoch_ms, self.name, loads, "keys")

    def load(self) -> None:
        """Report the ledgers that storage has, and open one."""
        stored, log = self.stored, self.process.log
        if stored.ledgers:
            stored.ledgers[-1].close_ms = self.process.wall_ms()
        for ledger in stored.ledgers:
            log.add(
                f'"ledger_close",{self.json},"ledger":{ledger.id},"entries":{len(ledger)},"bytes":{ledger.bytes},'
                f'"close_ts":{ledger.close_ms},"snapshot":true'
            )
        opened = stored.open_ledger(self.process.next_ledger())
        log.add(f'"ledger_open",{self.json},"ledger":{opened.id},"snapshot":true')

    def append(self, size_bytes: int, msgs: int, due_ns: int) -> None:
        """Persist an entry (`due_ns` 0: not delayed)."""
        stored = self.stored
        publish_ms = self.process.true_ms()
        if self._is_keyed:
            stored.ledgers[-1].keys[stored.end] = self._keys.randrange(self.declared.publish.keys)
        entry = stored.append(size_bytes, msgs, publish_ms, due_ns)
        self.process.log.add(
            f'"publish",{self.json},"ledger":{stored.ledgers[-1].id},"entry":{entry},"msgs":{msgs},"bytes":{size_bytes},"publish_ts":{publish_ms}'
        )

    def roll_if_full(self) -> None:
        """Close a ledger that has all the entries that it may have, open the next one, and trim."""
        ledger = self.stored.ledgers[-1]
        if len(ledger) < self.declared.ledger_entries:
            return
        ledger.close_ms = self.process.wall_ms()
        self.process.log.add(
            f'"ledger_close",{self.json},"ledger":{ledger.id},"entries":{len(ledger)},"bytes":{ledger.bytes},"close_ts":{ledger.close_ms}'
        )
        opened = self.stored.open_ledger(self.process.next_ledger())
        self.process.log.add(f'"ledger_open",{self.json},"ledger":{opened.id}')
        self.trim()

    def trim(self) -> None:
        """Remove ledgers that lie before every cursor."""
        stored = self.stored
        if stored.heap.cursors:
            first_needed = stored.heap.cursors[0].persisted[0]
            while len(stored.ledgers) > 1 and stored.ledgers[0].id < first_needed:
                ledger = stored.drop_first()
                self.process.log.add(f'"ledger_trim",{self.json},"ledger":{ledger.id}')
