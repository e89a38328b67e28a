"""Limits of the right size: of each limiter in force the smallest limit that keeps ages below a bound, found by replays."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from pipeline.diagnosis.commands import policy_of, step
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.what_if.answer import NS_PER_S, Case, case_of, checked, played
from pipeline.what_if.assumptions import were_shut_out
from pipeline.what_if.changes import DIMENSIONS, NO_LIMIT, Changes
from pipeline.what_if.limited import LEVELS, Asked, limited
from pipeline.what_if.limits import next_limit
from pipeline.what_if.play import Life, recorded_life
from pipeline.what_if.quotas_due import quotas_due
from pipeline.what_if.reads import highest_bytes_per_s
from pipeline.what_if.record import Row
from pipeline.what_if.stretch import Span
from schemas.events import LIMITER_LEVELS
from schemas.render.ddl import quoted

Document = dict[str, Any]
#: A limit is found to this part of itself.
PRECISION = 0.01
#: A limit is raised at most to so many times what it is.
MOST_DOUBLINGS = 20
TOO_LOW, FITS, ABOVE_NEED, NOT_THIS, OVER_BUDGET = "too_low", "fits", "above_need", "not_this_limit", "over_budget"
#: The record must be so many times as long as the age: then a limit that is found is at most a tenth below the demand.
LEAST_RECORD = 10
#: A limit of more than so many times the need is above it.
MUCH_MORE = 2.0


def right_size(look: ReadingRoom, asked: Asked, broker: str | None) -> Document:
    """The document (docs/reference/json.md): a row for each limiter with a rate, quotas that will trip, and topics without an answer.

    Raises NoAnswer where no limiter is in the log.
    """
    return together(asked, [of_broker(look, asked, *one) for one in limited(look, asked, broker)])


def together(asked: Asked, parts: Iterable[Document]) -> Document:
    """One document of those of several brokers."""
    several = list(parts)
    lists = {key: [one for part in several for one in part[key]] for key in ("limits", "quotas", "without_answer")}
    return {"keep_age_s": asked.keep_age_s, "read_budget": asked.read_budget, **lists}


def of_broker(look: ReadingRoom, asked: Asked, broker: str, topics: Sequence[str]) -> Document:
    """`limits`, `quotas` and `without_answer` of one broker. `topics`: those with a limit."""
    limits: list[Document] = []
    without: list[Document] = []
    for topic in topics:
        rows, reasons = _of_topic(look, asked, broker, topic, LEVELS)
        limits += rows
        without += [{"topic": topic, "broker": broker, "reasons": reasons}] if reasons else []
    shared = _topic_under_limit(look, broker) if asked.topic is None and asked.namespace is None else None
    if shared is not None:
        rows, reasons = _of_topic(look, asked, broker, shared, LIMITER_LEVELS[:1])
        limits += rows
        without += [{"topic": None, "broker": broker, "reasons": reasons}] if reasons else []
    return {"limits": limits, "quotas": quotas_due(look, [broker], asked.topic, asked.namespace), "without_answer": without}


def _of_topic(look: ReadingRoom, asked: Asked, broker: str, topic: str, levels: Sequence[str]) -> tuple[list[Document], list[str]]:
    """(Rows of its limiters of these levels, or why there are none.)"""
    is_of_broker = levels[0] == LIMITER_LEVELS[0]
    try:
        case = _case_of_broker(look, topic, broker, asked.span) if is_of_broker else _case_of_topic(look, topic, broker, asked.span)
    except (NoAnswer, BadConfig) as why:
        return [], [str(why)]
    if is_of_broker:
        case = case.of(tuple(range(len(case.world.subs))))
    if asked.keep_age_s > _lasted_ns(case) / NS_PER_S / LEAST_RECORD:
        return [], [_too_short(case)]
    if _lacks_times(case):
        return [], ["its oldest entries are from before the log, so their age is not known"]
    if were_shut_out(case.world):
        return [], ["a quota shut producers out, so its record does not have all that comes without that"]
    check = checked(case)
    return ([_sized(case, limiter, asked) for limiter in _limiters(case, levels)], []) if check.ok else ([], list(check.reasons))


def _case_of_broker(look: ReadingRoom, topic: str, broker: str, span: Span) -> Case:
    return case_of(look, topic, None, Changes(rates={LIMITER_LEVELS[0]: {}}), broker, span)


def _case_of_topic(look: ReadingRoom, topic: str, broker: str, span: Span) -> Case:
    """Of the topic alone; of its whole broker where the broker's limiter would bind if the topic had no limits: others then get less."""
    case = case_of(look, topic, None, Changes(), broker, span)
    if not case.world.record.is_apart:
        return case
    no_limits = Changes(rates={level: dict.fromkeys(DIMENSIONS.values(), NO_LIMIT) for level in LEVELS})
    freest = played(case, no_limits, case.behaviours)
    return case_of(look, topic, None, Changes(), broker, span, may_share=True) if freest.throttled[:, 0].any() else case


