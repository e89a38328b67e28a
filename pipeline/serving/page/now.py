"""The page Now: the worst subscriptions first, each with the figure that decides, and what comes next. Rows in, words out; pure."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pipeline.diagnosis.counts import percent
from pipeline.diagnosis.quota_outlook import NO_AGE, NOT_IN_THIS_LOG, ONE_CHECK, PRODUCERS_OUT, not_known
from pipeline.diagnosis.words import REASONS, cause_words
from pipeline.pages import numbers
from pipeline.pages.axis import axis
from pipeline.pages.badges import LOSING, SHUT_OUT, Badge, badge_of, cause_name, hue_of
from pipeline.pages.spark import Spark, spark
from pipeline.query.views.status_words import WELL
from pipeline.serving.page.now_rows import LOOK_BACK, NowRows

Row = dict[str, Any]
#: More rows are not shown; the filter reaches the rest.
MOST_ROWS = 200
#: A rate is the mean of this time.
RATE_S = 60
_SOON_S = 3600
#: Why nothing is foreseen of a quota.
_NOT_KNOWN = {
    ONE_CHECK: "one quota check has no rate yet",
    PRODUCERS_OUT: "its quota shut producers out",
    NO_AGE: "older than its age quota, which counts once the ledger is closed",
    NOT_IN_THIS_LOG: "the use of its quota is not in this log",
}
#: A partition is `orders-3`.
_PARTITION = re.compile(r"-partition-(?=\d+$)")
_NEVER = float("inf")
_NO_AGE = -1


class Why(NamedTuple):
    """A line with the one figure that decides: `before`, `figure` (bold), `after`; and a second, grey line."""

    before: str
    figure: str
    after: str
    detail: str


class Line(NamedTuple):
    """A subscription on the page. `least`: the backlog may be larger. `next`: what comes, and its second line; `is_harm`: red.

    `backlogs`: entries at the last checks; `drops`: when a quota took some; `spark` is drawn of both.
    """

    topic: str
    subscription: str
    short_topic: str
    namespace: str
    badge: Badge
    cause_badge: Badge
    cause: str
    hue: str
    since: datetime | None
    why: Why
    backlog: int
    least: bool
    age_ms: int | None
    backlogs: list[tuple[datetime, int]]
    drops: list[datetime]
    spark: Spark | None
    next: tuple[str, str, bool]
    is_well: bool
    is_unknown: bool
    found_by: str


class Rates(NamedTuple):
    """Entries per second of the last minute; null: not known. `come`: published; `go`: acknowledged."""

    come: float | None
    go: float | None


def lines(rows: NowRows) -> list[Line]:
    """Every subscription, the worst first: harm now, then harm within an hour, then the oldest backlog; those that are well at the end."""
    lost = {(one["topic"], one["subscription"]): one for one in reversed(rows.evictions)}
    fills, oldest_ms = _fills(rows), _oldest_ms(rows.checks)
    made = [(_line(row, rows, lost, fills, oldest_ms), number, row) for number, row in enumerate(rows.why)]
    return [line for line, _, _ in sorted(made, key=lambda one: (*_rank(one[0], one[2], rows.quotas.get(one[0].topic, [])), one[1]))]


def _rank(line: Line, row: Row, quotas: list[Row]) -> tuple[bool, bool, float, float]:
    is_harm = line.badge.hue == "harm"
    soon = min((left_s for left_s, _ in _ahead(quotas, row)), default=_NEVER)
    return line.is_well and not is_harm, not is_harm, soon if soon <= _SOON_S else _NEVER, -(line.age_ms or 0)


def _fills(rows: NowRows) -> set[tuple[str, str]]:
    """Of each topic whose producers are shut out the subscription with the largest backlog."""
    found = set()
    for topic, quotas in rows.quotas.items():
        if any(one["exceeded"] and one["on_breach"] == "disconnect_producers" for one in quotas):
            of_topic = [(checks[-1]["backlog_size"], name) for name, checks in rows.checks.items() if name[0] == topic]
            found |= {max(of_topic)[1]} if of_topic else set()
    return found


def _line(row: Row, rows: NowRows, lost: Mapping[tuple[str, str], Row], fills: set[tuple[str, str]], oldest_ms: Mapping[str, int]) -> Line:
    name = (row["topic"], row["subscription"])
    # A check later than the row's instant is of another life of the topic.
    checks = [one for one in rows.checks.get(name, []) if one["check_time"] <= row["as_of"]]
    quotas, eviction = rows.quotas.get(row["topic"], []), lost.get(name)
    is_unknown = row["status"] == "unknown"
    badge = cause_badge = badge_of(row["status"])
    # A decision of the last check is the newest that there is; a broker that stopped does no harm any more.
    if not is_unknown and eviction is not None and row["checked_at"] is not None and eviction["last"] >= row["checked_at"]:
        badge = LOSING
    elif not is_unknown and name in fills:
        badge = SHUT_OUT
    rates = rates_of(checks)
    domain_less = row["topic"].partition("://")[2] or row["topic"]
    namespace, _, last = domain_less.rpartition("/")
    why = _why(row, rows, rates, eviction if badge is LOSING else None)
    backlogs = [(one["check_time"], one["msg_backlog"]) for one in checks]
    drops = [] if eviction is None else [each["at"] for each in eviction["each"]]
    return Line(
        topic=row["topic"],
        subscription=row["subscription"],
        short_topic=_PARTITION.sub("-", last),
        namespace=namespace,
        badge=badge,
        cause_badge=cause_badge,
        cause=cause_of(row),
        hue="none" if is_unknown else hue_of(row["cause"]),
        since=row["since"],
        why=why,
        backlog=row["backlog"],
        least=not row["complete"] or (row["completeness"] is not None and row["completeness"] < 1),
        age_ms=checks[-1]["oldest_age_ms"] if checks else None,
        backlogs=backlogs,
        drops=drops,
        spark=_spark(backlogs, drops, row["as_of"]),
        next=_next(quotas, row, oldest_ms.get(row["topic"]), badge.hue == "harm"),
        is_well=row["status"] in WELL,
        is_unknown=is_unknown,
        found_by=" ".join((row["topic"], row["subscription"], badge.word, row["status"], cause_of(row))).lower(),
    )


def cause_of(row: Row) -> str:
    """The cause in short, empty where there is none."""
    return "" if row["cause"] is None else cause_name(row)


def rates_of(checks: list[Row]) -> Rates:
    """Of the checks of one cursor, the oldest first: since the last one that is a minute before the newest, else since the first."""
    if not checks:
        return Rates(None, None)
    last = checks[-1]
    same = [one for one in checks if one["opened_at"] == last["opened_at"]]
    before = [one for one in same if one["check_time"] <= last["check_time"] - timedelta(seconds=RATE_S)]
    first = before[-1] if before else same[0]
    passed = (last["check_time"] - first["check_time"]).total_seconds()
    if passed <= 0:
        return Rates(None, None)
    return Rates(*((last[name] - first[name]) / passed for name in ("published_entries", "acknowledged_entries")))


def _why(row: Row, rows: NowRows, rates: Rates, eviction: Row | None) -> Why:
    detail = _shares(row) if eviction is None else _lost_words(eviction)
    come = "" if rates.come is None else f"; {numbers.rate(rates.come)} come"
    go = "" if rates.go is None else f", {numbers.rate(rates.go)} go"
    cause = row["cause"]
    if row["status"] == "unknown":
        before = f"Before: {cause_of(row)}" if row["cause"] not in (None, "unknown") else ""
        return Why("Not known: ", REASONS[row["unknown_reason"]], "", before)
    if row["status"] == "current":
        return Why("", "Nothing waits", come, "" if eviction is None else detail)
    if cause is None:
        return Why("", row["status"], come, detail)
    if cause == "throttled":
        limit = _limit(row, rows.limiters)
        figure = "?" if limit is None else numbers.limit(limit["rate"], limit["period_s"], limit["dimension"])
        return Why(f"{row['level'].capitalize()} limit ", figure, f"{come}{go}", detail)
    if cause in ("no_permits", "unacked_limit", "in_flight") and rates.go is not None:
        return Why("Consumers ack ", numbers.rate(rates.go), come, detail)
    if cause == "no_consumer":
        return Why("", "No consumer", f" is connected{come}", detail)
    if rates.go is not None:
        return Why("", numbers.rate(rates.go), f" go{come}", detail)
    words = cause_words(row)
    return Why("", f"{words[:1].upper()}{words[1:]}", "", detail)


def _shares(row: Row) -> str:
    """How much of the backlog is charged to the cause, and what comes second: the words of `explain`."""
    if row["share"] is None:
        return ""
    second = ""
    if row["next_cause"] is not None and row["next_share"]:
        other = "another limit" if row["next_cause"] == "throttled" else cause_name({"cause": row["next_cause"]})
        second = f"; {percent(row['next_share'])} to {other}"
    return f"{percent(row['share'])} of its backlog{second}"


def _lost_words(eviction: Row) -> str:
    is_size = eviction["quota_type"] == "size"
    quota = f"Size quota {numbers.size(eviction['quota_limit'])}" if is_size else f"Age quota {numbers.span(eviction['quota_limit'])}"
    return f"{quota} evicts: {eviction['entries']:,} entries lost"


def _limit(row: Row, limiters: list[Row]) -> Row | None:
    """The limiter that held it, as of the newest window that has it."""
    place = {"broker": (None, None), "topic": (row["topic"], None), "subscription": (row["topic"], row["subscription"])}[row["level"]]
    of_broker = (row["broker"], row["epoch"], row["level"], row["dimension"])
    for one in limiters:
        if (one["broker"], one["epoch"], one["level"], one["dimension"]) == of_broker and (one["topic"], one["subscription"]) == place:
            return one
    return None


def _ahead(quotas: list[Row], row: Row) -> list[tuple[float, Row]]:
    """What a quota does next, the first one first, and in how many seconds: from the newest event on that is known of the broker, for the
    check may be minutes old. A quota that is exceeded, and takes nothing from this one, is no harm to come.
    """
    ahead = [one for one in quotas if one["breach_at"] is not None and not one["exceeded"]]
    left = [((one["breach_at"] - row["known_until"]).total_seconds(), one) for one in ahead]
    return sorted(left, key=lambda one: one[0])


def _oldest_ms(checks: Mapping[tuple[str, str], list[Row]]) -> dict[str, int]:
    """The true age of the oldest message of each topic at its last check: of durable cursors, for a quota looks at no others."""
    found: dict[str, tuple[datetime, int]] = {}
    for (topic, _), rows in checks.items():
        last = rows[-1]
        age_ms = last["oldest_age_ms"] if last["durable"] and last["oldest_age_ms"] is not None else _NO_AGE
        found[topic] = max(found.get(topic, (last["check_time"], _NO_AGE)), (last["check_time"], age_ms))
    return {topic: age_ms for topic, (_, age_ms) in found.items() if age_ms != _NO_AGE}


def _next(quotas: list[Row], row: Row, oldest_age_ms: int | None, is_harmed: bool) -> tuple[str, str, bool]:
    if row["status"] == "unknown":
        return "?", "its state is not known", False
    if not quotas:
        return "?", "no quota check in this log", False
    exceeded = [one for one in quotas if one["exceeded"]]
    if exceeded:
        return _exceeded(exceeded[0], is_harmed)
    ahead = _ahead(quotas, row)
    if not ahead:
        reason = next((found for one in quotas if (found := not_known(one, oldest_age_ms)) is not None), None)
        return ("No breach in sight", "", False) if reason is None else ("?", _NOT_KNOWN[reason], False)
    left_s, first = ahead[0]
    then = "then evicts" if first["on_breach"] == "evict" else "then blocks producers"
    when = f"in {numbers.ahead(left_s)}" if left_s > 0 else "is due"
    return f"{_quota_name(first)} {when}", then, left_s <= _SOON_S


def _exceeded(quota: Row, is_harmed: bool) -> tuple[str, str, bool]:
    if quota["on_breach"] != "evict":
        return "Producers are shut out", f"{_quota_name(quota)} is exceeded", True
    if not is_harmed:
        return "Quota exceeded", "took nothing here", False
    every = "" if quota["interval_s"] is None else f", every {numbers.span(quota['interval_s'])}"
    return "Evicts at each check", f"{_quota_name(quota)}{every}", True


def _quota_name(quota: Row) -> str:
    return numbers.size(quota["quota_limit"]) if quota["quota_type"] == "size" else f"{numbers.span(quota['quota_limit'])} of age"


def _spark(backlogs: list[tuple[datetime, int]], drops: list[datetime], until: datetime) -> Spark | None:
    if not backlogs:
        return None
    over = axis(max(until - LOOK_BACK, backlogs[0][0]), until)
    return spark(backlogs, [at for at in drops if at >= over.start], over)
