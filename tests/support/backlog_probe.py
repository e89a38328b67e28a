"""What the production lane says of a broker between its events, in the words of the broker's admin stats."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from bookkeeper.quota_books import BROKER_LEVEL
from bookkeeper.quota_figures import SLACK_US, Figures, Seen
from lane_rows import lane_rows, text_id
from lane_tables import SETTINGS

from pipeline.lanes.probe import Probe
from pipeline.rules.outcome import Rows
from schemas.outcomes import NULL

Event = dict[str, Any]
#: The log does not tell this figure, and the machine does not guess.
UNTOLD = object()
TOPIC = {
    "backlogSize": "backlog_size",
    "storageSize": "storage_size",
    "backlogQuotaLimitSize": "backlog_quota_limit_size",
    "backlogQuotaLimitTime": "backlog_quota_limit_time",
    "publishers": "producers",
    "oldestBacklogMessageAgeSeconds": "oldest_backlog_message_age_seconds",
    "size": "storage_backlog_quota_exceeded_evictions_size",
    "time": "storage_backlog_quota_exceeded_evictions_time",
}
SUBSCRIPTION = {
    "msgBacklog": "msg_backlog",
    "backlogSize": "backlog_size",
    "unackedMessages": "unacked_messages",
    "unackedEntries": "unacked_entries",  # no figure of Pulsar's: of entries with one message the same
}


def names_of(events: list[Event]) -> dict[int, str]:
    """Topic and subscription names by their ids in lane rows."""
    names = {0: ""}
    for topic, sub in {(event["topic"], event.get("sub")) for event in events if event.get("topic")}:
        names[text_id("t", topic)] = topic
        if sub:
            names[text_id("s", topic, sub)] = sub
    return names


def figures_by_topic(probed: list[Rows], names: dict[int, str]) -> dict[str, Figures]:
    """Figures of each loaded topic as `quota_figures.figures_of` names them; evictions under their type."""
    found: dict[str, Figures] = {}
    for row in rows_of("topic_backlog", probed):
        figures = {theirs: UNTOLD if row[ours] == NULL else row[ours] for theirs, ours in TOPIC.items()}
        figures["oldestBacklogMessageSubscriptionName"] = names[row["sub_id"]] or None
        found[names[row["topic_id"]]] = figures
    for row in rows_of("subscription_backlog", probed):
        figures, sub = found[names[row["topic_id"]]], names[row["sub_id"]]
        figures |= {f"{sub}.{theirs}": UNTOLD if row[ours] == NULL else row[ours] for theirs, ours in SUBSCRIPTION.items()}
        figures[f"{sub}.earliestMsgPublishTimeInBacklog"] = _earliest_ms(row)
    return found


def _earliest_ms(row: dict[str, int]) -> Any:
    """The broker's is of the entry behind the mark-delete position; ours skips acknowledged ones, so it is the same if there are none.

    (from, to) where the row says that it is not exact.
    """
    if row["msg_backlog"] == 0:
        return -1
    if row["individually_deleted"] or row["oldest_publish_time"] == NULL:
        return UNTOLD
    earliest_ms = row["oldest_publish_time"] // 1000
    return (earliest_ms, earliest_ms + row["exact_to_ms"]) if row["exact_to_ms"] else earliest_ms


def rows_of(table: str, probed: list[Rows]) -> Iterator[dict[str, int]]:
    """The rows of one table."""
    for rows in probed:
        if rows.table == table:
            columns = {name: np.broadcast_to(values, rows.count).tolist() for name, values in rows.columns.items()}
            yield from (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def watched_by_lane(events: list[Event], moments: list[Seen]) -> Counter[str]:
    """Fold `events` (in order of their time) and note in each of `moments` what probes say all through its interval, with SLACK_US on
    either side. Only there events are folded one by one.

    Returns how many figures of which name the log does not tell; they are taken out of what the broker said.
    """
    names = names_of(events)
    borders = [0, *(n for n, (one, other) in enumerate(pairwise(events), 1) if one["epoch"] != other["epoch"]), len(events)]
    for start, stop in pairwise(borders):
        _watch_epoch(events[start:stop], events[stop]["ts"] if stop < len(events) else None, moments, names)
    untold = [(seen, name) for seen in moments for name in seen.said if UNTOLD in seen.values.get(name, ())]
    for seen, name in untold:
        del seen.said[name]
    return Counter(name.rpartition(".")[2] for _, name in untold)


def _watch_epoch(events: list[Event], end_us: int | None, moments: list[Seen], names: dict[int, str]) -> None:
    times = [event["ts"] for event in events]
    watchers: dict[int, list[Seen]] = defaultdict(list)
    for seen in moments:
        if end_us is None or seen.ts - SLACK_US < end_us:
            first, last = (bisect_right(times, at) - 1 for at in (seen.ts - SLACK_US, seen.ts_end + SLACK_US))
            for position in range(max(0, first), last + 1):
                watchers[position].append(seen)
    rows, probe, folded = lane_rows(events), Probe(events[0]["epoch"], SETTINGS), 0
    for position in sorted(watchers):
        probe.offer(rows[folded : position + 1])
        folded = position + 1
        until = times[folded] if folded < len(times) else end_us
        found: dict[int, dict[str, Figures]] = {}
        for seen in watchers[position]:
            end = seen.ts_end + SLACK_US
            for now_us in (max(times[position], seen.ts - SLACK_US), end if until is None else min(until, end)):
                if now_us not in found:
                    found[now_us] = figures_by_topic(probe.at(now_us), names)
                _note(seen, found[now_us])
            event = events[position]
            seen.published |= event["type"] == "publish" and event["topic"] == seen.topic and event["ts"] >= seen.ts - SLACK_US


def _note(seen: Seen, found: dict[str, Figures]) -> None:
    figures = found.get(seen.topic, {}) if seen.topic != BROKER_LEVEL else {key: _evictions(found, *key.split("|")) for key in seen.said}
    for name, value in figures.items():
        seen.values.setdefault(name, set()).add(value)


def _evictions(found: dict[str, Figures], topic: str, kind: str) -> int:
    """Of a topic since it was loaded, of BROKER_LEVEL all together; a topic without life in the log has none."""
    return sum(figures[kind] for name, figures in found.items() if topic in (name, BROKER_LEVEL))
