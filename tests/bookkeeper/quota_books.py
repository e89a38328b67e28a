"""An independent bookkeeper of backlog, quotas and evictions: what one broker's log says, in slow and obvious Python.

It shares no code with the product; it was written from the semantics reference (part B) and the log contract. Use it to judge the machine:

    books = QuotaBooks()
    for event in events:                # of one broker, in (epoch, seq) order, without repeats
        books.apply(event)
    books.checks, books.evictions       # a row per check of a topic with life in the log; a row per decision to act

The parts: quota_heap (who is slowest), quota_topic (ledgers, cursors, sizes, the oldest position), quota_evictions (what an action does),
quota_decisions (one look and its decision). tests/captures/test_quota_bookkeeper_captures.py compares all of it with real brokers.

When a comparison fails: compare `checks` in order, first differing row, only its differing fields; let hypothesis shrink the log
(quota_random.quota_logs()); ask the text who is right; the captures decide between both.
"""

from dataclasses import dataclass, field, replace

from bookkeeper.quota_decisions import DEDUP, KIND, Decision, Event, Row, Rules, decide, look, ns_of, oldest_shown
from bookkeeper.quota_evictions import EVICTION, version_of
from bookkeeper.quota_heap import Position
from bookkeeper.quota_topic import Cursor, History, Ledger, Topic

__all__ = ["BROKER_LEVEL", "DEDUP", "KIND", "Event", "QuotaBooks", "Row"]

PRECISE = "preciseTimeBasedBacklogQuotaCheck"
BUCKETS_S = (5, 10, 30, 60, 300)
#: In place of a topic's name: the sum over all that are loaded.
BROKER_LEVEL = "(broker)"
#: `duration_us` is measured a moment before its event is written.
ROUND_SLACK_NS = 2_000_000


