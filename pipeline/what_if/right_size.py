"""Limits of the right size: of each limiter in force the smallest limit that keeps ages below a bound, found by replays."""

from collections.abc import Callable, Sequence
from typing import Any

from pipeline.diagnosis.commands import policy_of
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.what_if.answer import NS_PER_S, Case, Span, case_of, checked, played
from pipeline.what_if.changes import DIMENSIONS, NO_LIMIT, Changes
from pipeline.what_if.limits import next_limit
from pipeline.what_if.play import Life, recorded_life
from pipeline.what_if.record import Row
from schemas.events import LIMITER_LEVELS
from schemas.render.ddl import quoted

Document = dict[str, Any]
#: A limit is found to this part of itself.
PRECISION = 0.01
#: A limit is raised at most to so many times what it is.
MOST_DOUBLINGS = 20
#: Levels that are looked at: the broker's limiter is one of all topics.
LEVELS = LIMITER_LEVELS[1:]
TOO_LOW, FITS, ABOVE_NEED, NOT_THIS = "too_low", "fits", "above_need", "not_this_limit"
#: The record must be so many times as long as the age: then a limit that is found is at most a tenth below the demand.
LEAST_RECORD = 10
#: A limit of more than so many times the need is above it.
MUCH_MORE = 2.0


def right_size(look: ReadingRoom, topics: Sequence[str], keep_age_s: float, broker: str | None, span: Span) -> Document:
    """The document (docs/reference/json.md): a row for each limiter with a rate, and the topics without an answer."""
    limits: list[Document] = []
    without: list[Document] = []
    for topic in topics:
        try:
            case = case_of(look, topic, None, Changes(), broker, span)
        except (NoAnswer, BadConfig) as why:
            without.append({"topic": topic, "reasons": [str(why)]})
            continue
        check = checked(case)
        if keep_age_s > _lasted_ns(case) / NS_PER_S / LEAST_RECORD:
            without.append({"topic": topic, "reasons": [_too_short(case)]})
        elif _lacks_times(case):
            without.append({"topic": topic, "reasons": ["its oldest entries are from before the log, so their age is not known"]})
        elif check.ok:
            limits += [_sized(case, limiter, keep_age_s) for limiter in _limiters(case)]
        else:
            without.append({"topic": topic, "reasons": list(check.reasons)})
    return {"keep_age_s": keep_age_s, "limits": limits, "without_answer": without}


def _too_short(case: Case) -> str:
    """Of a limit below the demand the age grows slowly: in a short record it looks like enough."""
    lasted_s = _lasted_ns(case) / NS_PER_S
    return f"its record lasts {lasted_s:,.0f} s, so it shows limits for ages up to {lasted_s / LEAST_RECORD:,.0f} s"


def _lacks_times(case: Case) -> bool:
    """Whether the topic had a backlog before the record: its entries have no publish time, and an age of 0 would be made up."""
    life = recorded_life(case.world, case.instants_ns)
    subs = list(case.target.subs)
    return bool(((life.backlog[:, subs] > 0) & (life.oldest_ms[:, subs] <= 0)).any())


def topics_with_limits(look: ReadingRoom, topic: str | None, namespace: str | None) -> list[str]:
    """Topics of the log that have, or had, a limiter of their own or of a subscription; of a namespace, or the one that is named."""
    levels = ", ".join(map(quoted, LEVELS))
    chosen = "" if topic is None else f" AND topic = {quoted(topic)}"
    rows = look.rows(
        f"SELECT DISTINCT topic FROM dispatch_events WHERE type = 'dispatch_rate' AND level IN ({levels})"
        f" AND (msg_rate > 0 OR byte_rate > 0){chosen} ORDER BY topic"
    )
    found = [row["topic"] for row in rows]
    return found if namespace is None else [name for name in found if name.partition("://")[2].rpartition("/")[0] == namespace]


def _limiters(case: Case) -> list[tuple[Row, str]]:
    """(Its newest `dispatch_rate`, dimension as `--set` names it) of each limiter of the topic with a rate."""
    newest: dict[tuple[str, int], Row] = {}
    for row in case.world.record.of("dispatch_rate"):
        if row["level"] in LEVELS and row["topic_id"] == case.world.scales[case.target.topic].topic_id:
            newest[row["level"], row["sub_id"] or 0] = row
    return [(row, name) for row in newest.values() for name in ("messages", "bytes") if row[DIMENSIONS[name]] > 0]


