"""The answer about a topic as a whole: who fills its quotas, since when producers are shut out, how its cursors stand, what to do."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pipeline.diagnosis.advice import mildest_first
from pipeline.diagnosis.commands import Step, stats, step, told, whole_topic
from pipeline.diagnosis.counts import entries, percent
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.own_cursors import OWN, kind_of, kind_words, own_advice, trouble_words
from pipeline.diagnosis.quota_fillers import again_words, evicted_lines, producer_lines, who, who_lines
from pipeline.diagnosis.quota_outlook import with_outlook
from pipeline.diagnosis.topic_rows import topic_rows
from pipeline.diagnosis.verdict import quota_of
from pipeline.diagnosis.words import MISSING, REASONS, quota_line, section, step_lines
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted

Document = dict[str, Any]
#: With these reasons a row is incomplete, and its backlogs are known all the same.
_BACKLOG_IS_KNOWN = ("points_missing", "deletions_unknown")


def topic_answer(look: Queries, topic: str, broker: str | None, at: datetime | None) -> Document:
    """The document of docs/reference/json.md, as of the topic's last quota check up to `at`. Raises NoAnswer without a check of it."""
    where = f"topic = {quoted(topic)}" + ("" if broker is None else f" AND broker = {quoted(broker)}")
    before = "" if at is None else f" AND check_time <= {instant(at)}"
    lives = look.rows(
        f"SELECT broker, epoch, max(check_time) AS last FROM topic_backlog WHERE {where}{before} GROUP BY broker, epoch"
        " ORDER BY last DESC, epoch DESC LIMIT 1"
    )
    if not lives:
        raise NoAnswer(f"no quota check of a topic {topic}{'' if at is None else f' before {time_words(at)}'} is in the log")
    life = lives[0]
    rows = topic_rows(look, life["broker"], life["epoch"], topic, life["last"], at or _known_until(look, life))
    found = who(rows)
    document: Document = {
        "broker": life["broker"],
        "epoch": life["epoch"],
        "topic": topic,
        "to": life["last"],
        **found,
        "quotas": _quotas(look, life, topic, found["age"]),
        "subscriptions": _subscriptions(rows.cursors),
    }
    exceeded = document["producers_shut_out"] is not None or any(quota["exceeded"] for quota in document["quotas"])
    reason = None if exceeded or rows.check is None else _not_known(rows.check)
    missing = ([] if document["quotas"] else ["quota_checks"]) + ([] if reason is None else [reason])
    document |= {"exceeded": exceeded, "unknown_reason": reason, "missing": missing}
    return {"verdict": sentence(document), **document, "advice": [one._asdict() for one in advice(document)]}


def _known_until(look: Queries, life: Mapping[str, Any]) -> datetime | None:
    """The newest event of the broker."""
    where = f"broker = {quoted(life['broker'])} AND epoch = {life['epoch']}"
    at: datetime | None = look.rows(f"SELECT max(as_of) AS at FROM newest_events WHERE {where}")[0]["at"]
    return at


def is_well(document: Document) -> bool:
    """Whether no quota is exceeded, and that is known."""
    return not document["exceeded"] and document["unknown_reason"] is None


def _not_known(check: Mapping[str, Any]) -> str | None:
    """Why the check does not prove that no quota is exceeded; null: it proves it."""
    if check["decision"] == "unknown" or (not check["complete"] and check["incomplete_reason"] not in _BACKLOG_IS_KNOWN):
        return str(check["incomplete_reason"] or "not_in_this_log")
    return None


def _quotas(look: Queries, life: Mapping[str, Any], topic: str, age: Document | None) -> list[Document]:
    """Each quota of the topic as of its last check."""
    last = life["last"]
    here = f"broker = {quoted(life['broker'])} AND epoch = {life['epoch']} AND topic = {quoted(topic)}"
    policies = look.rows(
        f"SELECT * FROM policy_spans WHERE {here} AND since <= {instant(last)} AND (until IS NULL OR until > {instant(last)})"
    )
    forecasts = look.rows(f"SELECT * FROM quota_forecasts WHERE {here} AND check_time = {instant(last)} ORDER BY quota_type")
    return with_outlook([quota_of(row, policies) for row in forecasts], forecasts, age)


