"""A real broker's own figures of backlog and quotas: `metrics.txt`, `stats.json` and the samples of `timeline.jsonl`."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookkeeper.quota_books import BROKER_LEVEL, Event, QuotaBooks
from bookkeeper.quota_topic import Topic

Figures = dict[str, Any]
#: Figures that grow and shrink by entries; the broker may have been between two of them.
SLACK_US = 20_000
WRITING_SLACK = 0.05

_SAMPLE = re.compile(r"^(pulsar_\w*backlog_quota_\w+)\{(.*)\} (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_EVICTIONS = "storage_backlog_quota_exceeded_evictions_total"
_CHECKS = "pulsar_storage_backlog_quota_check_duration_seconds"


def samples(path: Path) -> Iterator[tuple[str, dict[str, str], float]]:
    """Name, labels and value of every quota line of a `metrics.txt`."""
    for line in path.read_text(encoding="utf-8").splitlines():
        sample = _SAMPLE.match(line)
        if sample:
            yield sample[1], dict(_LABEL.findall(sample[2])), float(sample[3])


def evictions_from_metrics(path: Path) -> dict[tuple[str, str], int]:
    """(topic or BROKER_LEVEL, `size` | `time`) → evictions since the topic was loaded."""
    return {
        (labels.get("topic", BROKER_LEVEL), labels["quota_type"]): int(value)
        for name, labels, value in samples(path)
        if name.endswith(_EVICTIONS)
    }


def histogram_from_metrics(path: Path) -> tuple[dict[str, int], int, int]:
    """Buckets by their border, sum (seconds) and count of the check durations."""
    found = [(name, labels, int(value)) for name, labels, value in samples(path) if name.startswith(_CHECKS) and "_created" not in name]
    buckets = {labels["le"]: value for name, labels, value in found if name.endswith("_bucket")}
    total_s, count = (next(value for name, _, value in found if name.endswith(end)) for end in ("_sum", "_count"))
    return buckets, total_s, count


def figures_of(topic: Topic, *, less_deleted: bool = False) -> Figures:
    """What admin stats say of a topic, from the books; but for its age, which depends on when it is asked."""
    found: Figures = {
        "backlogSize": topic.backlog_size(),
        "storageSize": topic.total_size(),
        "oldestBacklogMessageSubscriptionName": topic.oldest.name if topic.oldest is not None else None,
        "backlogQuotaLimitSize": topic.quotas.get("destination_storage", (-1,))[0],
        "backlogQuotaLimitTime": topic.quotas.get("message_age", (-1,))[0],
        "publishers": len(topic.producers),
    }
    for sub, cursor in topic.cursors.items():
        entries = topic.backlog_entries(cursor)
        found[f"{sub}.msgBacklog"] = entries
        found[f"{sub}.backlogSize"] = topic.subscription_size(cursor, less_deleted=less_deleted)
        found[f"{sub}.earliestMsgPublishTimeInBacklog"] = topic.publish_ts(topic.next_valid(cursor.mark)) if entries else -1
    return found


def figures_from(stats: Figures) -> Figures:
    """The same from one topic of a `stats.json` or one sample of a `timeline.jsonl`; and its age."""
    producers = stats.get("publishers", 0)
    found = {name: stats.get(name) for name in ("backlogSize", "storageSize", "backlogQuotaLimitSize", "backlogQuotaLimitTime")}
    found["publishers"] = len(producers) if isinstance(producers, list) else producers
    for name in ("oldestBacklogMessageSubscriptionName", "oldestBacklogMessageAgeSeconds"):
        found[name] = stats.get(name)
    for sub, figures in stats["subscriptions"].items():
        for name in ("msgBacklog", "backlogSize", "earliestMsgPublishTimeInBacklog"):
            found[f"{sub}.{name}"] = figures[name]
    return found


@dataclass
class Seen:
    """One sample and all the values that the books had of each figure somewhen in its interval."""

    topic: str
    ts: int
    ts_end: int
    said: Figures
    values: dict[str, set[Any]]
    published: bool = False

    def wrong(self) -> dict[str, tuple[Any, list[Any]]]:
        """Figures that are outside what the books had: name → said, had."""
        return {
            name: (said, sorted(self.values.get(name, set()), key=str)) for name, said in self.said.items() if not self._inside(name, said)
        }

    def loosely_right(self, name: str) -> bool:
        """A size while entries were written: within 5 % of what the books had."""
        had = self.values.get(name, set())
        if not self.published or not name.endswith(("backlogSize", "storageSize")) or not had:
            return False
        return bool(min(had) * (1 - WRITING_SLACK) <= self.said[name] <= max(had) * (1 + WRITING_SLACK))

    def _inside(self, name: str, said: Any) -> bool:
        had = self.values.get(name, set())
        numbers = [value for value in had if isinstance(value, int)]
        if isinstance(said, int) and not name.endswith("earliestMsgPublishTimeInBacklog") and len(numbers) == len(had) > 0:
            return bool(min(numbers) <= said <= max(numbers))
        return said in had or any(isinstance(value, tuple) and value[0] <= said <= value[1] for value in had)


def watched(events: list[Event], moments: list[Seen]) -> QuotaBooks:
    """Keep books over `events` and note in each of `moments` what they had in its interval, with SLACK_US on either side."""
    books, waiting, open_now = QuotaBooks(), sorted(moments, key=lambda seen: seen.ts), list[Seen]()
    for event, following in zip(events, [*events[1:], None], strict=True):
        books.apply(event)
        until = following["ts"] if following is not None else float("inf")
        while waiting and waiting[0].ts - SLACK_US <= until:
            open_now.append(waiting.pop(0))
        open_now = [seen for seen in open_now if seen.ts_end + SLACK_US >= event["ts"]]
        for seen in open_now:
            if seen.ts - SLACK_US <= until:
                note(seen, books, event, max(event["ts"], seen.ts - SLACK_US), int(min(until, seen.ts_end + SLACK_US)))
    return books


def note(seen: Seen, books: QuotaBooks, event: Event, from_us: int, to_us: int) -> None:
    """The books as they were from one instant to another, into the sample."""
    if seen.topic == BROKER_LEVEL:
        found: Figures = {f"{name}|{kind}": books.evictions_of(name, kind) for name, kind in (key.split("|") for key in seen.said)}
        ages: set[int] = set()
    elif seen.topic in books.topics:
        topic = books.topics[seen.topic]
        found = figures_of(topic)
        ages = {books.probe_age(seen.topic, now // 1000) for now in (from_us, to_us)}
        seen.published |= event["type"] == "publish" and event["topic"] == seen.topic and event["ts"] >= seen.ts - SLACK_US
    else:
        return
    for name, value in found.items():
        seen.values.setdefault(name, set()).add(value)
    seen.values.setdefault("oldestBacklogMessageAgeSeconds", set()).update(ages)


def samples_of(capture: Path) -> list[Seen]:
    """Every sample of the time line, and the final stats and evictions, as moments to watch."""
    moments = []
    path = capture / "timeline.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in map(json.loads, lines):
        topic = line.get("topic", BROKER_LEVEL)
        said = dict(line["evictions"]) if topic == BROKER_LEVEL else figures_from(line)
        moments.append(Seen(topic, line["ts"], line["ts_end"], said, {}))
    return moments
