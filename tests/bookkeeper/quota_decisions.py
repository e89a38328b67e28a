"""One look at a topic and what the broker decides by it (semantics 2.4 to 2.6), and whether what it then did is that."""

from dataclasses import dataclass
from typing import Any

from bookkeeper.quota_evictions import (
    EVICTION,
    Move,
    evict_by_close_time,
    evict_by_publish_time,
    evict_by_size,
    size_target,
    subtracts_deleted,
)
from bookkeeper.quota_heap import Position
from bookkeeper.quota_topic import Cursor, Topic

Event = dict[str, Any]
Row = dict[str, Any]

SIZE, AGE = "destination_storage", "message_age"
KIND = {SIZE: "size", AGE: "time"}
DEDUP = "pulsar.dedup"


@dataclass(frozen=True)
class Rules:
    """What a broker's start says: its release, and whether ages come from entries (precise) or from ledgers."""

    epoch: int = -1
    version: tuple[int, ...] = ()
    precise: bool = False


@dataclass
class Decision:
    """A look (`row`) and, if it or the broker says to act, the row of the action. `topic` is a copy: as looked at, before any action."""

    row: Row
    eviction: Row | None
    topic: Topic
    ns: int
    rules: Rules

    def in_background(self) -> bool:
        """An age eviction by publish time: its moves may come after its check, to positions found some milliseconds later."""
        return self.row["decision"] == "time" and self.row["policy"] == EVICTION and self.rules.precise

    def may_have_moved(self, moved: Move) -> bool:
        """Whether a move may be one of this decision: of a cursor that moves, and not beyond where that one goes."""
        if self.eviction is None:
            return False
        moves = self.eviction["moves"]
        if self.in_background():
            now_ms = moved["time_us"] // 1000
            moves = evict_by_publish_time(self.topic.clone(), self.row["limit_time"], now_ms, self.rules.version)
        return any(ours["sub"] == moved["sub"] and moved["to_position"] <= ours["to_position"] for ours in moves)

    def awaits(self, sub: str) -> bool:
        """Whether a cursor has still to come to where it was found, in the background, that it would be moved."""
        if self.eviction is None or not self.in_background():
            return False
        reached = dict(steps(self.eviction["broker_did"]["moves"]))
        expected = dict(steps(self.eviction["moves"]))
        return sub in expected and reached.get(sub, (-1, -1)) < expected[sub]

    def take(self, moved: Move) -> None:
        """The broker made this move for the decision."""
        if self.eviction is not None:
            self.eviction["broker_did"]["moves"].append(moved)
            self.eviction["agrees"] = agrees(self.eviction, in_background=self.in_background())


def decide(topic: Topic, name: str, event: Event, rules: Rules, said: Event | None = None) -> Decision:
    """What a check of `topic` decides just before `event`; `topic` itself stays as it is. `said` is the broker's own `quota_exceeded`."""
    looked = topic.clone()
    row = look(looked, name, event["ts"], rules)
    eviction = None
    if row["decision"] is not None or said is not None:
        eviction = action(looked.clone(), row, said, rules)
    return Decision(row, eviction, looked, ns_of(event), rules)


def look(topic: Topic, name: str, ts: int, rules: Rules) -> Row:
    """Updates the oldest position of `topic`, then size before age (2.5). An entry that cannot be read: neither is judged."""
    now_ms = ts // 1000
    readable = topic.look_up_oldest(rules.precise)
    limit_size, size_policy = topic.quotas.get(SIZE, (-1, None))
    limit_time, time_policy = topic.quotas.get(AGE, (-1, None))
    size = topic.backlog_size()
    oldest_ms = topic.oldest.ts_ms if topic.oldest is not None else None
    decision, policy = None, None
    if readable and 0 <= limit_size <= size:
        decision, policy = "size", size_policy
    elif readable and limit_time > 0 and oldest_ms is not None and now_ms > oldest_ms + limit_time * 1000:
        decision, policy = "time", time_policy
    return {
        "epoch": rules.epoch,
        "check_time_us": ts,
        "topic": name,
        "backlog_size": size,
        "limit_size": limit_size,
        "limit_time": limit_time,
        **oldest_shown(topic, now_ms),
        "readable": readable,
        "decision": decision,
        "policy": policy,
        "evictions_size": topic.evictions_size,
        "evictions_time": topic.evictions_time,
        "complete": topic.complete,
        "subscriptions": [subscription(topic, sub, cursor, rules) for sub, cursor in sorted(topic.subscriptions().items())],
    }