def _subscriptions(cursors: Iterable[Any]) -> list[Document]:
    """Every cursor at the check, the largest backlog first."""
    found = [
        {"subscription": row["subscription"], "cursor_kind": kind_of(row["subscription"], row), "durable": row["durable"],
         "msg_backlog": row["msg_backlog"], "in_flight_entries": row["in_flight_entries"]}
        for row in cursors
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-one["msg_backlog"], one["subscription"]))


def sentence(document: Document) -> str:
    """Whether a quota is exceeded, since when producers are shut out, who fills it."""
    topic, at, cut = document["topic"], document["to"], document["producers_shut_out"]
    exceeded = [quota for quota in document["quotas"] if quota["exceeded"]]
    if cut is not None:
        quota, again = f"its {cut['quota_type']} quota is exceeded ({cut['policy']})", again_words(cut)
        since = f"since {time_words(cut['since'])} ({duration((at - cut['since']).total_seconds())})"
        out = f"were shut out at {time_words(cut['since'])}, and some are let in since" if cut["let_in"] else f"are shut out {since}"
        head = f"Producers of {topic} {out}: {quota}.{'' if again is None else f' {again[0].upper()}{again[1:]}.'}"
    elif exceeded:
        used = "" if exceeded[0]["share_of_limit"] is None else f", {percent(exceeded[0]['share_of_limit'])} used"
        head = f"The {exceeded[0]['quota_type']} quota of {topic} is exceeded at {time_words(at)} ({exceeded[0]['policy']}{used})."
    elif document["unknown_reason"] is not None:
        head = f"Whether a quota of {topic} is exceeded at {time_words(at)} is not known: {REASONS[document['unknown_reason']]}."
    elif document["quotas"]:
        head = f"No quota of {topic} is exceeded at {time_words(at)}."
    else:
        head = f"No quota of {topic} is known at {time_words(at)}."
    return f"{head} {_slowest(document)}"


def _slowest(document: Document) -> str:
    if not document["holders"]:
        return "No durable cursor has a backlog."
    first = document["holders"][0]
    name = kind_words(first["cursor_kind"], first["subscription"])
    oldest = "" if first["oldest_age_ms"] is None else f", the oldest message is {duration(first['oldest_age_ms'] / 1e3)} old"
    head = f"It is filled by {name}" if document["exceeded"] else f"The slowest cursor is {name}"
    held = f"{entries(first['msg_backlog'])} and {first['backlog_size']:,} bytes"
    trouble = trouble_words(document, first["cursor_kind"], first["subscription"])
    more = "" if trouble is None else f" {trouble[0].upper()}{trouble[1:]}."
    return f"{head}: {held} are behind it{oldest}.{more}"


def advice(document: Document) -> list[Step]:
    """What to do about the slowest cursor where a quota is exceeded; none else."""
    if not document["exceeded"]:
        return []
    topic = document["topic"]
    quotas = step("These are the quotas in force:", "topics", "get-backlog-quotas", "--applied", whole_topic(topic))
    if not document["holders"]:
        return [stats("No durable cursor has a backlog by the log. Ask the broker which cursors it has:", topic), quotas]
    first = document["holders"][0]
    if first["cursor_kind"] in OWN:
        about = {**document, "subscription": first["subscription"], "cursor_kind": first["cursor_kind"]}
        return mildest_first([*own_advice(about), quotas])
    name = first["subscription"]
    find_out = f"Find out why {name} is behind: ./spark-submit.sh explain {topic} {name}."
    return [
        told(f"{find_out} Once its backlog is below the limit, the quota is free."),
        stats("This shows its consumers and its backlog:", topic),
        quotas,
    ]


def text_lines(document: Document) -> Iterable[str]:
    """The whole answer."""
    yield document["verdict"]
    yield ""
    yield from section("quotas", [quota_line(one, document["to"]) for one in document["quotas"]] or ["none that is known"])
    yield from section("fills it", who_lines(document))
    yield from section("producers", producer_lines(document))
    yield from section("lost", evicted_lines(document))
    yield from section("cursors", [_cursor_line(one) for one in document["subscriptions"]] or ["none"])
    for one in document["advice"]:
        yield from step_lines(one)
    if document["missing"]:
        yield from section("missing", [MISSING[code] for code in document["missing"]])


def _cursor_line(one: Document) -> str:
    unacked = f", {one['in_flight_entries']:,} of them delivered and not acknowledged" if one["in_flight_entries"] else ""
    return f"{kind_words(one['cursor_kind'], one['subscription'])}: {entries(one['msg_backlog'])}{unacked}"