def _sized(case: Case, limiter: tuple[Row, str], keep_age_s: float) -> Document:
    """One limiter: what it is, the age that it leads to, and the smallest limit that keeps ages below the bound."""
    row, dimension = limiter
    own = _of_limiter(case, row)
    lives: dict[int, Life] = {}

    def life(limit: int) -> Life:
        if limit not in lives:
            changes = Changes(rates={row["level"]: {DIMENSIONS[dimension]: limit}})
            lives[limit] = played(own, changes, own.behaviours)
        return lives[limit]

    now = int(row[DIMENSIONS[dimension]])
    keeps = _keeps(own, life, keep_age_s)
    needed = smallest(keeps, now) if keeps(NO_LIMIT) else None
    verdict = _verdict(now, needed)
    return {
        "topic": case.world.names[case.target.topic],
        "subscription": row["sub"] if row["level"] == LIMITER_LEVELS[2] else None,
        "level": row["level"],
        "dimension": dimension,
        "limit": now,
        "period_s": row["period_s"] or 1,
        "oldest_s": oldest_s(own, life(now)),
        "needed": needed,
        "oldest_with_needed_s": None if needed is None else oldest_s(own, life(needed)),
        "verdict": verdict,
        "held_by": next_limit(life(NO_LIMIT), own.target.subs, _lasted_ns(own)) if needed is None else None,
        # Nobody is told to lower a limit to the bare need of one record.
        "command": _command(row, dimension, needed) if verdict == TOO_LOW and needed is not None else None,
    }


def _of_limiter(case: Case, row: Row) -> Case:
    """The case with the subscriptions that the limiter is of."""
    if row["level"] != LIMITER_LEVELS[2]:
        return case
    subs = tuple(s for s in case.target.subs if case.world.subs[s].sub_id == row["sub_id"])
    return case.of(subs)


def _keeps(case: Case, life: Callable[[int], Life], keep_age_s: float) -> Callable[[int], bool]:
    return lambda limit: oldest_s(case, life(limit)) <= keep_age_s


def smallest(keeps: Callable[[int], bool], now: int) -> int | None:
    """The smallest limit that `keeps`, to PRECISION; null where none does that is at most 2^MOST_DOUBLINGS times `now`.

    A higher limit is taken to keep whatever a lower one keeps.
    """
    high = now
    for _ in range(MOST_DOUBLINGS):
        if keeps(high):
            break
        high *= 2
    else:
        return None
    low = 0 if high == now else high // 2
    while high - low > max(1, int(PRECISION * high)):
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def oldest_s(case: Case, life: Life) -> float:
    """The greatest age of a backlog of the case's subscriptions, in seconds."""
    found = 0.0
    for s in case.target.subs:
        for ns, entries, oldest_ms in zip(case.instants_ns, life.backlog[:, s], life.oldest_ms[:, s], strict=True):
            if entries > 0 and oldest_ms > 0:
                found = max(found, case.world.at_us(int(ns)) / 1e6 - int(oldest_ms) / 1e3)
    return round(found, 3)


def _lasted_ns(case: Case) -> int:
    return int(case.instants_ns[-1] - case.instants_ns[0])


def _verdict(now: int, needed: int | None) -> str:
    if needed is None:
        return NOT_THIS
    if needed > now:
        return TOO_LOW
    return ABOVE_NEED if now > MUCH_MORE * needed else FITS


def _command(row: Row, dimension: str, limit: int) -> str | None:
    """Both dimensions are one object in Pulsar: who sets one of them sets the other, too."""
    rates = {"messages": row["msg_rate"], "bytes": row["byte_rate"], dimension: limit}
    options: list[object] = ["-md", max(rates["messages"], NO_LIMIT), "-bd", max(rates["bytes"], NO_LIMIT), "-dt", row["period_s"] or 1]
    if row["level"] == LIMITER_LEVELS[1]:
        return policy_of("", "set-dispatch-rate", row["topic"], *options).command
    return policy_of("", "set-subscription-dispatch-rate", row["topic"], "--subscription", row["sub"], *options).command
