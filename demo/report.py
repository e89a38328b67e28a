"""What the demo prints at its end: the answer, the proof, commands to try."""

import json
from pathlib import Path
from typing import Any

from console.shown import aligned, say
from demo.answer import answer_words
from demo.backlog import backlog_report
from demo.channels import channel_report
from demo.proof import Compared, proof_line
from demo.what_to_try import where_to_look, whom_to_explain
from pipeline.times import time_of
from pipeline.warehouse.look import Look
from tools.live_broker.broker_metrics import COUNTERS, SubscriptionName, throttle_counters

FOUND = """
SELECT topic, subscription, sum(reads) AS reads, sum(reads_shrunk) AS shrunk, sum(reads_blocked) AS blocked,
  sum(reads_blocked_by_broker_limit) AS by_broker, sum(reads_blocked_by_topic_limit) AS by_topic,
  sum(reads_blocked_by_subscription_limit) AS by_subscription, sum(blocked_ns) AS blocked_ns, sum(dispatched_msgs) AS messages
FROM subscription_throttle GROUP BY topic, subscription ORDER BY blocked_ns DESC, topic, subscription
"""
#: The last row of each dispatcher, the newest dispatcher of a subscription last.
LAST_WINDOWS = """
SELECT * FROM (
  SELECT *, row_number() OVER (
    PARTITION BY broker, epoch, topic, subscription, opened_at ORDER BY clock_segment DESC, window_start DESC
  ) AS age FROM subscription_throttle
) WHERE age = 1 ORDER BY epoch, opened_at
"""


def report(warehouse: Any, shown_warehouse: str, capture: Path, *, tables: bool = False) -> int:
    """Print who is behind, and the tables beside the broker's figures in the folder `capture`. 1 if one of them differs.

    `tables`: both sides, figure by figure; a line otherwise, unless one differs.
    """
    from console.named_warehouse import look_at

    look = look_at(warehouse.root)
    explained = whom_to_explain(look)
    say(f"\n{answer_words(look, time_of('--at', explained[-1]) if '--at' in explained else None)}")
    shown, kinds = _comparisons(look, capture)
    different = any(one.different for _, one in kinds)
    if tables or different:
        say(shown)
    say(f"\n{proof_line(kinds)}{'' if tables or different else ' (the tables: demo --tables)'}")
    say(where_to_look(warehouse.root, shown_warehouse, explained))
    return 1 if different else 0


def _comparisons(look: Look, capture: Path) -> tuple[str, list[tuple[str, Compared]]]:
    """All tables for people, and each kind of figures with its comparison."""
    metrics = (capture / "metrics.txt").read_text(encoding="utf-8")
    as_of_us = json.loads((capture / "manifest.json").read_text(encoding="utf-8"))["as_of_us"]
    throttles = compared(our_counters(look.rows(LAST_WINDOWS), as_of_us), throttle_counters(metrics))
    backlogs, evictions, checks = backlog_report(look, metrics)
    channels, pauses = channel_report(look, (capture / "otel.txt").read_text(encoding="utf-8"))
    sections = (
        f"What the limiters did to each subscription (whole log)\n\n{_found(look.rows(FOUND))}",
        f"Throttled reads since the dispatcher was opened: this job / the broker's own counter\n\n{throttles.text}",
        backlogs,
        channels,
    )
    kinds = [("throttle counters", throttles), ("eviction counters", evictions)]
    kinds += [("buckets of check durations", checks), ("counters of paused connections", pauses)]
    return "".join(f"\n{section}\n" for section in sections), kinds


def _found(rows: list[dict[str, Any]]) -> str:
    """One line per subscription: sums over its windows."""
    shown = [
        (
            _short(row["topic"]), row["subscription"], row["reads"], row["shrunk"], row["blocked"], row["by_broker"], row["by_topic"],
            row["by_subscription"], f"{row['blocked_ns'] / 1e9:.1f} s", row["messages"],
        )
        for row in rows
    ]  # fmt: skip
    return aligned(
        ["topic", "subscription", "reads asked", "shrunk", "blocked", "by broker", "by topic", "by subscr.", "time blocked", "messages"],
        shown,
    )


def our_counters(rows: list[dict[str, Any]], as_of_us: int) -> dict[SubscriptionName, dict[tuple[str, str], int]]:
    """The six counters of every subscription whose dispatcher was open at `as_of_us`, by LAST_WINDOWS."""
    return {
        SubscriptionName(row["topic"], row["subscription"]): {
            (dimension, level): row[f"dispatch_throttled_{dimension}_events_by_{level}_limit_since_open"] for dimension, level in COUNTERS
        }
        for row in rows
        if row["closed_at"] is None or row["closed_at"].timestamp() * 1_000_000 > as_of_us
    }


def compared(
    ours: dict[SubscriptionName, dict[tuple[str, str], int]], theirs: dict[SubscriptionName, dict[tuple[str, str], int]]
) -> Compared:
    """Both sides, counter by counter, and how many differ. A subscription without a row has counted nothing."""
    nothing = dict.fromkeys(COUNTERS, 0)
    rows, different = [], 0
    for name in sorted(ours.keys() | theirs.keys()):
        mine, broker = ours.get(name, nothing), theirs.get(name, nothing)
        wrong = sum(mine[counter] != broker[counter] for counter in COUNTERS)
        different += wrong
        rows.append(
            (_short(name.topic), name.subscription, *(f"{mine[c]:,} / {broker[c]:,}" for c in COUNTERS), "DIFFERENT" if wrong else "equal")
        )
    head = ["topic", "subscription", *(f"{level} {dimension}" for dimension, level in COUNTERS), ""]
    summary = (
        f"{different} of {len(rows) * len(COUNTERS)} counters DIFFERENT" if different else f"all {len(rows) * len(COUNTERS)} counters equal"
    )
    return Compared(f"{aligned(head, rows)}\n\n{summary}", different, len(rows) * len(COUNTERS))


def _short(topic: str) -> str:
    return topic.removeprefix("persistent://")
