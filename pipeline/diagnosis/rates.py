"""Which rate a limiter needs: computed from what comes, sizes, and who shares it. Pure but for the question.

A limiter is charged what goes out: bytes, and messages, or entries in place of messages where `dispatchThrottlingOnBatchMessageEnabled`
is true (§1.2). Each subscription of a topic gets all that is published there. So a limiter keeps up if it gives, for each subscription
that it holds, what comes to it; and for each other one that draws on it, what that draws now.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted

Row = Mapping[str, Any]
Document = dict[str, Any]
#: Rates are those of so long before the end; a cursor with one check in it: since it was opened.
RECENT = timedelta(minutes=5)
#: How soon the rate that is advised makes it current.
CURRENT_IN_S = 600
#: What comes of late is that of so long at least: in a few seconds less may come for any reason.
OF_LATE = timedelta(seconds=29)
#: Standard deviations of a count by chance.
_CHANCE = 6
CHARGES_ENTRIES = "dispatchThrottlingOnBatchMessageEnabled"


def draws_query(broker: str, epoch: int, topic: str | None, end: datetime) -> str:
    """Per subscription of the topic, or of the whole broker: what came and went in the last minutes, what came in the last half minute or
    step between checks, whichever is longer, and what still waits.
    """
    where = f"broker = {quoted(broker)} AND epoch = {epoch}" + ("" if topic is None else f" AND topic = {quoted(topic)}")
    first = {name: f"min_by({name}, check_number) AS first_{name}" for name in ("check_time", "published_entries", "dispatched_entries")}
    last = ("check_time", "published_entries", "dispatched_entries", "dispatched_msgs", "msg_backlog", "in_flight_entries", "backlog_size",
            "backlog_messages")  # fmt: skip
    before = ("check_time", "published_entries")
    checks = (
        "SELECT *, max(unix_micros(check_time)) OVER (PARTITION BY topic, subscription, opened_at) AS newest_us FROM subscription_backlog"
        f" WHERE {where} AND check_time > {instant(end - RECENT)} AND check_time <= {instant(end)}"
    )
    is_before = f"FILTER (WHERE unix_micros(check_time) <= newest_us - {OF_LATE // timedelta(microseconds=1)})"
    return (
        f"SELECT topic, subscription, opened_at, {', '.join(first.values())},"
        f" {', '.join(f'max_by({name}, check_number) AS {name}' for name in last)},"
        f" {', '.join(f'max_by({name}, check_number) {is_before} AS {name}_before' for name in before)} FROM ({checks})"
        " GROUP BY topic, subscription, opened_at"
    )


def served_query(broker: str, epoch: int, topic: str | None, start: datetime, end: datetime) -> str:
    """Per subscription: what it got in the stretch, and whether each level's limiter blocked it."""
    where = f"broker = {quoted(broker)} AND epoch = {epoch}" + ("" if topic is None else f" AND topic = {quoted(topic)}")
    sums = ("dispatched_entries", "dispatched_msgs", "dispatched_bytes", "uncharged_msgs", "blocked_ns_by_broker_limit",
            "blocked_ns_by_topic_limit", "blocked_ns_by_subscription_limit")  # fmt: skip
    return (
        f"SELECT topic, subscription, {', '.join(f'sum({name}) AS {name}' for name in sums)} FROM subscription_throttle"
        f" WHERE {where} AND window_end > {instant(start)} AND window_start < {instant(end)} GROUP BY topic, subscription"
    )


def needed(look: Queries, document: Document) -> Document | None:
    """Key `needed` of the document: what the limiter that holds it has to give. Null where no limiter holds it, or nobody knows how much
    comes.
    """
    if document["cause"] != "throttled" or was_shut_out(document):
        return None
    level, dimension = document["level"], document["dimension"]
    of_topic = None if level == "broker" else document["topic"]
    asked = (document["broker"], document["epoch"], of_topic)
    served = {(row["topic"], row["subscription"]): row for row in look.rows(served_query(*asked, document["from"], document["to"]))}
    newest: dict[tuple[str, str], Row] = {}
    for row in look.rows(draws_query(*asked, document["to"])):
        key = (row["topic"], row["subscription"])
        if key not in newest or row["opened_at"] > newest[key]["opened_at"]:
            newest[key] = row
    own = (document["topic"], document["subscription"])
    if own not in newest:
        return None
    by_entries = dimension == "msg" and _counts_entries(look, document)
    # In one order: sums of fractions depend on it.
    wanted = [own] if level == "subscription" else sorted(key for key in newest if key == own or key in served)
    draws = [_draw(newest[key], served.get(key), level, dimension, by_entries, key == own) for key in wanted]
    if any(draw is None for draw in draws):
        return None
    known = [draw if not draw["this"] else {**draw, "waiting": max(draw["waiting"], document["waiting"] or 0)} for draw in draws if draw]
    return {**computed(known, level, dimension), "counts_entries": by_entries}