@dataclass
class QuotaBooks:
    """Books of one broker; see the module. `check_durations_s` are of all checks of rounds, system topics included."""

    checks: list[Row] = field(default_factory=list)
    evictions: list[Row] = field(default_factory=list)
    check_durations_s: list[int] = field(default_factory=list)
    topics: dict[str, Topic] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    rounds: dict[int, set[str]] = field(default_factory=dict)
    acting: dict[str, list[Decision]] = field(default_factory=dict)
    guesses: dict[str, Decision] = field(default_factory=dict)
    last_acting: dict[str, Decision] = field(default_factory=dict)
    histories: dict[str, History] = field(default_factory=dict)
    left_deleted: dict[tuple[str, str], set[Position]] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        """The next event. A type that says nothing about backlog changes nothing."""
        if event["epoch"] != self.rules.epoch:
            self._new_epoch(event["epoch"])
        handler = getattr(self, f"_on_{event['type']}", None)
        if handler is not None:
            handler(event)

    def probe(self, topic: str, now_ms: int) -> Row:
        """What a check of `topic` would find and decide at `now_ms`; its oldest position and age are as cached last. Changes nothing."""
        row = look(self.topics[topic].clone(), topic, now_ms * 1000, self.rules)
        return row | oldest_shown(self.topics[topic], now_ms)

    def probe_age(self, topic: str, now_ms: int) -> int:
        """The age the broker shows at `now_ms` (s), −1 if none."""
        return int(oldest_shown(self.topics[topic], now_ms)["age_s"])

    def evictions_of(self, topic: str, kind: str) -> int:
        """Evictions of a `kind` (`size` | `time`) of a topic since it was loaded; of BROKER_LEVEL all together; of a system topic 0."""
        chosen = self.topics.values() if topic == BROKER_LEVEL else [self.topics[topic]] if topic in self.topics else []
        return sum(one.evictions_size if kind == "size" else one.evictions_time for one in chosen)

    def histogram(self) -> tuple[dict[str, int], int, int]:
        """Counts at or below each bucket's border (whole seconds), their sum, their number (2.5)."""
        seconds = self.check_durations_s
        counts = {f"{border:.1f}": sum(s <= border for s in seconds) for border in BUCKETS_S}
        return counts | {"+Inf": len(seconds)}, sum(seconds), len(seconds)

    # ---- the broker ------------------------------------------------------------------------------------------------------------

    def _new_epoch(self, epoch: int) -> None:
        for name in list(self.topics):
            self._forget(name)
        self.rules, self.check_durations_s = Rules(epoch), []
        self.left_deleted = {}  # which ones they were is not known of another process's log
        self.rounds, self.acting, self.guesses, self.last_acting = {}, {}, {}, {}

    def _on_broker_start(self, event: Event) -> None:
        precise = event["settings"].get(PRECISE, "false").lower() == "true"
        self.rules = replace(self.rules, version=version_of(event["version"]), precise=precise)

    # ---- topics and ledgers ----------------------------------------------------------------------------------------------------

    def _on_topic_load(self, event: Event) -> None:
        name = event["topic"]
        self._forget(name)
        self.topics[name] = Topic(self.histories.setdefault(name, {}))

    def _on_topic_unload(self, event: Event) -> None:
        self._forget(event["topic"])

    def _forget(self, name: str) -> None:
        """An unload: what the topic was is gone, but for what its cursors had individually deleted, which comes back at the next load."""
        topic = self.topics.pop(name, None)
        for pending in (self.acting, self.guesses, self.last_acting):
            pending.pop(name, None)
        if topic is not None:
            for sub, cursor in topic.cursors.items():
                self.left_deleted[name, sub] = cursor.deleted

    def _met(self, name: str) -> Topic:
        """The topic; met without its load, it is tracked from here on."""
        if name not in self.topics:
            self.topics[name] = Topic(self.histories.setdefault(name, {}), complete=False)
        return self.topics[name]

    def _on_ledger_open(self, event: Event) -> None:
        """The one opened at a load begins after everything confirmed; one opened by a roll-over changes nothing yet (2.2)."""
        topic = self._met(event["topic"])
        topic.ledgers[event["ledger"]] = Ledger()
        if event.get("snapshot"):
            topic.last_confirmed = (event["ledger"], -1)

    def _on_ledger_close(self, event: Event) -> None:
        topic = self._met(event["topic"]) if event.get("snapshot") else self.topics.get(event["topic"])
        if topic is not None:
            topic.ledgers[event["ledger"]] = Ledger(event["entries"], event["bytes"], event["close_ts"])

    def _on_ledger_trim(self, event: Event) -> None:
        if event["topic"] in self.topics:
            self.topics[event["topic"]].ledgers.pop(event["ledger"], None)
            self.histories[event["topic"]].pop(event["ledger"], None)

    def _on_publish(self, event: Event) -> None:
        topic = self._met(event["topic"])
        ledger = topic.ledgers.setdefault(event["ledger"], Ledger())
        ledger.entries = max(ledger.entries, event["entry"] + 1)
        ledger.size += event["bytes"]
        topic.last_confirmed = (event["ledger"], event["entry"])
        topic.history.setdefault(event["ledger"], {})[event["entry"]] = (event["publish_ts"], event["msgs"])

    # ---- cursors and producers -------------------------------------------------------------------------------------------------

    def _on_cursor_open(self, event: Event) -> None:
        topic, mark = self._met(event["topic"]), (event["ledger"], event["entry"])
        cursor = Cursor(event["durable"], mark)
        left = {gone for gone in self.left_deleted.pop((event["topic"], event["sub"]), set()) if gone > mark}
        if event.get("snapshot"):
            said = event.get("entries", len(left))
            if said == len(left):
                cursor.deleted = left
            else:
                cursor.unknown_deleted = said
        topic.heap.remove(event["sub"])
        topic.cursors[event["sub"]] = cursor
        if cursor.durable:
            topic.heap.add(event["sub"], mark)

    def _on_cursor_close(self, event: Event) -> None:
        topic = self.topics.get(event["topic"])
        if topic is not None and topic.cursors.pop(event["sub"], None) is not None:
            topic.heap.remove(event["sub"])

    def _on_ack(self, event: Event) -> None:
        """A part of a batch leaves the entry where it is; a cumulative ack acts by the mark_delete that follows it."""
        topic = self.topics.get(event["topic"])
        cursor = topic.cursors.get(event["sub"]) if topic is not None else None
        if cursor is None or event.get("batch_index") is not None:
            return
        position = (event["ledger"], event["entry"])
        if event["ack_type"] == "cumulative":
            cursor.asked = max(cursor.asked, position)
        elif position > cursor.mark:
            cursor.deleted.add(position)

    def _on_mark_delete(self, event: Event) -> None:
        topic = self.topics.get(event["topic"])
        cursor = topic.cursors.get(event["sub"]) if topic is not None else None
        if topic is None or cursor is None:
            return
        position = (event["ledger"], event["entry"])
        if event["persisted"]:  # alone where a roll-over puts a cursor from the very end before the new ledger: no figure differs by it
            topic.heap.move(event["sub"], position)
            return
        if not event.get("reset") and position > cursor.mark:
            over_live = position <= cursor.asked
            if not self._asked_for(topic, cursor, position):
                over_live = self._moved_by_nobody(event, topic, cursor, position)
            cursor.unknown_deleted = self._unknown_left(topic, cursor, position, over_live)
        topic.set_mark(cursor, position)
        if event.get("reset"):
            cursor.deleted, cursor.unknown_deleted, cursor.asked = set(), 0, (-1, -1)

    def _asked_for(self, topic: Topic, cursor: Cursor, position: Position) -> bool:
        """Whether acks explain that the mark-delete moves to `position`: only evictions step over a border alone.

        An ack moves it to the end of the deleted run that begins right behind it (2.2): with an entry that was acknowledged just now.
        """
        passed = [gone for gone in topic.entries_after(cursor.mark) if gone <= position]
        open_ones = [gone for gone in passed if gone not in cursor.deleted]
        slides = bool(passed) and passed[0] in cursor.deleted
        return bool(passed) and (position <= cursor.asked or not open_ones or (slides and len(open_ones) <= cursor.unknown_deleted))

    @staticmethod
    def _unknown_left(topic: Topic, cursor: Cursor, position: Position, over_live: bool) -> int:
        """How many of the deleted entries that nobody named lie behind `position`: acks alone move over deleted entries only."""
        open_ones = [gone for gone in topic.entries_after(cursor.mark) if gone not in cursor.deleted]
        passed = len([gone for gone in open_ones if gone <= position])
        left = cursor.unknown_deleted - (0 if over_live else min(passed, cursor.unknown_deleted))
        return min(left, len(open_ones) - passed)

    def _on_producer_open(self, event: Event) -> None:
        if event["topic"] in self.topics:
            self.topics[event["topic"]].producers.add((event.get("conn"), event["producer"]))

    def _on_producer_close(self, event: Event) -> None:
        if event["topic"] in self.topics:
            self.topics[event["topic"]].producers.discard((event.get("conn"), event["producer"]))

    def _on_backlog_quota(self, event: Event) -> None:
        self._met(event["topic"]).quotas[event["quota_type"]] = (event["limit"], event["policy"])

    # ---- rounds and checks -----------------------------------------------------------------------------------------------------

    def _on_quota_round(self, event: Event) -> None:
        """`rounds`: start (ns) of every one under way → topics that it has checked."""
        if event["phase"] == "start":
            self.rounds[ns_of(event)] = set()
        else:
            self.rounds.pop(self._round_of(event) or 0, None)

    def _round_of(self, event: Event) -> int | None:
        """The start of the round that an `end` or a check belongs to; None if the log does not have it."""
        start = ns_of(event) - event["duration_us"] * 1000
        nearest = min(self.rounds, key=lambda one: abs(one - start), default=None)
        return nearest if nearest is not None and abs(nearest - start) <= ROUND_SLACK_NS else None

    def _moved_by_nobody(self, event: Event, topic: Topic, cursor: Cursor, position: Position) -> bool:
        """A mark-delete without an ack: an eviction's, or a skip, clear or expiry. It goes to the decision that explains it; False: none.

        Where no `quota_exceeded` announced one, the first such move in a round says when its topic was decided: just before it.
        """
        name = event["topic"]
        moved = {"sub": event["sub"], "from_position": cursor.mark, "to_position": position, "time_us": event["ts"]}
        for decision in self.acting.get(name, []):
            if decision.may_have_moved(moved):
                decision.take(moved)
                return True
        last = self.last_acting.get(name)
        if last is not None and last.awaits(event["sub"]) and last.may_have_moved(moved):
            last.take(moved)
            return True
        awaiting = [start for start, checked in self.rounds.items() if name not in checked]
        if awaiting and not self.acting.get(name):
            earlier = self.guesses.get(name)
            known = earlier is not None and earlier.ns >= min(awaiting)
            guess = earlier if earlier is not None and known else decide(topic, name, event, self.rules)
            if guess.may_have_moved(moved):
                self.guesses[name] = guess
                guess.take(moved)
                return True
        return False

    def _on_quota_exceeded(self, event: Event) -> None:
        topic = self.topics.get(event["topic"])
        if topic is not None:
            decision = decide(topic, event["topic"], event, self.rules, said=event)
            topic.oldest = decision.topic.oldest
            self.acting.setdefault(event["topic"], []).append(decision)

    def _on_quota_check(self, event: Event) -> None:
        name, topic = event["topic"], self.topics.get(event["topic"])
        if event.get("cause") == "producer":
            if topic is not None:
                topic.look_up_oldest(self.rules.precise)
            return
        self.check_durations_s.append(event["duration_us"] // 1_000_000)
        if topic is None:
            return
        start = ns_of(event) - event["duration_us"] * 1000 - ROUND_SLACK_NS
        decision = next((one for one in self.acting.get(name, []) if one.ns >= start), None)
        if decision is not None:
            self.acting[name].remove(decision)
        else:
            guess = self.guesses.get(name)
            decision = self.guesses.pop(name) if guess is not None and guess.ns >= start else decide(topic, name, event, self.rules)
            topic.oldest = decision.topic.oldest
        checked = self._round_of(event)
        if checked is not None:
            self.rounds[checked].add(name)
        self._book(topic, name, decision)

    def _book(self, topic: Topic, name: str, decision: Decision) -> None:
        """The check is complete: its row, the counters with it, and the action's row, whose moves may still come (age, precise)."""
        row = decision.row
        if row["policy"] == EVICTION:
            topic.evictions_size += row["decision"] == "size"
            topic.evictions_time += row["decision"] == "time"
        self.checks.append(row | {"evictions_size": topic.evictions_size, "evictions_time": topic.evictions_time})
        self.last_acting.pop(name, None)
        if decision.eviction is not None:
            self.evictions.append(decision.eviction)
            self.last_acting[name] = decision
