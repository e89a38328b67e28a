"""What happened in a stretch of time, asked of a warehouse: a moment each, in order, and the rows behind them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.asked import Named
from pipeline.diagnosis.no_event import no_event_words
from pipeline.diagnosis.raise_limit import rate_words
from pipeline.diagnosis.words import cause_words
from pipeline.faults import BadConfig
from pipeline.pages.axis import Lost
from pipeline.pages.report.cached_look import AskedOnce
from pipeline.pages.rows import cause_rows, lost_stretches
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Look

Row = dict[str, Any]
#: A page is read by people: beyond these the worst, or the first, are shown, and how many were left out.
MOST_SUBSCRIPTIONS = 8
MOST_MOMENTS = 400
MOST_ROWS = 200


class Moment(NamedTuple):
    """`kind` is cause, eviction, producers, limit or log; `topic` and `subscription` are null where it is of none. `entries`: lost by an
    eviction.
    """

    at: datetime
    kind: str
    broker: str
    topic: str | None
    subscription: str | None
    words: str
    entries: int = 0


@dataclass(frozen=True)
class Story:
    """`answers`: documents of `explain`, the worst first; of `behind` subscriptions with a backlog. Of each answer `causes`: rows of
    subscription_causes, and `lost`: gaps of its broker's log. `checks`: by topic. Evictions took entries of a subscription.

    `start` to `end` was asked for, `first` to `last` has windows. `warehouse` is the name of its folder: the page is passed on.
    """

    warehouse: str
    start: datetime
    end: datetime
    first: datetime
    last: datetime
    behind: int
    answers: list[Row]
    causes: list[list[Row]]
    lost: list[list[Lost]]
    moments: list[Moment]
    more_moments: int
    checks: dict[str, list[Row]]
    evictions: list[Row]
    channels: list[Row]
    more_channels: int
    gaps: list[Row]
    more_gaps: int


def story(look: Look, start: datetime | None, end: datetime | None, window: timedelta) -> Story:
    """From `start` to `end`; without an end to the newest window, without a start the `window` before it.

    Raises BadConfig if nothing is there.
    """
    newest = look.rows("SELECT max(as_of) AS as_of FROM newest_windows")[0]["as_of"]
    if newest is None:
        raise BadConfig(no_event_words(look) or "no window is finished yet: there is nothing to report")
    end = min(end, newest) if end is not None else newest
    start = start if start is not None else end - window
    within = f"window_end > {instant(start)} AND window_start < {instant(end)}"
    worst = look.rows(
        f"SELECT broker, topic, subscription, sum(entry_us) AS weight FROM subscription_causes WHERE {within}"
        " GROUP BY broker, topic, subscription ORDER BY weight DESC, topic, subscription"
    )
    once, shown = AskedOnce(look), worst[:MOST_SUBSCRIPTIONS]
    named = [Named(row["broker"], row["topic"], row["subscription"]) for row in shown]
    answers = [answer(once, row["topic"], row["subscription"], row["broker"], end, end - start, named) for row in shown]
    seen = look.rows(f"SELECT min(window_start) AS first, max(log_until) AS last FROM broker_windows WHERE {within}")[0]
    if seen["first"] is None:
        raise BadConfig(f"no window lies from {start.isoformat()} to {end.isoformat()}; the newest ends {newest.isoformat()}")
    evictions = look.rows(
        f"SELECT * FROM evictions WHERE decided_at >= {instant(start)} AND decided_at < {instant(end)}"
        " ORDER BY decided_at, topic, subscription"
    )
    channels = _channels(look, within)
    gaps = look.rows(
        "SELECT *, count(*) OVER () AS found FROM log_gaps"
        f" WHERE coalesce(ts_after, ts_before) >= {instant(start)} AND coalesce(ts_before, ts_after) < {instant(end)}"
        f" ORDER BY coalesce(ts_before, ts_after) LIMIT {MOST_ROWS}"
    )
    moments = [*_causes(look, start, end), *_limits(look, start, end), *map(decided, evictions), *map(_gap, gaps)]
    moments.sort(key=lambda one: (one.at, one.kind, one.broker, one.topic or "", one.subscription or ""))
    checks = _checks(look, start, end)
    return Story(
        warehouse=look.warehouse.root.rstrip("/").rpartition("/")[2],
        start=start,
        end=end,
        first=max(start, seen["first"]),
        last=min(end, seen["last"]),
        behind=len(worst),
        answers=answers,
        causes=[cause_rows(once, one) for one in answers],
        lost=[lost_stretches(once, one["broker"], one["epoch"], one["from"], one["to"]) for one in answers],
        moments=moments[:MOST_MOMENTS],
        more_moments=max(0, len(moments) - MOST_MOMENTS),
        checks=checks,
        evictions=[row for row in evictions if row["subscription"] is not None and row["entries_evicted"]],
        channels=channels,
        more_channels=_left_out(channels),
        gaps=gaps,
        more_gaps=_left_out(gaps),
    )


def _channels(look: Look, within: str) -> list[Row]:
    """Connections that were paused or unwritable, the longest first, with the number of all of them."""
    return look.rows(
        "SELECT broker, conn, max(window_end) AS last, sum(paused_ns) / 1e9 AS paused_s, sum(unwritable_ns) / 1e9 AS unwritable_s,"
        f" sum(paused_count) AS pauses, max(pending_bytes_max) AS pending_bytes,"
        f" count(*) OVER () AS found FROM channel_backpressure WHERE {within}"
        " GROUP BY broker, conn HAVING sum(paused_ns) + sum(unwritable_ns) > 0 ORDER BY sum(paused_ns) + sum(unwritable_ns) DESC, conn"
        f" LIMIT {MOST_ROWS}"
    )


def _checks(look: Look, start: datetime, end: datetime) -> dict[str, list[Row]]:
    """Quota checks by topic, in order of time."""
    checks: dict[str, list[Row]] = {}
    for row in look.rows(
        "SELECT topic, check_time, backlog_size, backlog_quota_limit_size, oldest_backlog_message_age_seconds AS age_s,"
        f" backlog_quota_limit_time FROM topic_backlog WHERE check_time >= {instant(start)} AND check_time < {instant(end)}"
        " ORDER BY check_time"
    ):
        checks.setdefault(row["topic"], []).append(row)
    return checks


def _left_out(rows: list[Row]) -> int:
    """How many more there are than were fetched; `found` counts all."""
    return rows[0]["found"] - len(rows) if rows else 0


def _causes(look: Look, start: datetime, end: datetime) -> list[Moment]:
    """When another cause began to hold a subscription, or none did any more; and the causes that held at the start."""
    rows = look.rows(
        "SELECT * FROM (SELECT t.*, coalesce(lead(since) OVER (PARTITION BY broker, epoch, topic, subscription ORDER BY seq), last)"
        " AS until FROM cause_transitions t"
        " JOIN (SELECT broker, epoch, max(log_until) AS last FROM broker_windows GROUP BY broker, epoch) USING (broker, epoch))"
        f" WHERE since < {instant(end)} AND until > {instant(start)} AND (cause IS NOT NULL OR since >= {instant(start)})"
    )
    return [
        Moment(
            max(row["since"], start),
            "cause",
            row["broker"],
            row["topic"],
            row["subscription"],
            ("no backlog any more" if row["cause"] is None else cause_words(row)) + ("" if row["since"] >= start else ", since before"),
        )
        for row in rows
    ]


def _limits(look: Look, start: datetime, end: datetime) -> list[Moment]:
    """When a limiter was made or its rate set."""
    rows = look.rows(
        "SELECT DISTINCT broker, topic, subscription, level, dimension, rate, period_ms, created_at FROM limiter_windows"
        f" WHERE created_at >= {instant(start)} AND created_at < {instant(end)}"
    )
    return [
        Moment(
            row["created_at"],
            "limit",
            row["broker"],
            row["topic"],
            row["subscription"],
            f"the {row['level']}'s: {rate_words({**row, 'period_s': row['period_ms'] / 1e3})}",
        )
        for row in rows
    ]


def decided(row: Row) -> Moment:
    """What a quota did at a check: a row of the view `evictions`."""
    at, broker, topic, subscription = (row[name] for name in ("decided_at", "broker", "topic", "subscription"))
    quota = f"{row['quota_type']} quota exceeded"
    if row["action"] == "disconnect_producers":
        closed = row["producers_closed"]
        return Moment(at, "producers", broker, topic, None, f"{quota}: {closed:,} closed" if closed else f"{quota}: they are shut out")
    lost = f"lost {row['entries_evicted']:,} entries" if subscription is not None else row["action"]
    return Moment(at, "eviction", broker, topic, subscription, f"{quota}: {lost}", row["entries_evicted"] or 0)


def _gap(row: Row) -> Moment:
    words = f"{row['events']:,} events of the log lost" if row["kind"] == "lost" else "the broker's clock was set"
    return Moment(row["ts_before"] or row["ts_after"], "log", row["broker"], None, None, words)
