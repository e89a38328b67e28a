"""A log of version 1.2, of which something is lost: what the broker says it holds makes it known again."""

from typing import Any, Self

from cause_story import Story
from lane_tables import tables_of
from log_builder import TOPIC


class Stated(Story):
    """A log of version 1.2, of which something is lost."""

    def __init__(self, **options: Any) -> None:
        super().__init__("1.2", **options)
        self.lost: list[dict[str, Any]] = []

    def holds(self, *, read: int, acked: int = 0, consumers: int = 1, permits: int = 1000, **fields: Any) -> Self:
        """Entries before `acked` are acknowledged, entry `read` is read next."""
        positions = {"ledger": 5, "entry": acked - 1, "read_ledger": 5, "read_entry": read, "deleted_entries": 0}
        counts = {"backlog_entries": self.published - acked, "consumers": consumers, "permits": permits, "delayed_entries": 0}
        self.of_sub("state", **{"as_of_seq": len(self.events), **positions, **counts, **fields})
        return self

    def misses(self, second: float) -> Self:
        """An event that is not about this subscription is lost at that second."""
        self.at(second).add("heartbeat", dropped=0)
        return self.without(1)

    def without(self, last: int) -> Self:
        """The newest events are lost."""
        self.lost += self.events[-last:]
        return self

    def arrived(self) -> Self:
        """What is left of the log, once all is told."""
        self.events = [event for event in self.events if event not in self.lost]
        return self

    def from_its_first_state(self) -> Self:
        """The file before is not there, once all is told."""
        first = next(place for place, event in enumerate(self.events) if event["type"] == "state")
        self.events = self.events[first:]
        return self


def checked(story: Stated) -> Stated:
    story.add("quota_check", topic=TOPIC, duration_us=1)
    return story


def of_check(story: Stated) -> dict[str, Any]:
    (row,) = tables_of(story.events)["subscription_backlog"]
    return row
