"""The part of a log that a replay needs which begins at an instant: marks of cursors then, and from when on rows are read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline.query.room import ReadingRoom
from schemas.events import CODES

#: Marks are looked for in so long before the instant, and only then further back. A broker states each cursor every minute or so.
USUAL_LOOK_BACK_US = 3_600_000_000
#: Deliveries of so long before the instant are charged to the limiters: a bucket of some periods forgets what was before.
CHARGED_BEFORE_US = 120_000_000
_1970 = datetime(1970, 1, 1, tzinfo=UTC)

Row = dict[str, Any]
Position = tuple[int, int]
#: From and to; null: where the record begins and ends.
Span = tuple[datetime | None, datetime | None]


@dataclass(frozen=True)
class Stretch:
    """From `from_us` (null: the whole record) to `to_us` (null: its end), µs since 1970. `marks`: of subscriptions there, by id."""

    from_us: int | None = None
    to_us: int | None = None
    marks: Mapping[int, Position] = field(default_factory=dict)

    @property
    def until(self) -> str:
        """Condition of rows that are not after it."""
        return "" if self.to_us is None else f" AND ts <= {self.to_us}"

    def has(self, opened_us: int, sub_id: int) -> bool:
        """Whether the replay has a subscription that was opened at that time: it is there at the beginning, or comes later."""
        return self.from_us is None or sub_id in self.marks or opened_us >= self.from_us


def us_of(at: datetime) -> int:
    """µs since 1970."""
    return int((at - _1970) / timedelta(microseconds=1))


def marks_at(look: ReadingRoom, where: str, at_us: int, opened: Sequence[Row]) -> dict[int, Position]:
    """The position up to which each subscription was acknowledged, of those whose `cursor_open` is in `opened`."""
    found = {row["sub_id"]: (row["seq"], (row["ledger"], row["entry"])) for row in opened if row["ts"] < at_us}
    newest = _marks(look, f"{where} AND ts >= {at_us - USUAL_LOOK_BACK_US}", at_us)
    if found.keys() - newest.keys():
        ids = ", ".join(map(str, sorted(found.keys() - newest.keys())))
        newest |= _marks(look, f"{where} AND sub_id IN ({ids})", at_us)
    return {sub_id: max(mark, newest.get(sub_id, mark))[1] for sub_id, mark in found.items()}


def _marks(look: ReadingRoom, where: str, at_us: int) -> dict[int, tuple[int, Position]]:
    """(seq, position) of the newest move, or statement, of each mark."""
    moves = f"(type_code = {CODES['mark_delete']} AND NOT persisted) OR type_code = {CODES['state']}"
    rows = look.rows(
        "SELECT sub_id, max(coalesce(as_of_seq, seq)) AS seq, max_by(ledger, coalesce(as_of_seq, seq)) AS ledger,"
        " max_by(entry, coalesce(as_of_seq, seq)) AS entry"
        f" FROM dispatch_events WHERE {where} AND ts < {at_us} AND ledger IS NOT NULL AND ({moves}) GROUP BY sub_id"
    )
    return {row["sub_id"]: (row["seq"], (row["ledger"], row["entry"])) for row in rows}


def rows_since(stretch: Stretch, opened: Iterable[Row], ledgers: Sequence[Row]) -> str:
    """Condition of rows that a replay from the beginning of the stretch needs: all of ledgers in which something is not acknowledged.

    `opened`: `cursor_open` rows; `ledgers`: `ledger_open` rows.
    """
    if stretch.from_us is None:
        return ""
    opened_us = {(row["topic_id"], row["ledger"]): row["ts"] for row in ledgers}
    floors: dict[int, int] = {}
    for topic_id, sub_id in {(row["topic_id"], row["sub_id"]) for row in opened}:
        if sub_id in stretch.marks:
            floor_us = opened_us.get((topic_id, stretch.marks[sub_id][0]), 0)
            floors[topic_id] = min(floors.get(topic_id, floor_us), floor_us)
    recent_us = stretch.from_us - CHARGED_BEFORE_US
    older = {topic_id: floor_us for topic_id, floor_us in floors.items() if floor_us < recent_us}
    if not older:
        return f" AND ts >= {recent_us}"
    ids = ", ".join(map(str, sorted(older)))
    return f" AND (ts >= {recent_us} OR (topic_id IN ({ids}) AND ts >= {min(older.values())}))"
