"""The part of the demo about backlogs: how far behind, what was evicted, what trips next. Beside it stand the broker's own figures."""

from typing import Any

from console.shown import aligned
from demo.proof import Compared
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.quota_outlook import not_known
from pipeline.warehouse.look import Look
from schemas.packages.backlog.quotas import BUCKET_NAMES, BUCKETS_S
from tools.live_broker.broker_metrics import check_buckets, eviction_counters

Evictions = dict[tuple[str, str], int]
QUOTA_TYPES = ("size", "time")
#: How many quotas are shown, those nearest to their breach first.
MOST_AT_RISK = 5
#: Entries that each subscription lost.
LOST = "SELECT topic, quota_type, subscription, sum(entries_evicted) AS entries FROM evictions WHERE subscription IS NOT NULL GROUP BY ALL"
_COUNTER = "storage_backlog_quota_exceeded_evictions"


def backlog_report(look: Look, metrics: str) -> tuple[str, Compared, Compared]:
    """The figures of the tables at the end of the log; evictions and check durations beside the broker's (`metrics`: its page)."""
    now, lost = look.rows("SELECT * FROM backlog_now"), look.rows(LOST)
    buckets, risks = our_buckets(look), look.rows(f"SELECT * FROM quota_risk LIMIT {MOST_AT_RISK}")
    evictions = compared_evictions(our_evictions(now), eviction_counters(metrics), lost)
    checks = compared_checks(buckets, check_buckets(metrics))
    sections = {
        "Backlogs at the end: the subscription's own, then its topic's against its quotas": _backlogs(now),
        "Evictions by backlog quota: this job / the broker's own counter": evictions.text,
        "Quota checks by their duration since the round began": checks.text,
        f"Which quota trips next (the {MOST_AT_RISK} nearest)": _at_risk(risks),
    }
    return "\n\n".join(f"{title}\n\n{text}" for title, text in sections.items()), evictions, checks


def our_evictions(now: list[Any]) -> Evictions:
    """(topic, quota type) → eviction rounds since the topic was loaded, from rows of `backlog_now`."""
    return {(row["topic"], kind): row[f"{_COUNTER}_{kind}"] for row in now for kind in QUOTA_TYPES}


def compared_evictions(ours: Evictions, theirs: Evictions, lost: list[Any]) -> Compared:
    """Both sides per topic where one is not 0, with the entries that each subscription lost; how many counters differ.

    A topic without a row has evicted nothing.
    """
    names = sorted(ours.keys() | theirs.keys())
    wrong = {name for name in names if ours.get(name, 0) != theirs.get(name, 0)}
    rows = []
    for topic, kind in names:
        mine, broker = ours.get((topic, kind), 0), theirs.get((topic, kind), 0)
        if mine or broker:
            losers = sorted((row["subscription"], row["entries"]) for row in lost if (row["topic"], row["quota_type"]) == (topic, kind))
            losses = ", ".join(f"{subscription} {entries:,}" for subscription, entries in losers)
            rows.append((_short(topic), kind, f"{mine:,} / {broker:,}", losses, "DIFFERENT" if (topic, kind) in wrong else "equal"))
    summary = f"{len(wrong)} of {len(names)} counters DIFFERENT" if wrong else f"all {len(names)} counters equal"
    return Compared(f"{aligned(['topic', 'quota', 'rounds', 'entries lost', ''], rows)}\n\n{summary}", len(wrong), len(names))


def our_buckets(look: Look) -> dict[str, int]:
    """The histogram of check durations since the broker started, under the broker's own borders."""
    borders = (*(f"{bound}.0" for bound in BUCKETS_S), "+Inf")
    last = look.rows("SELECT * FROM quota_checks ORDER BY epoch DESC, clock_segment DESC, window_start DESC LIMIT 1")
    return {border: last[0][f"{name}_since_start"] if last else 0 for border, name in zip(borders, BUCKET_NAMES, strict=True)}


def compared_checks(ours: dict[str, int], theirs: dict[str, int]) -> Compared:
    """Both histograms, bucket by bucket, and how many buckets differ."""
    wrong = [border for border in ours if ours[border] != theirs.get(border, 0)]
    row = [f"{count:,} / {theirs.get(border, 0):,}" for border, count in ours.items()]
    summary = f"{len(wrong)} of {len(ours)} buckets DIFFERENT" if wrong else f"all {len(ours)} buckets equal"
    return Compared(f"{aligned([_border(border) for border in ours], [row])}\n\n{summary}", len(wrong), len(ours))


def _border(bound: str) -> str:
    return "any" if bound == "+Inf" else f"≤ {float(bound):g} s"


def _backlogs(now: list[Any]) -> str:
    rows = [
        (_short(row["topic"]), row["subscription"] or "", row["msg_backlog"], _seconds(row["age_ms"]),
         _of(row["topic_backlog_size"], row["limit_size"], "B"), _of(row["believed_age_s"], row["limit_s"], "s"), row["decision"])
        for row in now if row["decision"] != "unknown"
    ]  # fmt: skip
    return aligned(["topic", "subscription", "entries", "oldest", "topic size / limit", "topic age / limit", "exceeded"], rows)


def _at_risk(risks: list[Any]) -> str:
    rows = [
        (_short(row["topic"]), row["quota_type"], f"{row['share_of_limit']:.1%}", _when(row), row["on_breach"],
         ", ".join(filter(None, [row["loses_first"], *row["others_losing"]])))
        for row in risks
    ]  # fmt: skip
    return aligned(["topic", "quota", "used", "exceeded", "then", "who loses messages"], rows)


def _when(risk: Any) -> str:
    if risk["breach_in_s"] is None:
        return "not in sight" if not_known(risk, None) is None else "not known yet"
    return "now" if risk["exceeded"] else f"in {duration(int(risk['breach_in_s']))}"


def _of(value: int | None, limit: int | None, unit: str) -> str:
    """`value / limit`; no limit and no value are dashes."""
    shown = "–" if value is None or value < 0 else f"{value:,} {unit}"
    return f"{shown} / –" if limit is None or limit < 0 else f"{shown} / {limit:,} {unit}"


def _seconds(ms: int | None) -> str:
    return "" if ms is None else f"{ms / 1000:.1f} s"


def _short(topic: str) -> str:
    return topic.removeprefix("persistent://")
