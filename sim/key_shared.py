"""A Key_Shared dispatcher as in 4.0: the entries of a key go to one consumer, in order. What its consumer cannot take is put aside.

What lies aside is in the replay queue, in order of position. While it is not full, the dispatcher reads on, for other consumers.
"""

from collections import Counter, deque
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

from sim.agenda import NS_PER_MS
from sim.backlog import Backlog
from sim.blocked_keys import BlockedKeys
from sim.consumer import Consumer
from sim.delivery import Delivery
from sim.dispatcher import IDLE, WAITING, Dispatcher
from sim.limiters import Limiter
from sim.read_limits import MAX_READ_ENTRIES, Granted
from sim.truth import CATCHING_UP, CHANNEL, KEYS_BLOCKED, UNACKED_LIMIT, Cause

#: Where a key may go on, the dispatcher asks this much later (keySharedUnblockingIntervalMs).
UNBLOCKED_AFTER_NS = 10 * NS_PER_MS


#: The consumer could take more, but not of this key.
BY_KEY = ("key_in_replay", "draining")


class Refusal(NamedTuple):
    """Why entries of a key are put aside, and whose key it is."""

    reason: str
    owner: Consumer


class KeySharedDispatcher(Dispatcher):
    """The dispatcher of a Key_Shared subscription."""

    def __init__(self, backlog: Backlog, topic_limiter: Limiter) -> None:
        super().__init__(backlog, topic_limiter)
        self._blocked_keys = BlockedKeys(backlog)
        self.process.at_heartbeat.append(self._blocked_keys.heartbeat)
        self._aside: set[int] = set()
        self._keys_aside: Counter[int] = Counter()
        self._owners: dict[int, Consumer] = {}
        self._owners_among: list[Consumer] = []
        self._asked = 0
        self._looks_ahead = self._refused_all = self._unblocking = False

    # ---- whose key it is -----------------------------------------------------------------------------------------------------------
    def _owner(self, key: int) -> Consumer:
        """One that comes or leaves moves no key between two others, as with consistent hashing."""
        consumers = self.backlog.consumers
        if consumers != self._owners_among:
            self._owners, self._owners_among = {}, list(consumers)
        if key not in self._owners:
            self._owners[key] = max(consumers, key=lambda one: (crc32(f"{one.name}/{key}".encode()), one.number))
        return self._owners[key]

    def _room(self, one: Consumer) -> int:
        """Entries that it may get: its permits, and what its cap of unacknowledged messages leaves."""
        cap = self.process.brokers.max_unacked_per_consumer
        return max(0, min(one.permits, cap - one.unacked_msgs) if cap else one.permits)

    def _is_draining(self, key: int, owner: Consumer) -> bool:
        """Another consumer has entries of the key that it has not acknowledged."""
        return any(one.keys[key] > 0 for one in self.backlog.consumers if one is not owner)

    # ---- the replay queue ----------------------------------------------------------------------------------------------------------
    def put_back(self, indexes: Iterable[int]) -> None:
        """These are to be delivered again, or lie aside."""
        new = sorted(set(indexes) - self._aside)
        in_order = not self.backlog.replay or not new or self.backlog.replay[-1] < new[0]
        self.backlog.replay.extend(new)
        if not in_order:
            self.backlog.replay = deque(sorted(self.backlog.replay))
        self._aside.update(new)
        self._keys_aside.update(map(self._stored.key_of, new))

    def _take_out(self, indexes: Iterable[int]) -> None:
        gone = self._aside.intersection(indexes)
        if gone:
            self.backlog.replay = deque(index for index in self.backlog.replay if index not in gone)
            self._aside -= gone
            self._keys_aside.subtract(map(self._stored.key_of, gone))

    def abandon(self) -> None:
        """The last consumer has left: nothing lies aside, the cursor goes back."""
        super().abandon()
        self._aside.clear()
        self._keys_aside.clear()
        self._looks_ahead = False

    def _replayable(self, most: int) -> list[int]:
        """What of the queue may go now. Once an entry of a key may not go, none behind it may."""
        found: list[int] = []
        stopped: set[int] = set()
        rooms: dict[int, int] = {}
        for index in self.backlog.replay:
            key = self._stored.key_of(index)
            if key in stopped:
                continue
            owner = self._owner(key)
            room = rooms.setdefault(owner.number, self._room(owner))
            if room <= 0 or self._is_draining(key, owner):
                stopped.add(key)
                continue
            rooms[owner.number] = room - 1
            found.append(index)
            if len(found) >= most:
                break
        return found

    # ---- deciding to read ----------------------------------------------------------------------------------------------------------
    def _look_ahead(self) -> int:
        """So many entries may lie aside."""
        brokers = self.process.brokers
        return min(brokers.look_ahead_per_consumer * len(self.backlog.consumers), brokers.look_ahead_per_subscription)

    def _evaluate(self, permits: int) -> None:
        """Entries that lie aside come first. New ones are read only while there is room for what nobody can take of them."""
        unwritable = self._all_unwritable(self.backlog.consumers)
        want = 1 if unwritable else min(permits, MAX_READ_ENTRIES)
        granted = self._ask_limits(permits, want)
        self._asked += 1
        if granted is None or self.replay_read:
            return
        skips, self._looks_ahead = self._looks_ahead, False
        may_go = self._replayable(granted[0])
        self.backlog.kept_aside = 0 if may_go else len(self.backlog.replay)
        cause = CHANNEL if unwritable else CATCHING_UP
        if may_go and not skips:
            self.replay_read, self.backlog.held = True, cause
            self._plan_replay(may_go)
        elif self.caps.blocked:
            self._idle(UNACKED_LIMIT)
        elif self.read == IDLE:
            self._read_if_allowed(granted, cause)
        elif self.read == WAITING:
            self.backlog.held = self._or_blocked(cause)

    def _read_if_allowed(self, granted: Granted, cause: Cause) -> None:
        is_full = len(self.backlog.replay) >= self._look_ahead()
        if is_full or not any(self._room(one) > 0 for one in self.backlog.consumers if not one.blocked):
            self._blocked_keys.add("look_ahead_limit" if is_full else "no_permits", None, 0)
            self._idle(self._or_blocked(cause) if is_full else UNACKED_LIMIT)
            self._back_off()
            return
        self._read_new((min(granted[0], self._look_ahead() - len(self.backlog.replay)), granted[1]), cause)
        if self.read == WAITING:
            self.backlog.held = self._or_blocked(cause)

    def _or_blocked(self, cause: Cause) -> Cause:
        """Nothing else can be read: entries that lie aside and cannot go are why there is a backlog."""
        return KEYS_BLOCKED if cause is CATCHING_UP and self.backlog.kept_aside else cause

    def _plan_replay(self, indexes: list[int]) -> None:
        self._plan(self._read_again, (len(indexes), 0), self.process.cached_read_ns())
        self._again = indexes

    def _read_again(self, granted: Granted, read: int, asked_ns: int) -> None:
        if self.cursor.closed or read < self._oldest_read:
            return
        self.replay_read = False
        self._take_out([index for index in self._again if not self.cursor.is_unacknowledged(index)])
        self._arrived([index for index in self._again if index in self._aside], 0, asked_ns, True)

    # ---- delivering ----------------------------------------------------------------------------------------------------------------
    def _send(self, indexes: list[int], again: bool) -> None:
        """Each entry to the consumer of its key, if it may go there; else it is put aside, and all of its key behind it."""
        may_look_ahead = len(self.backlog.replay) < self._look_ahead()
        delivery, refused, seen = self._sorted(indexes, again)
        if again:
            self._take_out(set(indexes) - {index for index, _ in refused})
        self.put_back(index for index, _ in refused)
        for refusal, entries in Counter(refusal for _, refusal in refused).items():
            self._blocked_keys.add(refusal.reason, refusal.owner, entries)
        self._complete(delivery)
        if not delivery.shares:
            by_key = [refusal.owner.number for _, refusal in refused if refusal.reason in BY_KEY and not again]
            self._looks_ahead = may_look_ahead and any(
                self._room(one) > 0 for one in self.backlog.consumers if one.number in by_key or one.number not in seen
            )
            self._refused_all = not self._looks_ahead

    def _sorted(self, indexes: list[int], again: bool) -> tuple[Delivery, list[tuple[int, Refusal]], set[int]]:
        """(what goes to whom, what is put aside and why, numbers of the consumers whose keys these are)."""
        delivery = Delivery(self.cursor.json)
        refused: list[tuple[int, Refusal]] = []
        stopped: dict[int, Refusal] = {}
        rooms: dict[int, int] = {}
        for index in indexes:
            key = self._stored.key_of(index)
            if key not in stopped:
                owner = self._owner(key)
                room = rooms.setdefault(owner.number, self._room(owner))
                reason = self._why_not(key, owner, room, again)
                if reason is None:
                    rooms[owner.number] = room - 1
                    self._give(owner, index, delivery)
                    continue
                stopped[key] = Refusal(reason, owner)
            refused.append((index, stopped[key]))
        return delivery, refused, set(rooms)

    def _why_not(self, key: int, owner: Consumer, room: int, again: bool) -> str | None:
        if room <= 0:
            return "unacked_limit" if owner.permits > 0 else "no_permits"
        if not again and self._keys_aside[key] > 0:
            return "key_in_replay"
        return "draining" if self._is_draining(key, owner) else None

    def _go_on(self, entries: int) -> None:
        """Read on at once where something was delivered, or where looking ahead may help; else a little later."""
        waits, self._refused_all = self._refused_all or not entries, False
        if not waits:
            self._backoff_ns = 0
            self.read_more()
            return
        self.backlog.kept_aside = 0 if self._replayable(1) else len(self.backlog.replay)
        self._idle(self._or_blocked(CATCHING_UP))
        self._back_off()

    # ---- going on --------------------------------------------------------------------------------------------------------------------
    def acknowledged(self, consumer: Consumer, indexes: Iterable[int], moved: bool) -> None:
        """The position moved, or a key of another consumer is free: entries that lie aside may go soon."""
        if self.backlog.replay and not self._unblocking and (moved or self._frees_key(consumer, indexes)):
            self._unblocking = True
            self.process.agenda.at(self.process.log.now_ns() + UNBLOCKED_AFTER_NS, self._unblocked, self._asked)

    def _frees_key(self, consumer: Consumer, indexes: Iterable[int]) -> bool:
        keys = set(map(self._stored.key_of, indexes))
        return any(not consumer.keys[key] and self._owner(key) is not consumer for key in keys)

    def _unblocked(self, asked: int) -> None:
        """A read that waits for new entries is taken back, for those that lie aside."""
        self._unblocking = False
        if self.cursor.closed or not self.backlog.consumers or not self.backlog.replay:
            return
        was_waiting = self.read == WAITING
        if was_waiting:
            self.read = IDLE
        if was_waiting or asked == self._asked:
            self.read_more()
