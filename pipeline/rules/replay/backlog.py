"""A subscription's backlog on its topic's scale: the mark, acknowledgements behind it, and the time that each cause holds it (§2.2)."""

from typing import Any

from pipeline.rules.compiled import compiled_part, inlined_part
from pipeline.rules.records import Record


@inlined_part
def backlog_of(replay: Any, sub: Record) -> int:
    """Entries behind the mark that are not acknowledged (precise, §2.3)."""
    return replay.topics[sub.topic].published - sub.mark - sub.deleted


@inlined_part
def has_waiting(replay: Any, sub: Record) -> bool:
    """Whether an entry waits to be delivered, or to be delivered again."""
    return sub.read < replay.topics[sub.topic].published or sub.replay_used > 0


@inlined_part
def settle(replay: Any, sub: Record) -> None:
    """Charge the time since the last look to the cause that held the subscription."""
    now_ns = replay.clock[0].now_ns
    if has_waiting(replay, sub):
        sub.held_ns[sub.cause] += now_ns - sub.since_ns
    sub.since_ns = now_ns


@inlined_part
def is_acked(replay: Any, sub: Record, place: int) -> bool:
    """Whether the entry is gone for the subscription."""
    return place < sub.mark or replay.acked[sub.first_ack + place] == 1


@inlined_part
def acknowledge(replay: Any, sub: Record, place: int) -> bool:
    """The entry is acknowledged; the mark slides over what follows it. False: it was gone before."""
    if is_acked(replay, sub, place):
        return False
    replay.acked[sub.first_ack + place] = 1
    sub.deleted += 1
    _slide(replay, sub)
    return True


@compiled_part
def move_mark(replay: Any, sub: Record, mark: int) -> int:
    """All entries before `mark` are gone; how many of them were not before. Backwards it does not go."""
    passed = 0
    while sub.mark < mark:
        if replay.acked[sub.first_ack + sub.mark] == 1:
            sub.deleted -= 1
        else:
            passed += 1
        sub.mark += 1
    _slide(replay, sub)
    sub.read = max(sub.read, sub.mark)
    return passed


@inlined_part
def _slide(replay: Any, sub: Record) -> None:
    published = replay.topics[sub.topic].published
    while sub.mark < published and replay.acked[sub.first_ack + sub.mark] == 1:
        sub.mark += 1
        sub.deleted -= 1


@compiled_part
def sample(replay: Any, instant: int) -> None:
    """Write every backlog, and the publish time of its oldest entry."""
    for s in range(replay.subs.shape[0]):
        sub = replay.subs[s]
        topic = replay.topics[sub.topic]
        replay.samples[instant, s, 0] = backlog_of(replay, sub)
        if sub.open == 0:
            replay.samples[instant, s, 0] = replay.samples[instant, s, 1] = 0
            continue
        is_behind = sub.mark < topic.published
        replay.samples[instant, s, 1] = replay.entries[topic.first_entry + sub.mark].publish_ms if is_behind else 0
