"""Transactions of a loaded topic. While one is open nobody reads beyond the entry before the first message of the lowest one.

As a broker of 4.0 has it: `transaction` reports what clients do, `transaction_open` follows the first message and `transaction_end` the
marker.
"""

from collections.abc import Callable

from sim.agenda import NS_PER_MS, NS_PER_S, ns
from sim.chance import Stream, stream
from sim.managed_ledger import ManagedLedger
from sim.producer import Producer

#: The marker is persisted this long after a client has ended the transaction.
MARKER_AFTER_NS = 10 * NS_PER_MS
#: Size of the entry that ends a transaction.
MARKER_BYTES = 56


class Transactions:
    """What clients do in transactions while the topic is loaded. A number is a transaction's place in the scenario.

    `appended` is called after each entry.
    """

    def __init__(self, ledger: ManagedLedger, producer: Producer, appended: Callable[[], None]) -> None:
        self.ledger, self.stored, self.process = ledger, ledger.stored, ledger.process
        self.declared = ledger.declared.transactions
        self._producer, self._appended = producer, appended

    def start(self) -> None:
        """Plan what is to come. One whose end has passed while the topic was not loaded ends now."""
        agenda, stored = self.process.agenda, self.stored
        for number, declared in enumerate(self.declared):
            if number in stored.ended or (ns(declared.to_s) <= agenda.now_ns and number not in stored.open):
                continue
            names = (
                self.process.seed,
                self.process.name,
                self.process.epoch_ms,
                self.ledger.name,
                self.ledger.loads,
                "transaction",
                number,
            )
            agenda.at(ns(declared.from_s), self._publish, number, stream(*names))
            agenda.at(ns(declared.to_s), self._end, number)

    def tell_open(self) -> None:
        """A topic that is loaded finds these open: each has its `transaction_open` again."""
        for number, _ in sorted(self.stored.open.items(), key=lambda item: item[1]):
            self._tell_begin(number)

    # ---- what clients do -----------------------------------------------------------------------------------------------------------
    def _publish(self, number: int, chance: Stream) -> None:
        declared, now_ns = self.declared[number], self.process.agenda.now_ns
        if self.ledger.closed or number in self.stored.ended or now_ns >= ns(declared.to_s):
            return
        if self._producer.open:
            publish = self.ledger.declared.publish
            self._tell("publish")
            self.ledger.append(chance.randint(*publish.entry_bytes), publish.msgs_per_entry, 0)
            self._persisted(number)
            self._appended()
        if declared.entries_per_s:
            self.process.agenda.at(now_ns + round(chance.expovariate(declared.entries_per_s) * NS_PER_S), self._publish, number, chance)

    def _end(self, number: int) -> None:
        if not self.ledger.closed and number in self.stored.open:
            self._tell(self.declared[number].ends)
            self.process.agenda.at(self.process.agenda.now_ns + MARKER_AFTER_NS, self._mark, number)

    def _mark(self, number: int) -> None:
        if not self.ledger.closed:
            self.ledger.append(MARKER_BYTES, 1, 0)
            self._marked(number)
            self._appended()

    # ---- what the topic has of it --------------------------------------------------------------------------------------------------
    def _persisted(self, number: int) -> None:
        """The entry that was persisted last is one of this transaction: maybe its first."""
        stored = self.stored
        stored.in_transaction.setdefault(number, []).append(stored.end - 1)
        if number not in stored.open:
            stored.open[number] = stored.end - 1
            self._tell_begin(number)

    def _marked(self, number: int) -> None:
        """The entry that was persisted last is the marker: the transaction is open no more. What is aborted goes to nobody."""
        stored, declared = self.stored, self.declared[number]
        del stored.open[number]
        stored.ended.add(number)
        stored.withheld.add(stored.end - 1)
        if declared.ends == "abort":
            stored.withheld.update(stored.in_transaction[number])
        if self.process.tells_states:
            of = f'{self.ledger.json},"txn_most_bits":0,"txn_least_bits":{number}'
            self.process.log.add(f'"transaction_end",{of},"transaction_action":"{declared.ends}"{self._left()}')

    # ---- events --------------------------------------------------------------------------------------------------------------------
    def state(self) -> str:
        """Members of `topic_state`."""
        if not self.stored.open:
            return ',"open_transactions":0'
        lowest = min(self.stored.open, key=self.stored.open.__getitem__)
        return f'{self._left()},"txn_most_bits":0,"txn_least_bits":{lowest}'

    def _tell(self, action: str) -> None:
        if self.process.tells_causes:
            self.process.log.add(f'"transaction",{self.ledger.json},"transaction_action":"{action}"')

    def _tell_begin(self, number: int) -> None:
        if self.process.tells_states:
            ledger, entry = self.stored.position_of(self.stored.open[number])
            of = f'{self.ledger.json},"txn_most_bits":0,"txn_least_bits":{number}'
            self.process.log.add(f'"transaction_open",{of},"ledger":{ledger},"entry":{entry}{self._left()}')

    def _left(self) -> str:
        ledger, entry = self.stored.position_of(self.stored.readable_end - 1)
        return f',"max_read_ledger":{ledger},"max_read_entry":{entry},"open_transactions":{len(self.stored.open)}'