def _too_short(case: Case) -> str:
    """Of a limit below the demand the age grows slowly: in a short record it looks like enough."""
    lasted_s = _lasted_ns(case) / NS_PER_S
    return f"its record lasts {lasted_s:,.0f} s, so it shows limits for ages up to {lasted_s / LEAST_RECORD:,.0f} s"


def _lacks_times(case: Case) -> bool:
    """Whether the topic had a backlog before the record: its entries have no publish time, and an age of 0 would be made up."""
    life = recorded_life(case.world, case.instants_ns)
    subs = list(case.target.subs)
    return bool(((life.backlog[:, subs] > 0) & (life.oldest_ms[:, subs] <= 0)).any())


def _topic_under_limit(look: ReadingRoom, broker: str) -> str | None:
    """Any topic of the newest epoch of a broker whose limiter has a rate: a replay of it is of all. Null: its limiter has none."""
    rates = look.rows(
        f"SELECT epoch, msg_rate, byte_rate FROM dispatch_events WHERE type = 'dispatch_rate' AND level = {quoted(LIMITER_LEVELS[0])}"
        f" AND broker = {quoted(broker)} ORDER BY ts DESC LIMIT 1"
    )
    if not rates or max(rates[0]["msg_rate"], rates[0]["byte_rate"]) <= 0:
        return None
    topics = look.rows(
        "SELECT min(topic) AS topic FROM dispatch_events"
        f" WHERE type = 'publish' AND broker = {quoted(broker)} AND epoch = {rates[0]['epoch']}"
    )
    return topics[0]["topic"] if topics else None


def _limiters(case: Case, levels: Sequence[str]) -> list[tuple[Row, str]]:
    """(Its newest `dispatch_rate`, dimension as `--set` names it) of each limiter of these levels with a rate."""
    newest: dict[tuple[str, int], Row] = {}
    topic_id = case.world.scales[case.target.topic].topic_id
    for row in case.world.record.of("dispatch_rate"):
        if row["level"] in levels and (row["level"] == LIMITER_LEVELS[0] or row["topic_id"] == topic_id):
            newest[row["level"], row["sub_id"] or 0] = row
    return [(row, name) for row in newest.values() for name in ("messages", "bytes") if row[DIMENSIONS[name]] > 0]


class _Sizes(NamedTuple):
    """Of a limiter: its limit, the smallest that keeps ages, the largest that keeps the budget of reads, and the one to set, if any."""

    now: int
    needed: int | None
    most: int | None
    set_to: int | None


def _sized(case: Case, limiter: tuple[Row, str], asked: Asked) -> Document:
    """One limiter: what it is, the age and the reads that it leads to, the limits that keep both, and the command."""
    row, dimension = limiter
    own = _of_limiter(case, row)
    lives: dict[int, Life] = {}

    def life(limit: int) -> Life:
        if limit not in lives:
            changes = Changes(rates={row["level"]: {DIMENSIONS[dimension]: limit}})
            lives[limit] = played(own, changes, own.behaviours)
        return lives[limit]

    now = int(row[DIMENSIONS[dimension]])
    keeps = _keeps(own, life, asked.keep_age_s)
    needed = smallest(keeps, now) if keeps(NO_LIMIT) else None
    budget, most = _under_budget(own, life, asked.read_budget, now)
    sizes = _Sizes(now, needed, most, set_to(now, needed, most))
    level = row["level"]
    return {
        "broker": case.world.record.broker,
        "topic": None if level == LIMITER_LEVELS[0] else case.world.names[case.target.topic],
        "subscription": row["sub"] if level == LIMITER_LEVELS[2] else None,
        "level": level,
        "dimension": dimension,
        "limit": now,
        "period_s": row["period_s"] or 1,
        "oldest_s": oldest_s(own, life(now)),
        "reads_per_s": _reads(own, life(now)),
        "needed": needed,
        "oldest_with_needed_s": None if needed is None else oldest_s(own, life(needed)),
        "budget": budget,
        "most": most,
        "verdict": _verdict(now, needed, most),
        "held_by": next_limit(life(NO_LIMIT), own.target.subs, _lasted_ns(own)) if needed is None else None,
        **_advice(own, row, dimension, sizes, life),
    }


