"""The backlog of each subscription at every second, counted from the events of one epoch alone: what is published and not acknowledged.

It is the weight of a truth, so it shares no code with the rules. Entries that were there before the log began are known as far as ledgers
that are closed have them.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from typing import Any

from bench.trust.truth import US_PER_S, Sample

Position = tuple[int, int]
Named = tuple[str, str]


class _Topic:
    """Positions in order, and when each was published; a position before the log has the time of the first event."""

    def __init__(self) -> None:
        self.positions: list[Position] = []
        self.times_us: list[int] = []

    def add(self, position: Position, at_us: int) -> None:
        if not self.positions or position > self.positions[-1]:
            self.positions.append(position)
            self.times_us.append(at_us)


class _Cursor:
    """The mark-delete position, and what is acknowledged beyond it."""

    def __init__(self, topic: _Topic, mark: Position) -> None:
        self.topic, self.mark = topic, mark
        self.beyond: list[Position] = []
        self.acked: set[Position] = set()

    def acknowledge(self, position: Position) -> None:
        if position > self.mark and position not in self.acked:
            self.acked.add(position)
            heappush(self.beyond, position)

    def move(self, mark: Position, *, is_reset: bool) -> None:
        self.mark = mark if is_reset else max(mark, self.mark)
        while self.beyond and self.beyond[0] <= self.mark:
            self.acked.discard(heappop(self.beyond))

    def sample(self, now_us: int) -> Sample:
        place = bisect_right(self.topic.positions, self.mark)
        backlog = len(self.topic.positions) - place - len(self.acked)
        if backlog <= 0:
            return Sample(0, 0)
        while self.topic.positions[place] in self.acked:
            place += 1
        return Sample(backlog, max(0, now_us - self.topic.times_us[place]))


def backlogs(events: Iterable[Mapping[str, Any]]) -> dict[Named, dict[int, Sample]]:
    """(topic, subscription) → second since 1970 → backlog and age of its oldest entry at its begin. Events are in order of `seq`."""
    topics: dict[str, _Topic] = {}
    cursors: dict[Named, _Cursor] = {}
    found: dict[Named, dict[int, Sample]] = {}
    second = None
    for event in events:
        now = event["ts"] // US_PER_S
        # A clock that is set back begins its seconds again.
        for passed in range(now if second is None or now < second else second + 1, now + 1):
            for name, cursor in cursors.items():
                found.setdefault(name, {})[passed] = cursor.sample(passed * US_PER_S)
        second = now
        _apply(event, topics, cursors)
    return found


def _apply(event: Mapping[str, Any], topics: dict[str, _Topic], cursors: dict[Named, _Cursor]) -> None:
    type_, topic = event["type"], event.get("topic")
    if topic is None:
        return
    name = (topic, event.get("sub", ""))
    if type_ == "publish":
        topics.setdefault(topic, _Topic()).add((event["ledger"], event["entry"]), event["ts"])
    elif type_ == "ledger_close" and event.get("snapshot"):
        for entry in range(event["entries"]):
            topics.setdefault(topic, _Topic()).add((event["ledger"], entry), event["ts"])
    elif type_ == "cursor_open":
        cursors[name] = _Cursor(topics.setdefault(topic, _Topic()), (event["ledger"], event["entry"]))
    elif type_ == "cursor_close":
        cursors.pop(name, None)
    elif type_ == "topic_unload":
        for other in [one for one in cursors if one[0] == topic]:
            del cursors[other]
    elif name in cursors and type_ in ("ack", "broker_ack") and event["ack_type"] == "individual":
        cursors[name].acknowledge((event["ledger"], event["entry"]))
    elif name in cursors and type_ == "mark_delete" and not event.get("persisted"):
        cursors[name].move((event["ledger"], event["entry"]), is_reset=bool(event.get("reset")))
