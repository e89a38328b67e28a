"""A subscription on a loaded topic: its cursor, its dispatcher and its consumers, and why it has a backlog."""

from functools import partial
from typing import TYPE_CHECKING

from sim.agenda import NS_PER_S, ns
from sim.consumer import Consumer, Spans
from sim.dispatcher import ENTRY_OVERHEAD_BYTES, Dispatcher
from sim.key_shared import KeySharedDispatcher
from sim.limiters import Limiter
from sim.scenario import Consumers, Subscription
from sim.storage import Cursor, Position
from sim.truth import (
    CATCHING_UP,
    DELAYED,
    IN_FLIGHT,
    KEYS_BLOCKED,
    NO_CONSUMER,
    NO_FLOW,
    NO_PERMITS,
    REDELIVERY,
    TRANSACTION,
    Account,
    Cause,
)

if TYPE_CHECKING:
    from sim.topic import LiveTopic

#: A cursor's position goes to the metadata at most once in this time.
PERSIST_NS = NS_PER_S
#: Delayed entries are looked at once in this time.
DELAYED_TICK_NS = NS_PER_S


class LiveSubscription:
    """One subscription from the load of its topic to the unload."""

    def __init__(self, topic: "LiveTopic", declared: Subscription, cursor: Cursor) -> None:
        self.topic, self.declared, self.cursor, self.process = topic, declared, cursor, topic.process
        self.json = f'{topic.json},"sub":"{declared.name}"'
        #: Its consumers share the entries, and acknowledge them one by one; those of a key go to one of them.
        self.is_shared, self.is_keyed = declared.type != "Exclusive", declared.type == "Key_Shared"
        self.account = Account(self.process.truth, self.process.name, self.process.epoch_ms, topic.name, declared.name)
        self.consumers: list[Consumer] = []
        self.dispatcher: Dispatcher | None = None
        self.closed = False
        #: Index of the next entry to read.
        self.read_index = cursor.mark + 1
        #: Entries that are delivered and not acknowledged; entries that are held for later delivery.
        self.in_flight = 0
        self.delayed: set[int] = set()
        self.delivered_entries = 0
        #: Backlog at the last quota check, before its action; None: no check yet.
        self.checked_entries: int | None = None
        self.was_given_back = False
        self._delayed_tick_planned = False
        self._delayed_reported = 0

    def settle(self) -> None:
        """Report to the account why the backlog is there now."""
        cause = None
        if not self.closed and (backlog := self.topic.stored.backlog(self.cursor)):
            waiting = backlog - self.in_flight
            if not self.consumers:
                cause = NO_CONSUMER
            elif self.was_given_back and any(one.is_giving_back for one in self.consumers):
                cause = REDELIVERY
            elif waiting <= 0:
                cause = IN_FLIGHT
            elif len(self.delayed) >= waiting:
                cause = DELAYED
            else:
                assert self.dispatcher is not None
                cause = self.dispatcher.held
                if cause is NO_PERMITS and self.in_flight <= 0:
                    cause = NO_FLOW
                if cause is CATCHING_UP:
                    cause = TRANSACTION if self._is_held_back() else self._largest_part(waiting - len(self.delayed))
        self.account.settle(self.process.log.now_ns(), cause)

    def _is_held_back(self) -> bool:
        """All that may be read is read, and there is more, behind the first message of an open transaction."""
        stored, dispatcher = self.topic.stored, self.dispatcher
        assert dispatcher is not None
        return bool(stored.open) and stored.readable_end <= self.read_index < stored.end and not dispatcher.replay

    def _largest_part(self, to_read: int) -> Cause:
        """Nothing holds the dispatcher: the backlog is there for the reason that most of it has."""
        assert self.dispatcher is not None
        aside = min(self.dispatcher.kept_aside, to_read)
        to_read -= aside
        if aside > max(to_read, self.in_flight, len(self.delayed)):
            return KEYS_BLOCKED
        if self.in_flight > to_read and self.in_flight >= len(self.delayed):
            return IN_FLIGHT
        return DELAYED if len(self.delayed) > to_read else CATCHING_UP

    # ---- life ----------------------------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """Plan when consumers are there, when limits change, and when the dispatcher is stuck."""
        agenda, number = self.process.agenda, 0
        for kind in self.declared.consumers:
            away = Spans(kind.away)
            for _ in range(kind.count):
                gone_until_ns = away.end_at(agenda.now_ns)
                agenda.at(agenda.now_ns + 1 if gone_until_ns is None else gone_until_ns, self._arrive, kind, number, away)
                number += 1
        for change in self.declared.limit_changes:
            if ns(change.at_s) > agenda.now_ns:
                agenda.at(ns(change.at_s), partial(self._apply, change.msg_rate, change.byte_rate, change.period_s))
        for from_ns, to_ns in Spans(self.declared.stuck).spans:
            if to_ns > agenda.now_ns:
                agenda.at(from_ns, self._set_stuck, True)
                agenda.at(to_ns, self._set_stuck, False)

    def _arrive(self, kind: Consumers, number: int, away: Spans) -> None:
        if self.closed:
            return
        if self.dispatcher is None:
            self._open_dispatcher()
        consumer = Consumer(self, kind, number)
        consumer.open()
        agenda = self.process.agenda
        for from_ns, to_ns in away.spans:
            if from_ns > agenda.now_ns:
                agenda.at(from_ns, consumer.disconnect)
                agenda.at(to_ns, self._arrive, kind, number, away)
                return

    def _open_dispatcher(self) -> None:
        self.process.log.add(f'"dispatcher_open",{self.json},"sub_type":"{self.declared.type}"')
        self.dispatcher = KeySharedDispatcher(self, None) if self.is_keyed else Dispatcher(self, None)
        limit = self.topic.limit_now(self.declared.limit, self.declared.limit_changes)
        if limit.msg_rate > 0 or limit.byte_rate > 0:
            self._apply(limit.msg_rate, limit.byte_rate, limit.period_s)

    def _apply(self, msg_rate: int, byte_rate: int, period_s: int) -> None:
        if self.dispatcher is None or self.closed:
            return
        if self.dispatcher.limiter is None:
            self.dispatcher.limiter = Limiter(self.process.brokers.limiter)
        self.process.apply_rate(self.dispatcher.limiter, "subscription", self.json + ",", (msg_rate, byte_rate, period_s))

    def _set_stuck(self, stuck: bool) -> None:
        if self.dispatcher is not None and not self.closed:
            if stuck:
                self.dispatcher.stuck = True
                self.dispatcher.read_more()
            else:
                self.dispatcher.unstick()

    def left(self, consumer: Consumer) -> None:
        """A consumer has gone: others get what it had, or the cursor goes back."""
        dispatcher = self.dispatcher
        assert dispatcher is not None
        self.consumers.remove(consumer)
        log = self.process.log
        had = sorted(index for index in consumer.pending if self._is_unacknowledged(index))
        # A broker gives them back first, also those of the last consumer.
        if had and self.is_shared and self.process.tells_causes:
            log.add(f'"redeliver",{consumer.json},"cause":"consumer_closed","entries":{len(had)}')
        log.add(f'"consumer_close",{consumer.json}')
        if self.consumers:
            self.in_flight -= len(had)
            dispatcher.unacked_msgs -= consumer.unacked_msgs
            dispatcher.put_back(had)
            self.check_unacked()
            dispatcher.read_more()
        else:
            dispatcher.abandon()
            self.in_flight, self.read_index = 0, self.cursor.mark + 1
            self.delayed.clear()
            self.report_delayed()
        self.settle()

    def close(self) -> None:
        """The topic is unloaded: the dispatcher ends, consumers with it."""
        log = self.process.log
        if self.dispatcher is not None:
            log.add(f'"dispatcher_close",{self.json}')
        for consumer in self.consumers:
            consumer.gone = True
            log.add(f'"consumer_close",{consumer.json}')
            log.add(f'"conn_close","conn":{consumer.connection}')
            self.process.connection_closed(consumer.connection)
        self.consumers = []
        self.closed = True
        self.settle()

    # ---- reading -------------------------------------------------------------------------------------------------------------------
    def take(self, most_entries: int, most_bytes: int, end: int | None) -> tuple[list[int], int]:
        """The next entries to deliver as (indexes, how many more are delayed), up to `end`; the read position moves behind them."""
        stored, cursor = self.topic.stored, self.cursor
        end = stored.end if end is None else end
        average = stored.bytes // max(1, stored.end - stored.ledgers[0].first) + ENTRY_OVERHEAD_BYTES
        room = min(most_entries, max(1, most_bytes // average))
        now_ns = self.process.log.now_ns()
        taken: list[int] = []
        delayed = 0
        index = max(self.read_index, cursor.mark + 1)
        while index < end and len(taken) + delayed < room:
            if index not in cursor.acked:
                due_ns = stored.ledger_of(index).due_ns.get(index, 0)
                if due_ns > now_ns and self.is_shared:
                    self.delayed.add(index)
                    delayed += 1
                else:
                    taken.append(index)
            index += 1
        self.read_index = index
        return taken, delayed

    def report_delayed(self) -> None:
        """Write how many entries are held for later delivery, and plan to look at them."""
        if len(self.delayed) != self._delayed_reported:
            self._delayed_reported = len(self.delayed)
            if self.process.tells_causes:
                self.process.log.add(f'"delayed",{self.json},"entries":{len(self.delayed)}')
        if self.delayed and not self._delayed_tick_planned:
            self._delayed_tick_planned = True
            self.process.agenda.at(self.process.agenda.now_ns + DELAYED_TICK_NS, self._delayed_tick)

    def _delayed_tick(self) -> None:
        self._delayed_tick_planned = False
        if self.closed or self.dispatcher is None:
            return
        stored, now_ns = self.topic.stored, self.process.log.now_ns()
        due = sorted(index for index in self.delayed if stored.ledger_of(index).due_ns.get(index, 0) <= now_ns)
        self.delayed.difference_update(due)
        self.dispatcher.put_back(due)
        self.report_delayed()
        if due:
            self.dispatcher.read_more()

    # ---- acknowledging -------------------------------------------------------------------------------------------------------------
    def acknowledge(self, consumer: Consumer, indexes: list[int]) -> None:
        """Entries that a client has processed: one by one, or all up to the last one (Exclusive)."""
        stored, cursor, log = self.topic.stored, self.cursor, self.process.log
        single = self.is_shared
        kind = "individual" if single else "cumulative"
        for index in indexes if single else indexes[-1:]:
            if index >= stored.ledgers[0].first:
                ledger, entry = stored.position_of(index)
                log.add(f'"ack",{self.json},"consumer":{consumer.number},"ack_type":"{kind}","ledger":{ledger},"entry":{entry}')
        for index in indexes:
            msgs = consumer.drop(index)
            if self.dispatcher is not None and single:
                self.dispatcher.unacked_msgs -= msgs
            if self._is_unacknowledged(index):
                self.in_flight -= 1
                cursor.acked.add(index)
        before = cursor.mark
        self.move(self._slid(before), None)
        self.check_unacked()
        if self.dispatcher is not None:
            self.dispatcher.acknowledged(consumer, indexes, cursor.mark > before)
        self.settle()

    def without_withheld(self, indexes: list[int]) -> list[int]:
        """The broker acknowledges what no consumer gets: markers of transactions, and what was aborted. The others of `indexes`."""
        stored, cursor = self.topic.stored, self.cursor
        withheld = [index for index in indexes if index in stored.withheld] if stored.withheld else []
        for index in withheld:
            ledger, entry = stored.position_of(index)
            if self.process.tells_states:
                self.process.log.add(f'"broker_ack",{self.json},"ack_type":"individual","ledger":{ledger},"entry":{entry}')
            cursor.acked.add(index)
            self.move(self._slid(cursor.mark), None, moved_by="broker")
        return [index for index in indexes if index not in stored.withheld] if withheld else indexes

    def give_back(self, consumer: Consumer, indexes: list[int]) -> None:
        """A client acknowledges nothing of this, it wants it to be delivered again (Shared)."""
        dispatcher = self.dispatcher
        assert dispatcher is not None
        back = [index for index in indexes if self._is_unacknowledged(index)]
        for index in indexes:
            dispatcher.unacked_msgs -= consumer.drop(index)
        if back:
            self.was_given_back = True
            self.in_flight -= len(back)
            dispatcher.put_back(back)
            if self.process.tells_causes:
                self.process.log.add(f'"redeliver",{consumer.json},"cause":"requested","entries":{len(back)}')
        self.check_unacked()
        dispatcher.read_more()
        self.settle()

    def _is_unacknowledged(self, index: int) -> bool:
        return index > self.cursor.mark and index not in self.cursor.acked

    def _slid(self, mark: int) -> int:
        """`mark`, moved over the acknowledged entries that follow."""
        acked = self.cursor.acked
        while mark + 1 in acked:
            mark += 1
        return mark

    def evict_to(self, mark: int, position: Position | None = None) -> None:
        """A quota moves the cursor to `mark` at least (printed as `position`, if given), at once also in the metadata."""
        cursor = self.cursor
        slid = self._slid(mark)
        self.move(slid, position if slid == mark else None, at_once=True)
        self.in_flight = sum(self._is_unacknowledged(index) for consumer in self.consumers for index in consumer.pending)
        self.delayed = {index for index in self.delayed if index > cursor.mark}
        self.report_delayed()
        if self.dispatcher is not None:
            self.dispatcher.forget_until(cursor.mark)
        self.read_index = max(self.read_index, cursor.mark + 1)
        self.settle()

    def move(self, mark: int, position: Position | None, at_once: bool = False, moved_by: str = "") -> None:
        """Move the mark-delete position, in memory, and in the metadata if it is time. `moved_by`: who did, if no consumer."""
        cursor, log = self.cursor, self.process.log
        position = position or self.topic.stored.position_of(mark)
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
        cursor = self.cursor
        if cursor.persisted != cursor.position:
            cursor.persisted, cursor.persisted_mark, cursor.persisted_ns = cursor.position, cursor.mark, self.process.agenda.now_ns
            self.topic.stored.heap.moved(cursor)
            ledger, entry = cursor.position
            self.process.log.add(f'"mark_delete",{self.json},"ledger":{ledger},"entry":{entry},"persisted":true')
            self.topic.trim()

    # ---- caps of unacknowledged messages -------------------------------------------------------------------------------------------
    def check_unacked(self) -> None:
        """Set or clear the caps. Pulsar clears one at half of it. What is cleared lets the dispatcher read again."""
        dispatcher = self.dispatcher
        if dispatcher is None or not self.is_shared:
            return
        brokers, cleared = self.process.brokers, False
        for consumer in self.consumers:
            cap = brokers.max_unacked_per_consumer
            on = self._over(consumer.unacked_msgs, cap, consumer.blocked)
            if on is not consumer.blocked:
                consumer.blocked = on
                cleared |= not on
                self._report_cap(
                    "consumer", on, consumer.unacked_msgs, f',"limit":{cap},"consumer":{consumer.number},"conn":{consumer.connection}'
                )
        on = self._over(dispatcher.unacked_msgs, brokers.max_unacked_per_subscription, dispatcher.blocked_on_unacked)
        if on is not dispatcher.blocked_on_unacked:
            dispatcher.blocked_on_unacked = on
            cleared |= not on
            self._report_cap("subscription", on, dispatcher.unacked_msgs, "")
        if cleared:
            dispatcher.read_more()

    def _over(self, unacked_msgs: int, cap: int, blocked: bool) -> bool:
        return cap > 0 and (unacked_msgs > cap // 2 if blocked else unacked_msgs >= cap)

    def _report_cap(self, cap: str, on: bool, unacked_msgs: int, more: str) -> None:
        if self.process.tells_causes:
            said = "true" if on else "false"
            self.process.log.add(f'"consumer_blocked",{self.json},"cap":"{cap}","on":{said},"unacked_msgs":{max(0, unacked_msgs)}{more}')