def _counts_entries(look: Queries, document: Document) -> bool:
    """Whether limiters of the broker count a batch as one."""
    where = f"broker = {quoted(document['broker'])} AND epoch = {document['epoch']}"
    rows = look.rows(f"SELECT counts_entries FROM limiter_units WHERE {where}")
    return bool(rows and rows[0]["counts_entries"])


def was_shut_out(document: Document) -> bool:
    """Whether a quota shut producers out in the last minutes: what came then is what it let come, and no need follows from it."""
    return document["catch_up"] is not None and bool(document["catch_up"]["shut_out"])


def computed(draws: Sequence[Document], level: str, dimension: str) -> Document:
    """The sums over all that draw on the limiter. `keeps_up_per_s`: it catches up above this. `current_per_s`: it is current in ten minutes
    at this.
    """
    own = next(draw for draw in draws if draw["this"])
    keeps_up = sum(draw["keeps_up_per_s"] for draw in draws)
    current = keeps_up + sum(draw["waiting"] * draw["permits_per_entry"] / CURRENT_IN_S for draw in draws if draw["held"])
    return {
        "level": level,
        "dimension": dimension,
        "publish_entries_per_s": own["publish_entries_per_s"],
        "permits_per_entry": own["permits_per_entry"],
        "waiting": own["waiting"],
        "keeps_up_per_s": keeps_up,
        "current_per_s": current,
        "held": sum(1 for draw in draws if draw["held"]),
        "others_per_s": sum(draw["keeps_up_per_s"] for draw in draws if not draw["held"]),
    }


def _draw(row: Row, served: Row | None, level: str, dimension: str, by_entries: bool, this: bool) -> Document | None:
    """What one subscription needs of the limiter. Null for the one that was asked about where no time passed or no size is known."""
    since = row["first_check_time"] if row["first_check_time"] < row["check_time"] else row["opened_at"]
    over_s = (row["check_time"] - since).total_seconds()
    per_entry = _permits_per_entry(row, served, dimension, by_entries)
    if over_s <= 0 or per_entry is None:
        return None if this else {**_NOTHING, "this": False}
    from_opening = row["first_check_time"] == row["check_time"]
    came_per_s = (row["published_entries"] - (0 if from_opening else row["first_published_entries"])) / over_s
    went_per_s = (row["dispatched_entries"] - (0 if from_opening else row["first_dispatched_entries"])) / over_s
    came_per_s = _of_late(row, came_per_s)
    held = this or (served is not None and served[f"blocked_ns_by_{level}_limit"] > 0)
    per_s = came_per_s if held else went_per_s
    return {
        "this": this,
        "held": held,
        "publish_entries_per_s": came_per_s,
        "permits_per_entry": per_entry,
        "waiting": max(0, row["msg_backlog"] - (row["in_flight_entries"] or 0)),
        "keeps_up_per_s": per_s * per_entry,
    }


def _of_late(row: Row, mean_per_s: float) -> float:
    """What comes, by the last half minute or step, where that is less than half of the mean, or more than its double, and by more than
    chance: a burst that is over comes no more, and waits already.
    """
    if row["check_time_before"] is None or row["check_time"] <= row["check_time_before"]:
        return mean_per_s
    over_s = (row["check_time"] - row["check_time_before"]).total_seconds()
    came = row["published_entries"] - row["published_entries_before"]
    expected = mean_per_s * over_s
    has_turned = not expected / 2 <= came <= 2 * expected and abs(came - expected) > _CHANCE * math.sqrt(max(1.0, expected))
    return float(came / over_s) if has_turned else mean_per_s


_NOTHING: Document = {"held": False, "publish_entries_per_s": 0.0, "permits_per_entry": 0.0, "waiting": 0, "keeps_up_per_s": 0.0}


def _permits_per_entry(row: Row, served: Row | None, dimension: str, by_entries: bool) -> float | None:
    """Of what waits, else of what was delivered; null where neither is known."""
    if by_entries:
        return 1.0
    waits = (row["backlog_messages"] if dimension == "msg" else row["backlog_size"], row["msg_backlog"])
    if waits[0] is not None and waits[1] > 0:
        return float(waits[0] / waits[1])
    if served is not None and served["dispatched_entries"] > 0:
        return float(served["dispatched_msgs" if dimension == "msg" else "dispatched_bytes"] / served["dispatched_entries"])
    return None


def whole_rate(per_s: float, period_s: float) -> int:
    """Permits per period, rounded up: a little more than it needs, never less."""
    return max(1, math.ceil(per_s * period_s))
