"""A broker with one topic that writes its log and knows, at every moment, what holds each subscription back (cause_books.py)."""

from bookkeeper.cause_books import KEY_SHARED, TOPIC, CauseBooks, Subscription


class CauseBroker(CauseBooks):
    """Everything that can happen, as events of its log."""

    def publish(self, entries: int) -> None:
        for _ in range(entries):
            self.ask()
            idle = [sub for sub in self.subs if sub.is_awaited or len(self.waiting(sub)) <= sub.held]
            self._emit("publish", topic=TOPIC, ledger=5, entry=self.published, msgs=1, bytes=10, publish_ts=1)
            for sub in idle:
                self._divide_if_due(sub)
                if sub.account is None or sub.account[0] in ("in_flight", "delayed", "redelivery"):
                    sub.progress(self.ns)
                sub.is_asked, sub.is_awaited = True, False
            self.published += 1

    def transact(self, action: str) -> None:
        """Something is done in a transaction of the topic."""
        if self.tells:
            self._emit("transaction", topic=TOPIC, transaction_action=action)
            self.transaction = {"publish": "open", "ack": self.transaction}.get(action, "ended")

    def come(self, number: int) -> None:
        """A consumer on a connection of its own."""
        sub = self.subs[number]
        self._of(sub, "consumer_open", consumer=0, conn=self.next_conn)
        sub.conns.append(self.next_conn)
        self.next_conn += 1
        if len(sub.conns) == 1:
            self._forget_dispatcher(sub)
            sub.granted = 0
        elif sub.sub_type in ("Exclusive", "Failover"):
            sub.asks_others, sub.granted = True, None
        sub.progress(self.ns)

    def leave(self, number: int) -> None:
        """The first consumer leaves. With the last one all that was delivered goes back."""
        sub = self.subs[number]
        if not sub.conns:
            return
        conn = sub.conns.pop(0)
        self._of(sub, "consumer_close", consumer=0, conn=conn)
        sub.progress(self.ns)
        sub.asks_others, sub.granted = True, None
        if sub.sure_capped:
            were_all = sub.sure_capped == len(sub.conns) + 1
            sub.sure_capped, sub.maybe_capped = sub.sure_capped - 1, sub.maybe_capped or not were_all
        if not sub.conns:
            self._forget_dispatcher(sub)
            sub.delivered, sub.again, sub.aside = [], False, 0

    def _forget_dispatcher(self, sub: Subscription) -> None:
        sub.permits, sub.out, sub.answered, sub.came, sub.asked_again = 0, None, False, "entries", 0
        sub.blocked, sub.capped, sub.sure_capped, sub.maybe_capped, sub.asks_others = None, set(), 0, False, False

    def grant(self, number: int, permits: int) -> None:
        sub = self.subs[number]
        if not (self.tells and sub.conns):
            return
        before = sub.granted
        self._of(sub, "flow", consumer=0, conn=sub.conns[0], permits=permits)
        if before is not None:
            sub.granted = before + permits
            if before <= 0 < sub.granted and not sub.out and sub.permits <= 0:
                sub.progress(self.ns)

    def read(self, number: int, permits: int, blocked: tuple[str, str] | None) -> None:
        sub = self.subs[number]
        if not sub.conns:
            return
        answers: dict[str, int] = {}
        if blocked:
            answers = {f"{blocked[0]}_msgs": -1, f"{blocked[0]}_bytes": -1} | {
                f"{blocked[0]}_{ {'msg': 'msgs'}.get(blocked[1], blocked[1]) }": 0
            }
        self._of(sub, "read", sub_type=sub.sub_type, want_msgs=100, want_bytes=10_000, permits=permits, **answers)
        was_same, sub.permits, sub.most = permits == sub.permits, permits, None
        sub.asks_others = False
        if len(sub.conns) == 1 and sub.maybe_capped:
            sub.sure_capped, sub.maybe_capped = 0, False
        if blocked:
            sub.out, sub.asked_again, sub.moved_ns, sub.blocked = None, 0, self.ns, blocked
            return
        if sub.blocked:
            sub.progress(self.ns)
        sub.blocked = None
        if not sub.out:
            sub.asked_again, sub.moved_ns = 0, self.ns
        elif was_same:
            sub.asked_again += 1
        if sub.asked_again >= 3 and sub.sub_type == KEY_SHARED:
            sub.moved_ns = self.ns
        sub.out = "storage"
        self.ask()
        is_idle = not self.backlog(sub) or self.held_by(sub)[0] in ("in_flight", "delayed")
        is_idle = is_idle or (self.held_by(sub)[0] == "redelivery" and len(self.waiting(sub)) <= sub.held)
        has_read_all = len(self.waiting(sub)) <= sub.aside
        sub.out = "parked" if is_idle else "beyond" if has_read_all else "storage"

    def deliver(self, number: int, entries: int) -> None:
        sub = self.subs[number]
        given = self.waiting(sub)[:entries]
        if not (sub.conns and (sub.out or sub.answered) and given):
            return
        self.ask()
        self._comes_back(sub)
        self._of(sub, "dispatch", entries=len(given), msgs=len(given), bytes=10 * len(given))
        self._measure(sub)
        repeated = len(sub.ever & set(given))
        sub.delivered += given
        sub.ever |= set(given)
        sub.aside = max(0, sub.aside - len(given) + (repeated if sub.came != "entries" else 0))
        sub.came = "entries" if sub.came == "nothing" else sub.came
        sub.out, sub.answered, sub.asked_again, sub.moved_ns, sub.most = None, False, 0, self.ns, None
        if repeated:
            most = 4 * len([entry for entry in self.backlog(sub) if entry in sub.ever])
            sub.repeats, sub.repeated_ns = min(sub.repeats + repeated, most), self.ns
        if repeated < len(given):
            sub.progress(self.ns)
        sub.permits -= len(given)
        if sub.granted is not None:
            sub.granted -= len(given)

    def answer(self, number: int, brings: str) -> None:
        """Storage has answered: with entries, with nothing, with entries that were read before, or it has failed."""
        sub = self.subs[number]
        if not (self.tells and sub.out):
            return
        self.ask()
        if brings == "failure":
            self._emit("read_done", topic=TOPIC, sub=sub.name, entries=0, bytes=0, error="E")
            self.slow_ns = self.ns
            return
        self._comes_back(sub)
        entries = 0 if brings == "nothing" else 1
        self._of(sub, "read_done", entries=entries, bytes=1, **({"replay": True} if brings == "replay" else {}))
        self._measure(sub)
        sub.out, sub.asked_again, sub.moved_ns, sub.came = None, 0, self.ns, brings
        sub.answered = entries > 0
        sub.in_vain += 1
        if brings == "entries":
            sub.aside = min(sub.aside + 1, len(self.waiting(sub)))

    def acknowledge(self, number: int, entries: int, first: int) -> None:
        """Delivered entries, from the `first`-th on; then the mark-delete position moves over all that is whole."""
        sub = self.subs[number]
        for entry in sub.delivered[first : first + entries]:
            self._of(sub, "ack", consumer=0, ack_type="individual", ledger=5, entry=entry)
            sub.acked.add(entry)
            sub.delivered.remove(entry)
            self._acknowledged(sub, 1)
        self._move(sub)

    def acknowledge_all_to(self, number: int, back: int) -> None:
        """A cumulative acknowledgement: of all but the last `back` delivered entries."""
        sub = self.subs[number]
        upto = sorted(sub.delivered)[: max(0, len(sub.delivered) - back)]
        if not upto or set(range(sub.mark, upto[-1] + 1)) - sub.acked - set(sub.delivered):
            return
        self._of(sub, "ack", consumer=0, ack_type="cumulative", ledger=5, entry=upto[-1])
        newly = len(set(upto) - sub.acked)
        sub.acked |= set(upto)
        sub.delivered = [entry for entry in sub.delivered if entry not in sub.acked]
        self._acknowledged(sub, newly)
        self._acks_moved(sub, upto[-1])
        sub.mark = upto[-1] + 1
        self._move(sub)

    def _acknowledged(self, sub: Subscription, entries: int) -> None:
        """So many delivered entries were acknowledged."""
        sub.repeats = max(0, sub.repeats - 2 * entries)
        if sub.in_vain >= 2 and sub.account is not None:
            sub.progress_ns, sub.in_vain = self.ns, 0
        if not sub.delivered and sub.account is not None and sub.account[0] == "unacked_limit":
            sub.moved_ns = self.ns

    def _move(self, sub: Subscription) -> None:
        mark = sub.mark
        while mark in sub.acked:
            mark += 1
        if mark > sub.mark:
            self._acks_moved(sub, mark - 1)
            sub.mark = mark

    def evict(self, number: int, entries: int) -> None:
        """The oldest entries go, delivered or not. Where holes or redeliveries hide what was delivered our rules estimate."""
        sub = self.subs[number]
        gone = self.backlog(sub)[:entries]
        if not gone or sub.again or sub.acked - set(range(sub.mark)):
            return
        self._of(sub, "mark_delete", ledger=5, entry=gone[-1], persisted=False)
        sub.mark = gone[-1] + 1
        had = len(sub.delivered)
        sub.delivered = [entry for entry in sub.delivered if entry >= sub.mark]
        if had and not sub.delivered and sub.account is not None and sub.account[0] == "unacked_limit":
            sub.moved_ns = self.ns

    def seek(self, number: int, entry: int) -> None:
        sub = self.subs[number]
        place = min(entry, self.published)
        self._of(sub, "mark_delete", ledger=5, entry=place - 1, persisted=False, reset=True)
        sub.mark, sub.acked, sub.delivered, sub.again = place, set(range(place)), [], False
        sub.ever, sub.aside, sub.repeats = set(), 0, 0
        sub.progress(self.ns)

    def give_back(self, number: int, entries: int) -> None:
        """Delivered entries are asked for again."""
        sub = self.subs[number]
        if not (self.tells and sub.delivered):
            return
        again = sub.delivered[:entries]
        self._of(sub, "redeliver", cause="requested", entries=len(again))
        self._lives(sub)
        sub.delivered = sub.delivered[len(again) :]
        sub.again = True

    def hold(self, number: int, entries: int) -> None:
        """So many of the entries that wait are held for later."""
        sub = self.subs[number]
        if self.tells:
            self._of(sub, "delayed", entries=entries)
            self._lives(sub)
            sub.held = entries

    def _lives(self, sub: Subscription) -> None:
        """A sign of life, and no progress, but where nothing waited."""
        if len(self.waiting(sub)) <= sub.held:
            sub.progress(self.ns)
        sub.moved_ns = self.ns

    def cap(self, number: int, which: str, on: bool) -> None:
        sub = self.subs[number]
        if not (self.tells and sub.conns) or (which in sub.capped) == on:
            return
        self._of(sub, "consumer_blocked", cap=which, on=on)
        sub.capped ^= {which}
        sub.progress(self.ns)

    def cap_consumer(self, number: int, on: bool) -> None:
        """One more of its consumers reaches its cap, or one less has it on."""
        sub = self.subs[number]
        if not (self.tells and sub.conns):
            return
        self._of(sub, "consumer_blocked", cap="consumer", on=on)
        if len(sub.conns) == 1:
            sub.sure_capped, sub.maybe_capped = int(on), False
        else:
            sub.sure_capped = min(len(sub.conns), sub.sure_capped + 1) if on else max(0, sub.sure_capped - 1)
        sub.progress(self.ns)

    def fill(self, number: int, position: int, writable: bool) -> None:
        """A connection of a consumer crosses a water mark."""
        sub = self.subs[number]
        if position >= len(sub.conns):
            return
        conn = sub.conns[position]
        self._emit("writability", conn=conn, writable=writable, pending_bytes=10)
        self._divide(sub)
        (self.unwritable.discard if writable else self.unwritable.add)(conn)
        if self.backlog(sub):
            sub.progress(self.ns)
            self._weigh_if_elsewhere(sub)
            sub.is_asked = True

    def beat(self) -> None:
        self._emit("heartbeat", dropped=0)
        for sub in self.subs:
            self._divide(sub)
