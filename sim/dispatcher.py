"""A dispatcher: it reads entries for its subscription as limits and consumers allow, and delivers them (semantics §1.2, §1.3).

It knows why it does not move, because it decides it: it writes what holds it into the backlog.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any

from sim.agenda import NS_PER_MS, NS_PER_S
from sim.backlog import Backlog
from sim.consumer import Consumer
from sim.delivery import Delivery
from sim.limiters import Limiter
from sim.read_limits import MAX_READ_ENTRIES, Granted, ReadLimits
from sim.truth import CATCHING_UP, CHANNEL, NO_PERMITS, READING, STUCK, UNACKED_LIMIT, Cause
from sim.unacked_caps import UnackedCaps

ROUND_ROBIN_ENTRIES = 20
RETRY_NS = 1_000 * NS_PER_MS
#: HELD_BACK: all that is not read lies behind the first message of an open transaction; the cursor looks again a little later.
IDLE, WAITING, OUT, HELD_BACK = 0, 1, 2, 3
#: After this time the cursor asks storage, though nothing new has come (managedLedgerNewEntriesCheckDelayInMillis).
LOOK_AGAIN_NS = 10 * NS_PER_MS
#: A read that brought nothing is repeated after this time, which doubles up to the most (dispatcherRetryBackoff…TimeInMs).
FIRST_BACKOFF_NS, MOST_BACKOFF_NS = NS_PER_MS, 10 * NS_PER_MS
#: Delayed entries are looked at once in this time.
DELAYED_TICK_NS = NS_PER_S


class Dispatcher:
    """The dispatcher of one subscription. It stays when its last consumer leaves."""

    def __init__(self, backlog: Backlog, topic_limiter: Limiter) -> None:
        self.backlog, self.cursor, self.process = backlog, backlog.cursor, backlog.process
        self.shared = self.cursor.is_shared
        self.limits = ReadLimits(self.cursor, topic_limiter)
        self.caps = UnackedCaps(backlog)
        self.stuck = False
        self.read = IDLE
        self.replay_read = False
        self.delivered_entries = 0
        self._stored = self.cursor.ledger.stored
        self._granted: Granted = (0, 0)
        #: The read that is out reads up to here; None: up to what there is when it comes back.
        self._read_end: int | None = None
        self._backoff_ns = 0
        self._retry_planned = False
        self._reads = 0
        #: Reads with lower numbers were abandoned.
        self._oldest_read = 0
        self._turn = 0
        self._delayed_tick_planned = False
        self._delayed_reported = 0

    # ---- entries to deliver again --------------------------------------------------------------------------------------------------
    def put_back(self, indexes: Iterable[int]) -> None:
        """These are to be delivered again."""
        self.backlog.replay.extend(indexes)

    def forget_until(self, mark: int) -> None:
        """A quota moved the cursor beyond some of them, and beyond some that are delayed."""
        self.backlog.delayed = {index for index in self.backlog.delayed if index > mark}
        self._report_delayed()
        self._take_out([index for index in self.backlog.replay if index <= mark])

    def _take_out(self, indexes: Iterable[int]) -> None:
        gone = set(indexes)
        self.backlog.replay = deque(index for index in self.backlog.replay if index not in gone)

    def acknowledged(self, consumer: Consumer, indexes: Iterable[int], moved: bool) -> None:
        """A consumer has acknowledged entries; `moved`: so the mark-delete position moved."""

    # ---- entries for later ---------------------------------------------------------------------------------------------------------
    def _report_delayed(self) -> None:
        """Write how many entries are held for later delivery, and plan to look at them."""
        delayed = len(self.backlog.delayed)
        if delayed != self._delayed_reported:
            self._delayed_reported = delayed
            if self.process.tells_causes:
                self.process.log.add(f'"delayed",{self.cursor.json},"entries":{delayed}')
        if delayed and not self._delayed_tick_planned:
            self._delayed_tick_planned = True
            self.process.agenda.at(self.process.agenda.now_ns + DELAYED_TICK_NS, self._delayed_tick)

    def _delayed_tick(self) -> None:
        self._delayed_tick_planned = False
        if self.cursor.closed:
            return
        stored, now_ns = self._stored, self.process.log.now_ns()
        due = sorted(index for index in self.backlog.delayed if stored.ledger_of(index).due_ns.get(index, 0) <= now_ns)
        self.backlog.delayed.difference_update(due)
        self.put_back(due)
        self._report_delayed()
        if due:
            self.read_more()

    # ---- deciding to read ----------------------------------------------------------------------------------------------------------
    def read_more(self) -> None:
        """Evaluate the read limits, and read if they allow it. Whatever stops it becomes the cause."""
        consumers = self.backlog.consumers
        if consumers and not self._is_stuck():
            permits = self._permits(consumers)
            if permits <= 0:
                self._idle(self._why_no_permits(consumers))
            else:
                self._evaluate(permits)
        self.backlog.settle()

    def _is_stuck(self) -> bool:
        if self.stuck and self.read != OUT and not self.replay_read:
            self.backlog.held = STUCK
        return self.stuck

    def _idle(self, cause: Cause) -> None:
        """Nothing was asked for. A read that is out still delivers."""
        if self.read != OUT and not self.replay_read:
            self.backlog.held = cause

    def _permits(self, consumers: list[Consumer]) -> int:
        if not self.shared:
            return consumers[0].permits
        return sum(one.permits for one in consumers if one.permits > 0 and not one.blocked)

    def _why_no_permits(self, consumers: list[Consumer]) -> Cause:
        if self._all_unwritable(consumers):
            return CHANNEL
        blocked = [one for one in consumers if one.blocked]
        if blocked and (len(blocked) == len(consumers) or any(one.permits > 0 for one in blocked)):
            return UNACKED_LIMIT
        return NO_PERMITS

    def _all_unwritable(self, consumers: list[Consumer]) -> bool:
        return not any(one.writable for one in consumers)

    def channel_changed(self) -> None:
        """A consumer's channel crossed a water mark: what holds an idle dispatcher may have another name now."""
        consumers = self.backlog.consumers
        if consumers and self.backlog.held in (CHANNEL, NO_PERMITS, UNACKED_LIMIT, CATCHING_UP) and not self.stuck:
            unwritable = self._all_unwritable(consumers)
            if self.read == OUT or self.replay_read:
                self.backlog.held = CHANNEL if unwritable else CATCHING_UP
            elif self._permits(consumers) <= 0:
                self.backlog.held = self._why_no_permits(consumers)
            elif self.backlog.held is CHANNEL and not unwritable:
                self.backlog.held = CATCHING_UP
        self.backlog.settle()

    def _evaluate(self, permits: int) -> None:
        unwritable = self._all_unwritable(self.backlog.consumers)
        if unwritable and not self.shared:
            permits = 1
        want = 1 if unwritable else min(permits, MAX_READ_ENTRIES)
        granted = self._ask_limits(permits, want)
        if granted is None:
            return
        if self.caps.blocked:
            self._idle(UNACKED_LIMIT)
            return
        if self.read == IDLE or self.backlog.replay:
            self._issue(granted, CHANNEL if unwritable else CATCHING_UP)

    def _ask_limits(self, permits: int, want: int) -> Granted | None:
        """What the limiters leave; None: one of them blocks, and is asked again later."""
        answer = self.limits.ask(permits, want)
        if not isinstance(answer, Cause):
            return answer
        if self.read == IDLE:
            self._idle(answer)
        self._ask_again_in(RETRY_NS)
        return None

    def check_unacked(self) -> None:
        """Set or clear the caps of unacknowledged messages. What is cleared lets the dispatcher read again."""
        if self.caps.check():
            self.read_more()

    def _ask_again_in(self, after_ns: int) -> None:
        """Unless that is planned already."""
        if not self._retry_planned:
            self._retry_planned = True
            self.process.agenda.at(self.process.log.now_ns() + after_ns, self._retry)

    def _retry(self) -> None:
        self._retry_planned = False
        if not self.cursor.closed:
            self.read_more()

    # ---- reading -------------------------------------------------------------------------------------------------------------------
    def _issue(self, granted: Granted, cause: Cause) -> None:
        """Ask storage for entries to deliver again, or for new ones; without any, wait for a publish."""
        if self.backlog.replay:
            if not self.replay_read:
                self.replay_read = True
                self.backlog.held = cause
                self._plan(self._delivered_again, granted, self.process.cached_read_ns())
        else:
            self._read_new(granted, cause)

    def _read_new(self, granted: Granted, cause: Cause) -> None:
        """Ask for entries that were not read, up to where one may read now."""
        cursor, stored = self.cursor, self._stored
        self.backlog.held = cause
        self._read_end = stored.readable_end if stored.declared.transactions else None
        if cursor.read_index < stored.readable_end:
            self.read = OUT
            self._plan(self._delivered, granted, self.process.storage_read_ns())
        elif cursor.read_index < stored.end:
            self.read = HELD_BACK
            self._reads += 1
            self.process.agenda.at(self.process.log.now_ns() + LOOK_AGAIN_NS, self._look_again, granted, self._reads)
        else:
            self.read, self._granted = WAITING, granted

    def _look_again(self, granted: Granted, read: int) -> None:
        """There are entries, so the cursor asks storage for them: up to where one might read when the read began, so it brings nothing."""
        if not self.cursor.closed and read >= self._oldest_read and self.read == HELD_BACK:
            self.read = OUT
            self._plan(self._delivered, granted, self.process.cached_read_ns())
            self.backlog.settle()

    def published(self) -> None:
        """A new entry: the read that waits for one gets it. With a transaction buffer it comes back first, and is asked for anew."""
        if self.read == WAITING and not self._is_stuck():
            self.read = OUT
            self.backlog.held = CHANNEL if self._all_unwritable(self.backlog.consumers) else CATCHING_UP
            if self._stored.declared.transactions:
                self._read_end = self.cursor.read_index
            self._plan(self._delivered, self._granted, self.process.cached_read_ns())

    def unstick(self) -> None:
        """The fault is over: what waited is read."""
        self.stuck = False
        if self.backlog.consumers and self.cursor.read_index < self._stored.end:
            self.published()
        self.read_more()

    def _plan(self, action: Any, granted: Granted, takes_ns: int) -> int:
        """The read that was issued last ends after `takes_ns`; its number."""
        agenda, normal_ns = self.process.agenda, self.process.normal_read_ns
        self._reads += 1
        now_ns = self.process.log.now_ns()
        agenda.at(now_ns + takes_ns, action, granted, self._reads, now_ns)
        if takes_ns > normal_ns:
            agenda.at(now_ns + normal_ns, self._beyond_normal, self._reads)
        return self._reads

    def _beyond_normal(self, read: int) -> None:
        if read == self._reads and self.read == OUT and self.backlog.held is CATCHING_UP:
            self.backlog.held = READING
            self.backlog.settle()

    def abandon(self) -> None:
        """The last consumer has left: reads that are out deliver nothing, the cursor goes back to its mark-delete position."""
        backlog = self.backlog
        self.read, self.replay_read, backlog.held = IDLE, False, CATCHING_UP
        backlog.replay.clear()
        backlog.kept_aside = 0
        self._oldest_read = self._reads + 1
        self.caps.reset()
        backlog.in_flight = 0
        self.cursor.rewind()
        backlog.delayed.clear()
        self._report_delayed()

    def _delivered(self, granted: Granted, read: int, asked_ns: int) -> None:
        if self.cursor.closed or read < self._oldest_read:
            return
        self.read = IDLE
        indexes, delayed = self.cursor.take(*granted, self._read_end)
        self.backlog.delayed.update(delayed)
        self._arrived(indexes, len(delayed), asked_ns, False)

    def _delivered_again(self, granted: Granted, read: int, asked_ns: int) -> None:
        if self.cursor.closed or read < self._oldest_read:
            return
        self.replay_read = False
        replay = self.backlog.replay
        indexes: list[int] = []
        while replay and len(indexes) < granted[0]:
            index = replay.popleft()
            if self.cursor.is_unacknowledged(index):
                indexes.append(index)
        self._arrived(indexes, 0, asked_ns, True)

    def _arrived(self, indexes: list[int], delayed: int, asked_ns: int, again: bool) -> None:
        if self.process.tells_causes:
            sizes = self._stored
            total = sum(sizes.ledger_of(i).entry_bytes[i - sizes.ledger_of(i).first] for i in indexes)
            log = self.process.log
            took_us = (log.now_ns() - asked_ns) // 1000
            log.add(
                f'"read_done",{self.cursor.json},"entries":{len(indexes) + delayed},"bytes":{total},"duration_us":{took_us}'
                + (',"replay":true' if again else "")
            )
        self.backlog.held = CATCHING_UP
        wanted = self.cursor.without_withheld(indexes)
        if wanted:
            self._send(wanted, again)
        if delayed:
            self._report_delayed()
        self._go_on(len(indexes) + delayed)

    def _go_on(self, entries: int) -> None:
        """A read brought so many entries. Without any the next one comes a little later; an Exclusive dispatcher does not wait."""
        if entries or not (self.shared and self._stored.declared.transactions):
            self._backoff_ns = 0
            self.read_more()
        else:
            self._back_off()

    def _back_off(self) -> None:
        """Ask again soon, each time a little later."""
        self._backoff_ns = min(max(FIRST_BACKOFF_NS, 2 * self._backoff_ns), MOST_BACKOFF_NS)
        self._ask_again_in(self._backoff_ns)
        self.backlog.settle()

    # ---- delivering ----------------------------------------------------------------------------------------------------------------
    def _send(self, indexes: list[int], again: bool) -> None:
        """Hand entries to consumers in turn, write `dispatch`, charge the limiters. Entries that nobody may take wait to be read again."""
        delivery = Delivery(self.cursor.json)
        taker: Consumer | None = None
        in_a_row = 0
        for place, index in enumerate(indexes):
            if taker is None or in_a_row >= ROUND_ROBIN_ENTRIES or not self._takes(taker):
                taker, in_a_row = self._next_taker(), 0
                if taker is None:
                    self.backlog.replay.extendleft(reversed(indexes[place:]))
                    break
            self._give(taker, index, delivery)
            in_a_row += 1
        self._complete(delivery)

    def _give(self, taker: Consumer, index: int, delivery: Delivery) -> None:
        """An entry goes to a consumer."""
        ledger = self._stored.ledger_of(index)
        msgs = ledger.msgs[index - ledger.first]
        taker.receive(index, msgs)
        self.backlog.in_flight += 1
        delivery.add(taker.number, taker.connection, (ledger.id, index - ledger.first), msgs, ledger.entry_bytes[index - ledger.first])

    def _complete(self, delivery: Delivery) -> None:
        """Everybody has got his share."""
        if delivery.shares:
            self._charge(delivery)
            for one in self.backlog.consumers:
                if one.number in delivery.shares:
                    one.wake()

    def _takes(self, one: Consumer) -> bool:
        return not self.shared or (one.permits > 0 and not one.blocked)

    def _next_taker(self) -> Consumer | None:
        consumers = self.backlog.consumers
        for step in range(len(consumers)):
            one = consumers[(self._turn + step) % len(consumers)]
            if self._takes(one):
                self._turn = (self._turn + step + 1) % len(consumers)
                return one
        return None

    def _charge(self, delivery: Delivery) -> None:
        whole = delivery.whole()
        self.delivered_entries += whole.entries
        for event in delivery.events(tells_shares=self.process.tells_states):
            now_ns = self.process.log.add(event)
        self.limits.charge(whole.msgs, whole.bytes, now_ns)
        if self.shared:
            self.caps.unacked_msgs += whole.msgs
            self.check_unacked()
