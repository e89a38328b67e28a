"""A topic from its load to its unload: it takes entries, rolls and trims ledgers, and has subscriptions and quotas."""

from functools import partial
from typing import TYPE_CHECKING

from sim.agenda import NS_PER_MS, NS_PER_S, ns
from sim.chance import stream
from sim.limiters import Limiter
from sim.producer import Producer
from sim.quotas import decide, evict
from sim.scenario import Limit, LimitChange
from sim.storage import Cursor, StoredTopic
from sim.subscription import LiveSubscription
from sim.transactions import Transactions

if TYPE_CHECKING:
    from sim.broker import Process

#: Clients come back this long after their topic was loaded.
CLIENTS_AFTER_NS = 20 * NS_PER_MS
#: An unloaded topic is loaded again after this time.
LOADED_AGAIN_NS = NS_PER_S
#: Size of the entry that ends a transaction.
MARKER_BYTES = 56


class LiveTopic:
    """A loaded topic."""

    def __init__(self, process: "Process", stored: StoredTopic, loads: int) -> None:
        self.process, self.stored, self.declared, self.name = process, stored, stored.declared, stored.name
        self.loads = loads
        self.json = f'"topic":"{stored.name}"'
        self.limiter: Limiter | None = None
        self.subscriptions: list[LiveSubscription] = []
        self.closed = False
        self.evictions = {"destination_storage": 0, "message_age": 0}
        #: What the last quota check saw, before its action; None: no check yet.
        self.checked_bytes: int | None = None
        self.producer = Producer(self, self.declared.publish)
        self.transactions = Transactions(self)
        self._is_keyed = any(one.type == "Key_Shared" for one in self.declared.subscriptions)
        self._keys = stream(process.seed, process.name, process.epoch_ms, self.name, loads, "keys")

    # ---- load and unload -----------------------------------------------------------------------------------------------------------
    def load(self) -> None:
        """Report what storage has, apply the policies, and let clients come."""
        log, agenda = self.process.log, self.process.agenda
        log.add(f'"topic_load",{self.json}')
        self._load_ledgers()
        self._load_cursors()
        self.transactions.tell_open()
        quotas = self.declared.quotas
        for kind, limit, policy in (
            ("destination_storage", quotas.size_bytes, quotas.size_policy),
            ("message_age", quotas.age_s, quotas.age_policy),
        ):
            log.add(f'"backlog_quota",{self.json},"quota_type":"{kind}","limit":{limit},"policy":"{policy}"')
        limit_now = self.limit_now(self.declared.limit, self.declared.limit_changes)
        if limit_now.msg_rate > 0 or limit_now.byte_rate > 0:
            self._apply(limit_now.msg_rate, limit_now.byte_rate, limit_now.period_s)
        for change in self.declared.limit_changes:
            if ns(change.at_s) > agenda.now_ns:
                agenda.at(ns(change.at_s), partial(self._apply, change.msg_rate, change.byte_rate, change.period_s))
        agenda.at(agenda.now_ns + CLIENTS_AFTER_NS, self._clients_come)

    def _load_ledgers(self) -> None:
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

    def _load_cursors(self) -> None:
        stored, log = self.stored, self.process.log
        new = not stored.cursors
        if new:
            for declared in self.declared.subscriptions:
                cursor = Cursor(declared.name, stored.end - 1, stored.position_of(stored.end - 1))
                stored.cursors[declared.name] = cursor
                stored.heap.add(cursor)
        declared_by_name = {declared.name: declared for declared in self.declared.subscriptions}
        for cursor in stored.heap.cursors:
            live = LiveSubscription(self, declared_by_name[cursor.name], cursor)
            self.subscriptions.append(live)
            ledger, entry = cursor.persisted
            more = "" if new else (f',"entries":{len(cursor.acked)}' if cursor.acked else "") + ',"snapshot":true'
            log.add(f'"cursor_open",{live.json},"durable":true,"ledger":{ledger},"entry":{entry}{more}')
            live.settle()

    def _clients_come(self) -> None:
        if not self.closed:
            for subscription in self.subscriptions:
                subscription.start()
            self.producer.connect()
            self.transactions.start()

    def unload(self, again: bool) -> None:
        """Drop the topic; `again`: it is loaded again a little later."""
        for subscription in self.subscriptions:
            subscription.persist()
            subscription.close()
        self.producer.close()
        self.closed = True
        self.process.log.add(f'"topic_unload",{self.json}')
        if again:
            self.process.agenda.at(self.process.agenda.now_ns + LOADED_AGAIN_NS, self.process.load, self.stored)

    # ---- limits --------------------------------------------------------------------------------------------------------------------
    def limit_now(self, limit: Limit, changes: tuple[LimitChange, ...]) -> Limit:
        """The rates in force: the latest change before now, or the first ones."""
        past = [change for change in changes if ns(change.at_s) <= self.process.agenda.now_ns]
        return max(past, key=lambda change: change.at_s) if past else limit

    def _apply(self, msg_rate: int, byte_rate: int, period_s: int) -> None:
        if self.closed:
            return
        if self.limiter is None:
            self.limiter = Limiter(self.process.brokers.limiter)
        self.process.apply_rate(self.limiter, "topic", self.json + ",", (msg_rate, byte_rate, period_s))

    # ---- entries -------------------------------------------------------------------------------------------------------------------
    def append(self, size_bytes: int, msgs: int, due_ns: int, transaction: int | None = None) -> None:
        """An entry is published, maybe in a transaction."""
        self._persist(size_bytes, msgs, due_ns)
        if transaction is not None:
            self.transactions.persisted(transaction)
        self._tell_dispatchers()

    def append_marker(self, transaction: int) -> None:
        """The marker of a transaction's end is persisted."""
        self._persist(MARKER_BYTES, 1, 0)
        self.transactions.marked(transaction)
        self._tell_dispatchers()

    def _persist(self, size_bytes: int, msgs: int, due_ns: int) -> None:
        stored, log = self.stored, self.process.log
        publish_ms = self.process.true_ms()
        if self._is_keyed:
            stored.ledgers[-1].keys[stored.end] = self._keys.randrange(self.declared.publish.keys)
        entry = stored.append(size_bytes, msgs, publish_ms, due_ns)
        log.add(
            f'"publish",{self.json},"ledger":{stored.ledgers[-1].id},"entry":{entry},"msgs":{msgs},"bytes":{size_bytes},"publish_ts":{publish_ms}'
        )

    def _tell_dispatchers(self) -> None:
        for subscription in self.subscriptions:
            if subscription.dispatcher is not None:
                subscription.dispatcher.published()
            subscription.settle()
        if len(self.stored.ledgers[-1]) >= self.declared.ledger_entries:
            self._roll()

    def _roll(self) -> None:
        ledger = self.stored.ledgers[-1]
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

    # ---- quotas --------------------------------------------------------------------------------------------------------------------
    def refuses_producers(self) -> bool:
        """Whether a quota with a producer policy is exceeded now."""
        quotas, wall_ms = self.declared.quotas, self.process.wall_ms()
        size, age = decide(self.stored, quotas, self.process.brokers.precise_age, wall_ms)
        return (size and quotas.size_policy.startswith("producer")) or (age and quotas.age_policy.startswith("producer"))

    def check(self, round_began_us: int) -> None:
        """The quota check of a round, with its action."""
        stored, quotas, log = self.stored, self.declared.quotas, self.process.log
        precise = self.process.brokers.precise_age
        at_ns = log.stamp()
        wall_ms = self.process.clock.us_at(at_ns) // 1000
        size, age = decide(stored, quotas, precise, wall_ms)
        self.checked_bytes = stored.backlog_size()
        for subscription in self.subscriptions:
            subscription.checked_entries = stored.backlog(subscription.cursor)
        if size or age:
            kind, limit, policy = (
                ("destination_storage", quotas.size_bytes, quotas.size_policy) if size else ("message_age", quotas.age_s, quotas.age_policy)
            )
            log.write(at_ns, f'"quota_exceeded",{self.json},"quota_type":"{kind}","policy":"{policy}","limit":{limit}')
            if policy == "consumer_backlog_eviction":
                self.evictions[kind] += 1
                evict(self, kind, precise, wall_ms)
            else:
                self.producer.cut_off()
            at_ns = log.stamp()
        took_us = self.process.clock.us_at(at_ns) - round_began_us
        log.write(at_ns, f'"quota_check",{self.json},"duration_us":{max(0, took_us)}')
