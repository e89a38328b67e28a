"""A real broker's log through the real job, and its figures beside the broker's own counters.

The log of 85 s of a busy shop in trouble lies in demo/y_incident: seven topics, limits on every level, 79,000 events.
Exit 1 if any of the six throttle counters of any subscription, of the eviction counters of any topic, of the buckets of check durations, or
of the counters of paused and resumed connections differs from what the broker counted.
"""

import argparse
import gzip
import json
import os
import shlex
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jobs.broker_metrics import COUNTERS, SubscriptionName, throttle_counters
from jobs.shown import aligned
from pipeline.faults import BadConfig
from pipeline.views.status_words import WELL

EXAMPLES = """examples:
  ./spark-submit.sh demo
  ./spark-submit.sh demo --warehouse /tmp/demo --master 'local[2]'
  ./spark-submit.sh demo --live
"""
CAPTURE = Path(__file__).parent.parent / "demo" / "y_incident"
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
#: Backlog × time of each subscription in each window, the most first.
WORST_WINDOWS = """
SELECT topic, subscription, window_end, sum(entry_us) AS entry_us FROM subscription_causes
GROUP BY topic, subscription, window_end HAVING sum(entry_us) > 0 ORDER BY entry_us DESC, window_end, topic, subscription
"""
#: In a warehouse that the demo made, and may delete.
MARKER = "_made_by_demo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `demo`."""
    parser.add_argument(
        "--warehouse",
        default="./warehouse/demo",
        metavar="URI",
        help="made anew each time; refused unless the demo made it (default: ./warehouse/demo)",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="start a real broker with the collector, and a load with trouble in it; watch the tables change. Three minutes;"
        " the first time Pulsar is fetched (245 MB)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the job over the bundled log, print what it found, compare. 0: everything equal."""
    if args.live:
        from jobs import demo_live

        return demo_live.run(args.warehouse)
    from jobs.reader import named_warehouse
    from jobs.session import LITTLE_DATA, build_session
    from jobs.shown import say
    from jobs.stream import run_stream
    from pipeline.settings import load_settings

    say("a real Pulsar broker's log of 85 s of a busy shop in trouble (demo/y_incident), through the streaming job")
    settings = load_settings(None, [], os.environ)
    say("starting Spark …")
    with tempfile.TemporaryDirectory(prefix="dispatch-demo-") as folder, ThreadPoolExecutor(1) as meanwhile:
        staged = meanwhile.submit(_stage, CAPTURE, Path(folder))
        spark = build_session("dispatch-analytics demo", LITTLE_DATA)
        warehouse = named_warehouse(args.warehouse)
        make_room(warehouse)
        events = staged.result()
        say(f"{events:,} events up to the moment at which the broker was asked for its counters")
        code = run_stream(spark, Path(folder).as_uri(), warehouse.root, settings, once=True, drain=True)
    if code:
        return code
    return report(warehouse, args.warehouse, CAPTURE)


def make_room(warehouse: Any) -> None:
    """Delete the warehouse of an earlier demo; BadConfig if the folder is anybody else's."""
    from pipeline.store.files import files_at

    files = files_at(warehouse.root)
    marker = f"{warehouse.root}/{MARKER}"
    if files.names(warehouse.root) and not files.exists(marker):
        raise BadConfig(f"--warehouse {warehouse.root}: holds what the demo did not make; choose another folder, or remove it yourself")
    if files.exists(warehouse.lock_file):
        raise BadConfig(f"--warehouse {warehouse.root}: a demo is running there ({warehouse.lock_file}); if it died, delete the folder")
    files.delete(warehouse.root)
    files.create(marker, "made by ./spark-submit.sh demo, which deletes this folder when it runs again\n")


def _stage(capture: Path, folder: Path) -> int:
    """Write the capture's events that are in the broker's figures (`as_of_us`) into `folder`; returns how many."""
    as_of_us = json.loads((capture / "manifest.json").read_text(encoding="utf-8"))["as_of_us"]
    kept = 0
    with gzip.open(capture / "events.jsonl.gz", "rb") as source, gzip.open(folder / "events.jsonl.gz", "wb", compresslevel=1) as target:
        for line in source:
            if json.loads(line)["ts"] <= as_of_us:
                target.write(line)
                kept += 1
    return kept


def report(warehouse: Any, shown_warehouse: str, capture: Path) -> int:
    """Print what the tables have, beside the broker's figures in the folder `capture`. 1 if one of them differs."""
    from jobs.demo_backlog import backlog_report
    from jobs.demo_channels import channel_report
    from jobs.reader import look_at
    from jobs.shown import say

    look = look_at(warehouse.root)
    metrics = (capture / "metrics.txt").read_text(encoding="utf-8")
    say("\nWhat the limiters did to each subscription (whole log)\n\n" + _found(look.rows(FOUND)))
    as_of_us = json.loads((capture / "manifest.json").read_text(encoding="utf-8"))["as_of_us"]
    text, different = compared(our_counters(look.rows(LAST_WINDOWS), as_of_us), throttle_counters(metrics))
    say("\nThrottled reads since the dispatcher was opened: this job / the broker's own counter\n\n" + text)
    backlogs, different_backlogs = backlog_report(look, metrics)
    say("\n" + backlogs)
    channels, different_pauses = channel_report(look, (capture / "otel.txt").read_text(encoding="utf-8"))
    say("\n" + channels)
    say(where_to_look(warehouse.root, shown_warehouse, whom_to_explain(look)))
    return 1 if different or different_backlogs or different_pauses else 0


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
) -> tuple[str, int]:
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
    verdict = (
        f"{different} of {len(rows) * len(COUNTERS)} counters DIFFERENT" if different else f"all {len(rows) * len(COUNTERS)} counters equal"
    )
    return f"{aligned(head, rows)}\n\n{verdict}", different


def _short(topic: str) -> str:
    return topic.removeprefix("persistent://")


def whom_to_explain(look: Any) -> list[str]:
    """What `explain` is given: the first that is behind, as `why` has it. Topics of Pulsar itself do not count.

    Once the broker has stopped nobody is behind any more. Then the one that was most, and the end of its worst window. Nothing if nobody
    ever was.
    """
    for row in look.rows("SELECT topic, subscription, status FROM why"):
        if row["status"] not in (*WELL, "unknown") and "/__" not in row["topic"]:
            return [row["topic"], row["subscription"]]
    for row in look.rows(WORST_WINDOWS):
        if "/__" not in row["topic"]:
            return [row["topic"], row["subscription"], "--at", row["window_end"].isoformat().replace("+00:00", "Z")]
    return []


def where_to_look(root: str, shown: str, explained: Sequence[str]) -> str:
    """Where the tables are (`root`), and lines to try, with the warehouse as the user named it (`shown`); a test runs each of them.

    `explained`: what `explain` is given, if anything; `why` is asked of the same instant. An operator asks about causes first, so queries
    come later.
    """
    lines = [shlex.join(["why", *explained[2:]]) if explained else "why --all"]
    if explained:
        lines.append(shlex.join(["explain", *explained]))
    queries = (
        "SELECT topic, subscription, state, held_by, limit_rate, blocked_s, waiting_entries FROM throttled_now",
        "SELECT topic, quota_type, exceeded, breach_at, loses_first, others_losing FROM quota_risk",
        "SELECT conn, remote, state, throttle_types, paused_since, pending_bytes_at_least FROM channels_now",
    )
    lines += [f'sql "{query}"' for query in queries]
    return f"\ntables: {root}\ntry:\n" + "\n".join(f"  ./spark-submit.sh {line} --warehouse {shlex.quote(shown)}" for line in lines)
