"""A dispatcher: it reads entries for its subscription as limits and consumers allow, and delivers them (semantics §1.2, §1.3).

It knows why it does not move, because it decides it: `held` is the cause while entries wait.
"""

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sim.agenda import NS_PER_MS
from sim.delivery import Delivery
from sim.truth import CATCHING_UP, CHANNEL, NO_PERMITS, READING, STUCK, THROTTLED, UNACKED_LIMIT, Cause

if TYPE_CHECKING:
    from sim.consumer import Consumer
    from sim.limiters import Limiter
    from sim.subscription import LiveSubscription

MAX_READ_ENTRIES = 100
MAX_READ_BYTES = 5_242_880
ROUND_ROBIN_ENTRIES = 20
RETRY_NS = 1_000 * NS_PER_MS
#: An entry has this many bytes more than its payload when the broker estimates how many fit.
ENTRY_OVERHEAD_BYTES = 64
#: HELD_BACK: all that is not read lies behind the first message of an open transaction; the cursor looks again a little later.
IDLE, WAITING, OUT, HELD_BACK = 0, 1, 2, 3
#: After this time the cursor asks storage, though nothing new has come (managedLedgerNewEntriesCheckDelayInMillis).
LOOK_AGAIN_NS = 10 * NS_PER_MS
#: A read that brought nothing is repeated after this time, which doubles up to the most (dispatcherRetryBackoff…TimeInMs).
FIRST_BACKOFF_NS, MOST_BACKOFF_NS = NS_PER_MS, 10 * NS_PER_MS
LEVELS = ("broker", "topic", "subscription")
ANSWERS = {"broker": "broker", "topic": "topic", "subscription": "sub"}
COUNTERS = [f"dispatch_throttled_{dimension}_events_by_{level}_limit" for dimension in ("msg", "bytes") for level in LEVELS]


