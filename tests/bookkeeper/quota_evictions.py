"""What the broker's quota actions do to a topic (semantics 2.6): tried on a copy, nothing else changes."""

from typing import Any

from bookkeeper.quota_heap import Position
from bookkeeper.quota_topic import Cursor, Topic

EVICTION = "consumer_backlog_eviction"
Move = dict[str, Any]


def version_of(text: str) -> tuple[int, ...]:
    """`4.0.11-SNAPSHOT` → (4, 0, 11); what is no number ends it."""
    numbers: list[int] = []
    for part in text.split("-")[0].split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def whole_target(version: tuple[int, ...]) -> bool:
    """#25624: since 4.0.11 and 4.2.2, not in 4.1, the target is a whole number of bytes and the step is multiplied before it is divided."""
    return (4, 0, 11) <= version < (4, 1) or version >= (4, 2, 2)


def subtracts_deleted(version: tuple[int, ...]) -> bool:
    """#25089: from December 2025 on (4.0.9, 4.1.3, 4.2.0) a subscription's size is less what is individually deleted. 4.0.8 is not."""
    return (4, 0, 9) <= version < (4, 1) or version >= (4, 1, 3)


def size_target(limit: int, version: tuple[int, ...]) -> float | int:
    return int(0.9 * limit) if whole_target(version) else 0.9 * limit


def evict_by_size(topic: Topic, limit: int, version: tuple[int, ...]) -> list[Move]:
    """The loop of 2.6 on `topic` itself: one step per cursor in turn, and it stops when the same cursor would step twice running."""
    target, moves, previous = size_target(limit, version), [], None
    size = topic.backlog_size()
    while size > target:
        root = topic.heap.root()
        if root is None or root == previous:
            break
        unacked = topic.backlog_entries(topic.cursors[root])
        skip = int((size - target) * float(unacked) / size) if whole_target(version) else int(((size - target) / size) * unacked)
        if skip == 0:
            break
        cursor = topic.cursors[root]
        moves.append(move(topic, root, topic.after_skip(cursor.mark, skip)))
        size, previous = topic.backlog_size(), root
    return moves


def evict_by_close_time(topic: Topic, limit_s: int, now_ms: int) -> list[Move]:
    """Imprecise: whole closed ledgers older than the limit, cursor by cursor, until the slowest one no longer qualifies."""
    moves: dict[str, Move] = {}
    while (root := topic.heap.root()) is not None:
        mark = topic.cursors[root].mark
        ledger = topic.ledgers.get(mark[0])
        if ledger is not None and (ledger.close_ts is None or now_ms - ledger.close_ts <= limit_s * 1000):
            break
        following = next((number for number in sorted(topic.ledgers) if number > mark[0]), None)
        if following is None or not may_jump(topic, mark, following):
            break
        step = move(topic, root, (following, -1))
        first = moves.setdefault(root, step)
        if first is not step:
            moves[root] = first | {"to_position": step["to_position"], "entries": first["entries"] + step["entries"]}
    return list(moves.values())


def may_jump(topic: Topic, mark: Position, number: int) -> bool:
    """Before the first entry of ledger `number`: beyond what is confirmed only from the end of a ledger that is still there (2.2)."""
    if (number, -1) <= topic.last_confirmed:
        return True
    ledger = topic.ledgers.get(mark[0])
    return ledger is not None and mark[1] + 1 >= ledger.entries


def evict_by_publish_time(topic: Topic, limit_s: int, now_ms: int, version: tuple[int, ...]) -> list[Move]:
    """Precise: on every subscription all that is older than nine tenths of the limit, in whole seconds, is passed."""
    target_s = int(0.9 * limit_s)
    moves = []
    for name, cursor in topic.subscriptions().items():
        if target_s == 0 and version < (4, 1):
            continue
        found = newest_older_than(topic, cursor, now_ms - target_s * 1000, target_s)
        if found is not None and found > cursor.mark:
            moves.append(move(topic, name, found))
    return moves


def newest_older_than(topic: Topic, cursor: Cursor, before_ms: int, target_s: int) -> Position | None:
    """First over closed ledgers that are too old as a whole, then to the newest entry of a time before `before_ms` (both strict)."""
    found = None
    if target_s > 0:
        for number in sorted(number for number in topic.ledgers if number >= cursor.mark[0]):
            ledger = topic.ledgers[number]
            if ledger.close_ts is None or ledger.close_ts >= before_ms:
                break
            if ledger.entries:
                found = (number, ledger.entries - 1)
    for position in topic.entries_after(cursor.mark):
        publish_ts = topic.publish_ts(position)
        if publish_ts is not None and publish_ts < before_ms and (found is None or position > found):
            found = position
    return found


def move(topic: Topic, name: str, position: Position) -> Move:
    """A cursor goes forward to `position`, over what is deleted behind it, and its heap key with it. `entries` are those it still had."""
    cursor = topic.cursors[name]
    start, before = cursor.mark, topic.backlog_entries(cursor)
    topic.forward(cursor, position)
    if cursor.durable:
        topic.heap.move(name, cursor.mark)
    return {"sub": name, "from_position": start, "to_position": cursor.mark, "entries": before - topic.backlog_entries(cursor)}