def _advice(case: Case, row: Row, dimension: str, sizes: _Sizes, life: Callable[[int], Life]) -> Document:
    """`set_to`, and the effect and the command of it; all null where nothing is to be set."""
    if sizes.set_to is None:
        reason = "the need is above the budget of reads" if _is_conflict(sizes) else None
        return {"set_to": None, "effect": reason, "command": None}
    now, then = (life(limit) for limit in (sizes.now, sizes.set_to))
    ages = [duration(oldest_s(case, one)) for one in (now, then)]
    reads = [_reads(case, one) for one in (now, then)]
    effect = f"the oldest entry would be {ages[1]} old in place of {ages[0]}"
    if None not in reads:
        effect += f", it would read {reads[1]:,.0f} B/s at most in place of {reads[0]:,.0f}"
    return {"set_to": sizes.set_to, "effect": effect, "command": _command(row, dimension, sizes.set_to)}


def _is_conflict(sizes: _Sizes) -> bool:
    return sizes.needed is not None and sizes.most is not None and sizes.needed > sizes.most


def set_to(now: int, needed: int | None, most: int | None) -> int | None:
    """The limit to set, never below the need: the need where it is above the limit; the most of the budget where the limit is above that;
    twice the need where the limit is far above it. Null: nothing, or need and budget exclude each other.
    """
    if needed is None or (most is not None and needed > most):
        return None
    if needed > now:
        return needed
    if most is not None and now > most:
        return most
    return None if now <= MUCH_MORE * needed else int(MUCH_MORE * needed) + 1 if MUCH_MORE * needed + 1 < now else None


def _under_budget(case: Case, life: Callable[[int], Life], read_budget: float | None, now: int) -> tuple[str | None, int | None]:
    """(Whether the budget is kept `always`, `up_to` a limit, `never`, or `unknown`; that limit.) Null without a budget."""
    if read_budget is None:
        return None, None

    def reads(limit: int) -> float | None:
        return _reads(case, life(limit))

    if reads(NO_LIMIT) is None or reads(now) is None:
        return "unknown", None
    if _at_most(reads(NO_LIMIT), read_budget):
        return "always", None
    most = largest(lambda limit: _at_most(reads(limit), read_budget), now)
    return ("never", None) if most is None else ("up_to", most)


def _reads(case: Case, life: Life) -> float | None:
    return highest_bytes_per_s(case.world, life, case.instants_ns, case.target.subs)


def _at_most(reads: float | None, read_budget: float) -> bool:
    return reads is not None and reads <= read_budget


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


def largest(keeps: Callable[[int], bool], now: int) -> int | None:
    """The largest limit that `keeps`, to PRECISION; null where not even a limit of 1 does, or one of 2^MOST_DOUBLINGS times `now` does.

    A lower limit is taken to keep whatever a higher one keeps.
    """
    low = now
    while not keeps(low):
        if low == 1:
            return None
        low = max(1, low // 2)
    high = low * 2
    for _ in range(MOST_DOUBLINGS):
        if not keeps(high):
            break
        low, high = high, high * 2
    else:
        return None
    while high - low > max(1, int(PRECISION * low)):
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


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


def _verdict(now: int, needed: int | None, most: int | None) -> str:
    if needed is None:
        return NOT_THIS
    if needed > now:
        return TOO_LOW
    if most is not None and now > most:
        return OVER_BUDGET
    return ABOVE_NEED if now > MUCH_MORE * needed else FITS


def _command(row: Row, dimension: str, limit: int) -> str | None:
    """Both dimensions are one object in Pulsar: who sets one of them sets the other, too."""
    if row["level"] == LIMITER_LEVELS[0]:
        name = {"messages": "dispatchThrottlingRateInMsg", "bytes": "dispatchThrottlingRateInByte"}[dimension]
        return step("", "brokers", "update-dynamic-config", "--config", name, "--value", limit).command
    rates = {"messages": row["msg_rate"], "bytes": row["byte_rate"], dimension: limit}
    options: list[object] = ["-md", max(rates["messages"], NO_LIMIT), "-bd", max(rates["bytes"], NO_LIMIT), "-dt", row["period_s"] or 1]
    options += ["-rp"] if row["relative"] else []
    if row["level"] == LIMITER_LEVELS[1]:
        return policy_of("", "set-dispatch-rate", row["topic"], *options).command
    return policy_of("", "set-subscription-dispatch-rate", row["topic"], "--subscription", row["sub"], *options).command