class Dispatcher:
    """The dispatcher of one subscription. It stays when its last consumer leaves."""

    def __init__(self, subscription: "LiveSubscription", limiter: "Limiter | None") -> None:
        self.subscription = subscription
        self.process = subscription.topic.process
        self.shared = subscription.is_shared
        self.limiter = limiter
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.held: Cause = CATCHING_UP
        self.stuck = False
        self.read = IDLE
        self.replay_read = False
        self.unacked_msgs = 0
        self.blocked_on_unacked = False
        #: Entries to deliver again.
        self.replay: deque[int] = deque()
        #: Of them, those that nobody can take now, as far as the dispatcher looked.
        self.kept_aside = 0
        self._granted = (0, 0)
        #: The read that is out reads up to here; None: up to what there is when it comes back.
        self._read_end: int | None = None
        self._backoff_ns = 0
        self._retry_planned = False
        self._reads = 0
        #: Reads with lower numbers were abandoned.
        self._oldest_read = 0
        self._turn = 0

    # ---- entries to deliver again --------------------------------------------------------------------------------------------------
    def put_back(self, indexes: Iterable[int]) -> None:
        """These are to be delivered again."""
        self.replay.extend(indexes)

    def forget_until(self, mark: int) -> None:
        """A quota moved the cursor beyond some of them."""
        self.replay = deque(index for index in self.replay if index > mark)

    def acknowledged(self, consumer: "Consumer", indexes: Iterable[int], moved: bool) -> None:
        """A consumer has acknowledged entries; `moved`: so the mark-delete position moved."""

    # ---- deciding to read ----------------------------------------------------------------------------------------------------------
    def read_more(self) -> None:
        """Evaluate the read limits, and read if they allow it. Whatever stops it becomes the cause."""
        consumers = self.subscription.consumers
        if consumers and not self._is_stuck():
            permits = self._permits(consumers)
            if permits <= 0:
                self._idle(self._why_no_permits(consumers))
            else:
                self._evaluate(permits)
        self.subscription.settle()

    def _is_stuck(self) -> bool:
        if self.stuck and self.read != OUT and not self.replay_read:
            self.held = STUCK
        return self.stuck

    def _idle(self, cause: Cause) -> None:
        """Nothing was asked for. A read that is out still delivers."""
        if self.read != OUT and not self.replay_read:
            self.held = cause

    def _permits(self, consumers: "list[Consumer]") -> int:
        if not self.shared:
            return consumers[0].permits
        return sum(one.permits for one in consumers if one.permits > 0 and not one.blocked)

    def _why_no_permits(self, consumers: "list[Consumer]") -> Cause:
        if self._all_unwritable(consumers):
            return CHANNEL
        blocked = [one for one in consumers if one.blocked]
        if blocked and (len(blocked) == len(consumers) or any(one.permits > 0 for one in blocked)):
            return UNACKED_LIMIT
        return NO_PERMITS

    def _all_unwritable(self, consumers: "list[Consumer]") -> bool:
        return not any(one.writable for one in consumers)

    def channel_changed(self) -> None:
        """A consumer's channel crossed a water mark: what holds an idle dispatcher may have another name now."""
        consumers = self.subscription.consumers
        if consumers and self.held in (CHANNEL, NO_PERMITS, UNACKED_LIMIT, CATCHING_UP) and not self.stuck:
            unwritable = self._all_unwritable(consumers)
            if self.read == OUT or self.replay_read:
                self.held = CHANNEL if unwritable else CATCHING_UP
            elif self._permits(consumers) <= 0:
                self.held = self._why_no_permits(consumers)
            elif self.held is CHANNEL and not unwritable:
                self.held = CATCHING_UP
        self.subscription.settle()

    def _evaluate(self, permits: int) -> None:
        unwritable = self._all_unwritable(self.subscription.consumers)
        if unwritable and not self.shared:
            permits = 1
        want = 1 if unwritable else min(permits, MAX_READ_ENTRIES)
        granted = self._walk(permits, want)
        if granted is None:
            return
        if self.blocked_on_unacked:
            self._idle(UNACKED_LIMIT)
            return
        if self.read == IDLE or self.replay:
            self._issue(granted, CHANNEL if unwritable else CATCHING_UP)

    def _walk(self, permits: int, want: int) -> tuple[int, int] | None:
        """Ask the limiters in order; what they leave, or None if one of them blocks. Writes `read`."""
        subscription, log = self.subscription, self.process.log
        now_ns = log.stamp()
        msgs, size = want, MAX_READ_BYTES
        said, blocked = "", None
        for level, limiter in (("broker", self.process.limiter), ("topic", subscription.topic.limiter), ("subscription", self.limiter)):
            if limiter is None:
                continue
            may_msgs = -1 if limiter.msgs is None else limiter.msgs.ask(now_ns)
            may_bytes = -1 if limiter.bytes is None else limiter.bytes.ask(now_ns)
            said += self._answer(ANSWERS[level], limiter, may_msgs, may_bytes)
            if 0 <= may_msgs < msgs:
                msgs = may_msgs
                self.counters[f"dispatch_throttled_msg_events_by_{level}_limit"] += 1
            if 0 <= may_bytes < size:
                size = may_bytes
                self.counters[f"dispatch_throttled_bytes_events_by_{level}_limit"] += 1
            if msgs == 0 or size == 0:
                blocked = THROTTLED[level, "msg" if msgs == 0 else "bytes"]
                break
        left = '-1,"left_bytes":-1' if blocked else f'{msgs},"left_bytes":{size}'
        log.write(
            now_ns,
            f'"read",{subscription.json},"sub_type":"{subscription.declared.type}","permits":{permits},'
            f'"want_msgs":{want},"want_bytes":{MAX_READ_BYTES}{said},"left_msgs":{left}',
        )
        if blocked is None:
            return max(msgs, 1), max(size, 1)
        if self.read == IDLE:
            self._idle(blocked)
        self._ask_again_in(RETRY_NS)
        return None

    def _ask_again_in(self, after_ns: int) -> None:
        """Unless that is planned already."""
        if not self._retry_planned:
            self._retry_planned = True
            self.process.agenda.at(self.process.log.now_ns() + after_ns, self._retry)

    def _answer(self, name: str, limiter: "Limiter", msgs: int, size: int) -> str:
        said = f',"{name}_msgs":{msgs},"{name}_bytes":{size}'
        if self.process.tells_causes:
            if limiter.msgs is not None:
                said += f',"{name}_msgs_tokens":{limiter.msgs.balance()}'
            if limiter.bytes is not None:
                said += f',"{name}_bytes_tokens":{limiter.bytes.balance()}'
        return said

    def _retry(self) -> None:
        self._retry_planned = False
        if not self.subscription.closed:
            self.read_more()

    # ---- reading -------------------------------------------------------------------------------------------------------------------
    def _issue(self, granted: tuple[int, int], cause: Cause) -> None:
        """Ask storage for entries to deliver again, or for new ones; without any, wait for a publish."""
        if self.replay:
            if not self.replay_read:
                self.replay_read = True
                self.held = cause
                self._plan(self._delivered_again, granted, self.process.cached_read_ns())
        else:
            self._read_new(granted, cause)

    def _read_new(self, granted: tuple[int, int], cause: Cause) -> None:
        """Ask for entries that were not read, up to where one may read now."""
        subscription, stored = self.subscription, self.subscription.topic.stored
        self.held = cause
        self._read_end = stored.readable_end if stored.declared.transactions else None
        if subscription.read_index < stored.readable_end:
            self.read = OUT
            self._plan(self._delivered, granted, self.process.storage_read_ns())
        elif subscription.read_index < stored.end:
            self.read = HELD_BACK
            self._reads += 1
            self.process.agenda.at(self.process.log.now_ns() + LOOK_AGAIN_NS, self._look_again, granted, self._reads)
        else:
            self.read, self._granted = WAITING, granted

    def _look_again(self, granted: tuple[int, int], read: int) -> None:
        """There are entries, so the cursor asks storage for them: up to where one might read when the read began, so it brings nothing."""
        if not self.subscription.closed and read >= self._oldest_read and self.read == HELD_BACK:
            self.read = OUT
            self._plan(self._delivered, granted, self.process.cached_read_ns())
            self.subscription.settle()

    def published(self) -> None:
        """A new entry: the read that waits for one gets it. With a transaction buffer it comes back first, and is asked for anew."""
        if self.read == WAITING and not self._is_stuck():
            self.read = OUT
            self.held = CHANNEL if self._all_unwritable(self.subscription.consumers) else CATCHING_UP
            if self.subscription.topic.declared.transactions:
                self._read_end = self.subscription.read_index
            self._plan(self._delivered, self._granted, self.process.cached_read_ns())

    def unstick(self) -> None:
        """The fault is over: what waited is read."""
        self.stuck = False
        if self.subscription.consumers and self.subscription.read_index < self.subscription.topic.stored.end:
            self.published()
        self.read_more()

    def _plan(self, action: Any, granted: tuple[int, int], takes_ns: int) -> int:
        """The read that was issued last ends after `takes_ns`; its number."""
        agenda, normal_ns = self.process.agenda, self.process.normal_read_ns
        self._reads += 1
        now_ns = self.process.log.now_ns()
        agenda.at(now_ns + takes_ns, action, granted, self._reads, now_ns)
        if takes_ns > normal_ns:
            agenda.at(now_ns + normal_ns, self._beyond_normal, self._reads)
        return self._reads

    def _beyond_normal(self, read: int) -> None:
        if read == self._reads and self.read == OUT and self.held is CATCHING_UP:
            self.held = READING
            self.subscription.settle()

    def abandon(self) -> None:
        """The last consumer has left: reads that are out deliver nothing, the cursor goes back to its mark-delete position."""
        self.read, self.replay_read, self.held = IDLE, False, CATCHING_UP
        self.replay.clear()
        self.kept_aside = 0
        self._oldest_read = self._reads + 1
        self.unacked_msgs, self.blocked_on_unacked = 0, False

    def _delivered(self, granted: tuple[int, int], read: int, asked_ns: int) -> None:
        if self.subscription.closed or read < self._oldest_read:
            return
        self.read = IDLE
        indexes, delayed = self.subscription.take(*granted, self._read_end)
        self._arrived(indexes, delayed, asked_ns, False)

    def _delivered_again(self, granted: tuple[int, int], read: int, asked_ns: int) -> None:
        if self.subscription.closed or read < self._oldest_read:
            return
        self.replay_read = False
        cursor = self.subscription.cursor
        indexes: list[int] = []
        while self.replay and len(indexes) < granted[0]:
            index = self.replay.popleft()
            if index > cursor.mark and index not in cursor.acked:
                indexes.append(index)
        self._arrived(indexes, 0, asked_ns, True)

    def _arrived(self, indexes: list[int], delayed: int, asked_ns: int, again: bool) -> None:
        subscription = self.subscription
        if self.process.tells_causes:
            sizes = subscription.topic.stored
            total = sum(sizes.ledger_of(i).entry_bytes[i - sizes.ledger_of(i).first] for i in indexes)
            log = self.process.log
            took_us = (log.now_ns() - asked_ns) // 1000
            log.add(
                f'"read_done",{subscription.json},"entries":{len(indexes) + delayed},"bytes":{total},"duration_us":{took_us}'
                + (',"replay":true' if again else "")
            )
        self.held = CATCHING_UP
        wanted = subscription.without_withheld(indexes)
        if wanted:
            self._send(wanted, again)
        if delayed:
            subscription.report_delayed()
        self._go_on(len(indexes) + delayed)

    def _go_on(self, entries: int) -> None:
        """A read brought so many entries. Without any the next one comes a little later; an Exclusive dispatcher does not wait."""
        if entries or not (self.shared and self.subscription.topic.declared.transactions):
            self._backoff_ns = 0
            self.read_more()
        else:
            self._back_off()

    def _back_off(self) -> None:
        """Ask again soon, each time a little later."""
        self._backoff_ns = min(max(FIRST_BACKOFF_NS, 2 * self._backoff_ns), MOST_BACKOFF_NS)
        self._ask_again_in(self._backoff_ns)
        self.subscription.settle()

    # ---- delivering ----------------------------------------------------------------------------------------------------------------
    def _send(self, indexes: list[int], again: bool) -> None:
        """Hand entries to consumers in turn, write `dispatch`, charge the limiters. Entries that nobody may take wait to be read again."""
        subscription = self.subscription
        delivery = Delivery(subscription.json)
        taker: Consumer | None = None
        in_a_row = 0
        for place, index in enumerate(indexes):
            if taker is None or in_a_row >= ROUND_ROBIN_ENTRIES or not self._takes(taker):
                taker, in_a_row = self._next_taker(), 0
                if taker is None:
                    self.replay.extendleft(reversed(indexes[place:]))
                    break
            self._give(taker, index, delivery)
            in_a_row += 1
        self._complete(delivery)

    def _give(self, taker: "Consumer", index: int, delivery: Delivery) -> None:
        """An entry goes to a consumer."""
        ledger = self.subscription.topic.stored.ledger_of(index)
        msgs = ledger.msgs[index - ledger.first]
        taker.receive(index, msgs)
        self.subscription.in_flight += 1
        delivery.add(taker.number, taker.connection, (ledger.id, index - ledger.first), msgs, ledger.entry_bytes[index - ledger.first])

    def _complete(self, delivery: Delivery) -> None:
        """Everybody has got his share."""
        if delivery.shares:
            self._charge(delivery)
            for one in self.subscription.consumers:
                if one.number in delivery.shares:
                    one.wake()

    def _takes(self, one: "Consumer") -> bool:
        return not self.shared or (one.permits > 0 and not one.blocked)

    def _next_taker(self) -> "Consumer | None":
        consumers = self.subscription.consumers
        for step in range(len(consumers)):
            one = consumers[(self._turn + step) % len(consumers)]
            if self._takes(one):
                self._turn = (self._turn + step + 1) % len(consumers)
                return one
        return None

    def _charge(self, delivery: Delivery) -> None:
        subscription = self.subscription
        whole = delivery.whole()
        subscription.delivered_entries += whole.entries
        for event in delivery.events(tells_shares=self.process.tells_states):
            now_ns = self.process.log.add(event)
        for limiter in (self.process.limiter, subscription.topic.limiter, self.limiter):
            if limiter is not None:
                limiter.consume(whole.msgs, whole.bytes, now_ns)
        if self.shared:
            self.unacked_msgs += whole.msgs
            subscription.check_unacked()
