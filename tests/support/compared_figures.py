"""A real broker's own figures beside our tables: each function gives what differs, and nothing where all is equal.

The tables are rows as `lane_tables.tables_of` gives them, whoever computed them: the pure lane of a kept log, or a live job.
A capture is a folder in the form of ../shared/captures.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from backlog_probe import Event, watched_by_lane
from bookkeeper.broker_figures import ThrottleCounters, throttle_counters_from_metrics, throttle_counters_from_stats
from bookkeeper.quota_books import BROKER_LEVEL, KIND
from bookkeeper.quota_figures import Seen, evictions_from_metrics, figures_from, histogram_from_metrics, samples_of
from lane_tables import Table

from schemas.packages.backlog.quotas import BUCKET_NAMES
from tools.live_broker.broker_metrics import connection_counters

#: The broker's is of the entry behind the mark-delete position, ours of the oldest unacknowledged: compared where they are the same entry.
UNTOLD_FIGURE = "earliestMsgPublishTimeInBacklog"
COUNTERS = [f"dispatch_throttled_{d}_events_by_{level}_limit" for d in ("msg", "bytes") for level in ("broker", "topic", "subscription")]
KINDS = ("size", "time")
Tables = dict[str, Table]


def manifest_of(capture: Path) -> Any:
    """What was done, and when the figures were taken."""
    return json.loads((capture / "manifest.json").read_text(encoding="utf-8"))


def until(tables: Tables, as_of_us: int) -> Tables:
    """Tables of a whole log as they were at an instant (µs) after which no counter moved: what closed later is open, later checks are not.

    Rows of windows stay: they must not have counted anything since.
    """
    throttle = [row | {"closed_at": None} if (row["closed_at"] or 0) > as_of_us else row for row in tables["subscription_throttle"]]
    return tables | {
        "subscription_throttle": throttle,
        "topic_backlog": [row for row in tables["topic_backlog"] if row["check_time"] <= as_of_us],
        "quota_evictions": [row for row in tables["quota_evictions"] if row["decided_at"] <= as_of_us],
    }


def topics_with_life(events: list[Event]) -> set[str]:
    """Topics whose load is in the log; system topics have none."""
    return {event["topic"] for event in events if event["type"] == "topic_load"}


# ---- throttling ------------------------------------------------------------------------------------------------------------------------
def counters_now(rows: Table) -> ThrottleCounters:
    """Per subscription the six counters of the last row of its open incarnation."""
    last: dict[tuple[str, str, int, int], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["window_start"], row["clock_segment"])):
        last[row["topic"], row["subscription"], row["epoch"], row["opened_at"]] = row
    return {
        (row["topic"], row["subscription"]): {name: row[f"{name}_since_open"] for name in COUNTERS}
        for row in last.values()
        if row["closed_at"] is None
    }


def differing(mine: ThrottleCounters, brokers: ThrottleCounters) -> list[str]:
    """Every counter that differs; no row of ours is 0."""
    zeros = dict.fromkeys(COUNTERS, 0)
    return [
        f"{subscription} {name}: broker {figures[name]}, ours {mine.get(subscription, zeros)[name]}"
        for subscription, figures in brokers.items()
        for name in COUNTERS
        if figures[name] != mine.get(subscription, zeros)[name]
    ]


def counters_differing(tables: Tables, capture: Path) -> list[str]:
    """The six counters of every subscription, system topics included, against /metrics and the admin stats."""
    mine = counters_now(tables["subscription_throttle"])
    from_metrics = throttle_counters_from_metrics(capture / "metrics.txt")
    unknown = {name: counters for name, counters in mine.items() if name not in from_metrics and any(counters.values())}
    found = [f"{name}: ours {counters}, the broker has none" for name, counters in unknown.items()]
    found += differing(mine, from_metrics) + differing(mine, throttle_counters_from_stats(capture / "stats.json"))
    return found if from_metrics else ["the capture has no counters"]


# ---- backlogs and quotas ---------------------------------------------------------------------------------------------------------------
def final_figures(capture: Path, events: list[Event]) -> tuple[list[Seen], Counter[str]]:
    """`stats.json` and the evictions of `metrics.txt` as moments at `as_of_us`, watched over `events`; what the log does not tell."""
    manifest = manifest_of(capture)
    span = manifest["as_of_us"], manifest["as_of_end_us"]
    stats = json.loads((capture / "stats.json").read_text(encoding="utf-8"))
    moments = [Seen(topic, *span, figures_from(said), {}) for topic, said in stats.items() if topic in topics_with_life(events)]
    metrics = evictions_from_metrics(capture / "metrics.txt")
    moments.append(Seen(BROKER_LEVEL, *span, {f"{topic}|{kind}": count for (topic, kind), count in metrics.items()}, {}))
    return moments, watched_by_lane(events, moments)


def outside(moments: list[Seen]) -> list[tuple[Any, ...]]:
    """Figures of moments that are not what we had in their interval."""
    return [(seen.topic, seen.ts, figure, *found) for seen in moments for figure, found in seen.wrong().items()]


def final_figures_differing(capture: Path, events: list[Event]) -> list[tuple[Any, ...]]:
    """Sizes, entries, ages, limits, producers and evictions at `as_of_us`; all but ages have one value in that interval."""
    moments, untold = final_figures(capture, events)
    vague = [
        (seen.topic, figure, sorted(seen.values[figure], key=str))
        for seen in moments
        for figure in seen.said
        if not figure.endswith("AgeSeconds") and len(seen.values.get(figure, ())) > 1
    ]
    return outside(moments) + vague + [("the log does not tell", name) for name in untold.keys() - {UNTOLD_FIGURE}]


def timeline_differing(capture: Path, events: list[Event]) -> list[tuple[Any, ...]]:
    """Every sample of `timeline.jsonl` that lies outside what probes say; `events` are all, also those after `as_of_us`."""
    moments = samples_of(capture)
    watched_by_lane(events, moments)
    return outside(moments)


def evictions_differing(tables: Tables, capture: Path) -> dict[Any, tuple[int, int]]:
    """(topic or the broker, quota type) → ours, the broker's: evictions as of the last check of each topic."""
    rows = sorted(tables["topic_backlog"], key=lambda row: (row["epoch"], row["check_number"]))
    last = {row["topic"]: row for row in rows}
    ours = {(topic, kind): row[f"storage_backlog_quota_exceeded_evictions_{kind}"] for topic, row in last.items() for kind in KINDS}
    ours |= {(BROKER_LEVEL, kind): sum(count for (_, of), count in ours.items() if of == kind) for kind in KINDS}
    said = evictions_from_metrics(capture / "metrics.txt")
    return {key: (ours.get(key, 0), count) for key, count in said.items() if ours.get(key, 0) != count}