def oldest_shown(topic: Topic, now_ms: int) -> Row:
    """Name and timestamp as cached, the age as of now; −1 if there is none. A timestamp from before the log is not known: None, −1."""
    oldest = topic.oldest
    if oldest is None or oldest.ts_ms is None:
        return {"oldest_ts_ms": None, "oldest_name": oldest.name if oldest is not None else None, "age_s": -1}
    return {"oldest_ts_ms": oldest.ts_ms, "oldest_name": oldest.name, "age_s": whole_seconds(now_ms - oldest.ts_ms)}


def subscription(topic: Topic, sub: str, cursor: Cursor, rules: Rules) -> Row:
    """A subscription's part of a check's row: entries, bytes by the broker's estimate, messages, and what is truly its oldest (ms)."""
    return {
        "sub": sub,
        "durable": cursor.durable,
        "msg_backlog": topic.backlog_entries(cursor),
        "backlog_size": topic.subscription_size(cursor, less_deleted=subtracts_deleted(rules.version)),
        "msgs": topic.backlog_messages(cursor),
        "true_oldest_publish_ts_ms": None if cursor.unknown_deleted else topic.publish_ts(topic.oldest_unacknowledged(cursor)),
        "mark_delete": cursor.mark,
    }


def action(topic: Topic, row: Row, said: Event | None, rules: Rules) -> Row:
    """The row of an action: tries it on `topic`. Sizes are bytes; an age's `limit` and `target` are seconds, its `exceeded_by` ms."""
    decision, evicts, now_ms = row["decision"], row["policy"] == EVICTION, row["check_time_us"] // 1000
    limit, target, over = None, None, None
    moves: list[Move] = []
    if decision == "size":
        limit = row["limit_size"]
        over = row["backlog_size"] - limit
        target = size_target(limit, rules.version) if evicts else None
        moves = evict_by_size(topic, limit, rules.version) if evicts else []
    elif decision == "time":
        limit = row["limit_time"]
        over = now_ms - row["oldest_ts_ms"] - limit * 1000
        target = None if not evicts else int(0.9 * limit) if rules.precise else limit
        if evicts and rules.precise:
            moves = evict_by_publish_time(topic, limit, now_ms, rules.version)
        elif evicts:
            moves = evict_by_close_time(topic, limit, now_ms)
    made = {
        "epoch": rules.epoch,
        "time_us": row["check_time_us"],
        "topic": row["topic"],
        "quota_type": decision,
        "policy": row["policy"],
        "limit": limit,
        "exceeded_by": over,
        "target": target,
        "moves": moves,
        "producers_cut_off": 0 if decision is None or evicts else cut_off(topic, decision),
        "broker_did": {"quota_exceeded": said, "moves": []},
    }
    return made | {"agrees": agrees(made, in_background=decision == "time" and evicts and rules.precise)}


def cut_off(topic: Topic, decision: str) -> int:
    """All producers; after #20951 none more or less where the deduplication cursor is the slowest: then a snapshot moves that one."""
    return 0 if decision == "size" and topic.heap.root() == DEDUP else len(topic.producers)


def agrees(ours: Row, *, in_background: bool) -> bool:
    """Whether the broker said the same and moved the same cursors to the same places.

    By size in the same steps. By age only the last place of each counts; by publish time that may be a little further than ours, as
    the broker reads its clock anew for every entry it looks at.
    """
    said, did = ours["broker_did"]["quota_exceeded"], ours["broker_did"]["moves"]
    if said is None or (KIND[said["quota_type"]], said["policy"], said["limit"]) != (ours["quota_type"], ours["policy"], ours["limit"]):
        return False
    if ours["quota_type"] == "size":
        return steps(ours["moves"]) == steps(did)
    expected, reached = dict(steps(ours["moves"])), dict(steps(did))
    if not in_background:
        return expected == reached
    return set(expected) <= set(reached) and all(reached[sub] >= place for sub, place in expected.items())


def steps(moves: list[Move]) -> list[tuple[str, Position]]:
    """Cursor and place, in order."""
    return [(moved["sub"], moved["to_position"]) for moved in moves]


def ns_of(event: Event) -> int:
    return int(event.get("ns", event["ts"] * 1000))


def whole_seconds(ms: int) -> int:
    """Towards zero, as the broker's conversion does: a clock half a second ahead is an age of 0, not of -1, which means none."""
    return ms // 1000 if ms >= 0 else -(-ms // 1000)
