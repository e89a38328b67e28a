"""A topic from its load to its unload: its ledgers, its subscriptions, those who publish, and its quotas."""

from sim.agenda import NS_PER_MS
from sim.evictions import evict
from sim.limiters import Limiter
from sim.managed_cursor import ManagedCursor
from sim.managed_ledger import ManagedLedger
from sim.process import Process
from sim.producer import Producer
from sim.quotas import decide
from sim.scenario import Limit
from sim.storage import Cursor, StoredTopic
from sim.subscription import LiveSubscription
from sim.transactions import Transactions

#: Clients come back this long after their topic was loaded.
CLIENTS_AFTER_NS = 20 * NS_PER_MS


class LiveTopic:
    """A loaded topic."""

    def __init__(self, process: Process, stored: StoredTopic, loads: int) -> None:
        self.process, self.stored, self.declared, self.name = process, stored, stored.declared, stored.name
        self.ledger = ManagedLedger(process, stored, loads)
        self.json = self.ledger.json
        self.limiter = Limiter(process.brokers.limiter)
        self.subscriptions: list[LiveSubscription] = []
        self.evictions = {"destination_storage": 0, "message_age": 0}
        #: What the last quota check saw, before its action; None: no check yet.
        self.checked_bytes: int | None = None
        self.producer = Producer(self.ledger, self._appended)
        self.transactions = Transactions(self.ledger, self.producer, self._appended)

    @property
    def closed(self) -> bool:
        """Whether it is unloaded."""
        return self.ledger.closed

    # ---- load and unload -----------------------------------------------------------------------------------------------------------
    def load(self) -> None:
        """Report what storage has, apply the policies, and let clients come."""
        log, agenda = self.process.log, self.process.agenda
        log.add(f'"topic_load",{self.json}')
        self.ledger.load()
        self._load_cursors()
        self.transactions.tell_open()
        quotas = self.declared.quotas
        for kind, limit, policy in (
            ("destination_storage", quotas.size_bytes, quotas.size_policy),
            ("message_age", quotas.age_s, quotas.age_policy),
        ):
            log.add(f'"backlog_quota",{self.json},"quota_type":"{kind}","limit":{limit},"policy":"{policy}"')
        limit_now = self.process.limit_now(self.declared.limit, self.declared.limit_changes)
        if limit_now.limits:
            self._apply(limit_now)
        self.process.plan_changes(self.declared.limit_changes, self._apply)
        agenda.at(agenda.now_ns + CLIENTS_AFTER_NS, self._clients_come)

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
            live = LiveSubscription(ManagedCursor(self.ledger, declared_by_name[cursor.name], cursor), self.limiter)
            self.subscriptions.append(live)
            ledger, entry = cursor.persisted
            more = "" if new else (f',"entries":{len(cursor.acked)}' if cursor.acked else "") + ',"snapshot":true'
            log.add(f'"cursor_open",{live.cursor.json},"durable":true,"ledger":{ledger},"entry":{entry}{more}')
            live.backlog.settle()

    def _clients_come(self) -> None:
        if not self.closed:
            for subscription in self.subscriptions:
                subscription.start()
            self.producer.connect()
            self.transactions.start()

    def unload(self) -> None:
        """Drop the topic."""
        for subscription in self.subscriptions:
            subscription.close()
        self.producer.close()
        self.ledger.closed = True
        self.process.log.add(f'"topic_unload",{self.json}')

    def _apply(self, limit: Limit) -> None:
        if not self.closed:
            self.process.apply_limit(self.limiter, "topic", self.json + ",", limit)

    # ---- entries and quotas --------------------------------------------------------------------------------------------------------
    def _appended(self) -> None:
        """There is a new entry."""
        for subscription in self.subscriptions:
            subscription.published()
        self.ledger.roll_if_full()

    def check(self, round_began_us: int) -> None:
        """The quota check of a round, with its action."""
        stored, quotas, log = self.stored, self.declared.quotas, self.process.log
        precise = self.process.brokers.precise_age
        at_ns = log.stamp()
        wall_ms = self.process.clock.us_at(at_ns) // 1000
        size, age = decide(stored, quotas, precise, wall_ms)
        self.checked_bytes = stored.backlog_size()
        for subscription in self.subscriptions:
            subscription.checked_entries = subscription.cursor.backlog()
        if size or age:
            kind, limit, policy = (
                ("destination_storage", quotas.size_bytes, quotas.size_policy) if size else ("message_age", quotas.age_s, quotas.age_policy)
            )
            log.write(at_ns, f'"quota_exceeded",{self.json},"quota_type":"{kind}","policy":"{policy}","limit":{limit}')
            if policy == "consumer_backlog_eviction":
                self.evictions[kind] += 1
                evict(stored, self.subscriptions, kind, precise, wall_ms)
            else:
                self.producer.cut_off()
            at_ns = log.stamp()
        took_us = self.process.clock.us_at(at_ns) - round_began_us
        log.write(at_ns, f'"quota_check",{self.json},"duration_us":{max(0, took_us)}')