def histogram_differing(tables: Tables, capture: Path) -> list[tuple[Any, Any]]:
    """The durations of quota checks since the broker started, bucket by bucket, their sum and their count: ours, the broker's."""
    last = max(tables["quota_checks"], key=lambda row: (row["epoch"], row["window_start"]))
    buckets, sum_s, count = histogram_from_metrics(capture / "metrics.txt")
    ours = [last[f"{bucket}_since_start"] for bucket in BUCKET_NAMES]
    pairs = [*zip(ours, buckets.values(), strict=True), (last["duration_sum_s_since_start"], sum_s), (ours[-1], count)]
    return [(mine, theirs) for mine, theirs in pairs if mine != theirs]


def decisions_differing(tables: Tables, events: list[Event]) -> list[Any]:
    """Checks that decided otherwise than the broker: at its instant, on its quota, with its policy and limit, to its positions."""
    living = topics_with_life(events)
    said = [event for event in events if event["type"] == "quota_exceeded" and event["topic"] in living]
    acted = Counter((row["topic"], row["check_time"], row["decision"]) for row in tables["topic_backlog"] if row["decision"] in KINDS)
    decided = Counter(
        (row["topic"], row["decided_at"], row["quota_type"], row["policy"], row["quota_limit"]) for row in tables["quota_evictions"]
    )
    brokers_acted = Counter((event["topic"], event["ts"], KIND[event["quota_type"]]) for event in said)
    brokers_decided = Counter((event["topic"], event["ts"], KIND[event["quota_type"]], event["policy"], event["limit"]) for event in said)
    found = [("acted, we", *sorted((acted - brokers_acted).elements())), ("acted, the broker", *sorted((brokers_acted - acted).elements()))]
    found += [("decided, we", *sorted((decided - brokers_decided).elements()))]
    found += [("decided, the broker", *sorted((brokers_decided - decided).elements()))]
    moved = [("moved otherwise", row) for row in tables["quota_evictions"] if not row["agrees"]]
    return [one for one in found if len(one) > 1] + moved


def checks_differing(tables: Tables, events: list[Event]) -> dict[str, tuple[int, int]]:
    """Topic → our checks, the broker's."""
    said = Counter(event["topic"] for event in events if event["type"] == "quota_check" and "cause" not in event)
    ours = Counter(row["topic"] for row in tables["topic_backlog"])
    return {topic: (ours[topic], said[topic]) for topic in ours.keys() | said.keys() if ours[topic] != said[topic]}


# ---- channels --------------------------------------------------------------------------------------------------------------------------
def pauses_differing(tables: Tables, capture: Path) -> dict[str, tuple[int, int]]:
    """`paused` and `resumed` → ours, what OpenTelemetry has."""
    ours = {name: sum(row[f"{name}_count"] for row in tables["channel_backpressure"]) for name in ("paused", "resumed")}
    said = connection_counters((capture / "otel.txt").read_text(encoding="utf-8"))
    return {name: (ours[name], said[name]) for name in said if ours[name] != said[name]}
