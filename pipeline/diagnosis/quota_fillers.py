"""Who fills the quotas of a topic, and since when its producers are shut out. Pure: rows in, parts of a document and lines out."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from pipeline.diagnosis.counts import entries
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.own_cursors import COMPACTION, compaction_words, kind_of, kind_words, trouble_words
from pipeline.diagnosis.topic_rows import ROLLOVER, TopicRows, last_cut

Row = Mapping[str, Any]
Document = dict[str, Any]
_OF_CURSOR = ("msg_backlog", "backlog_size", "oldest_age_ms")
#: So many cursors are named in text; the document has all.
SHOWN = 3


def who(rows: TopicRows) -> Document:
    """Keys `holders_as_of`, `holders`, `age`, `producers_shut_out`, `evicted`, `compactions`, `replicators` of the document."""
    return {
        "holders_as_of": None if rows.check is None else rows.check["check_time"],
        "holders_before_eviction": rows.check is not None and any(row["check_number"] == rows.check["check_number"] for row in rows.moves),
        "holders": _holders(rows.cursors),
        "age": _age(rows),
        "producers_shut_out": _shut_out(rows),
        "evicted": _evicted(rows.moves),
        "compactions": [dict(one) for one in rows.compactions],
        "replicators": [dict(one) for one in rows.replicators],
    }


def _holders(cursors: Sequence[Row]) -> list[Document]:
    """Durable cursors with a backlog, the slowest first: these the broker looks at (§2.3). A reader's holds nothing."""
    durable = [row for row in cursors if row["durable"] and row["msg_backlog"] > 0]
    ordered = sorted(durable, key=lambda row: (row["mark_delete_ledger"], row["mark_delete_entry"], row["subscription"]))
    return [
        {"subscription": row["subscription"], "cursor_kind": kind_of(row["subscription"], row), **{name: row[name] for name in _OF_CURSOR}}
        for row in ordered
    ]


def _age(rows: TopicRows) -> Document | None:
    """The age that the broker shows, and the true one of durable cursors: it looks at no others (§2.4). Null where nothing waits, or no
    check has it. A broker that shows none counts from when the open ledger is closed: at the latest `counts_by`, and the quota is exceeded
    by `exceeds_by`.
    """
    check, closes_by = rows.check, rows.closes_by
    ages = [row["oldest_age_ms"] for row in rows.cursors if row["durable"] and row["msg_backlog"] > 0 and row["oldest_age_ms"] is not None]
    if check is None or not ages:
        return None
    limit_s = check["backlog_quota_limit_time"]
    return {
        "believed_s": check["oldest_backlog_message_age_seconds"],
        "true_ms": max(ages),
        "limit_s": limit_s,
        "precise": rows.is_age_precise,
        "counts_by": closes_by,
        "exceeds_by": None if closes_by is None else closes_by + timedelta(seconds=limit_s),
    }


def _shut_out(rows: TopicRows) -> Document | None:
    """Since when producers are cut off and refused; null where the newest check has not done that. They may have come back before, and
    since the last check, too: a producer is let in while less is used than the limit.
    """
    cut = [row for row in rows.decisions if row["action"] == "disconnect_producers"]
    if not cut or rows.check is None or cut[-1]["check_number"] != rows.check["check_number"]:
        return None
    last = last_cut(cut)
    return {
        "since": last["decided_at"],
        "quota_type": cut[-1]["quota_type"],
        "policy": cut[-1]["policy"],
        "closed": last["producers_closed"],
        "first_since": cut[0]["decided_at"],
        "times": max(1, sum(row["producers_closed"] > 0 for row in cut)),
        "let_in": _let_in(rows),
        "refused": _refused(rows),
        "connected": rows.check["producers"],
    }


def _let_in(rows: TopicRows) -> int:
    return sum(int(row["n"]) for row in rows.producer_events if row["type"] == "producer_open")


def _refused(rows: TopicRows) -> int | None:
    """How many producers asked and were not let in; null: the log does not tell, or has lost events."""
    if rows.check is not None and rows.check.get("incomplete_reason") == "events_lost":
        return None
    counts = {row["type"]: row["n"] for row in rows.producer_events}
    if rows.tells_refusals:
        return int(counts.get("producer_refused", 0))
    # The broker looked the age up for each that asked; one that was let in was opened.
    asked, opened = counts.get("quota_check"), counts.get("producer_open", 0)
    return None if asked is None else max(0, asked - opened)


def _evicted(moves: Sequence[Row]) -> list[Document]:
    """Who lost entries to quotas since the broker started, whoever lost last first."""
    found: dict[str, Document] = {}
    for row in moves:
        if row["entries_evicted"]:
            before = found.pop(row["subscription"], None)
            lost = row["entries_evicted"] + (before["entries"] if before else 0)
            found[row["subscription"]] = {"subscription": row["subscription"], "entries": lost, "last_at": row["decided_at"]}
    return list(found.values())[::-1]


def who_lines(document: Document) -> list[str]:
    """The slowest cursor with its figures, who is behind it, and the ages."""
    holders = document["holders"]
    if not holders:
        return []
    slowest, *others = holders
    name = kind_words(slowest["cursor_kind"], slowest["subscription"])
    oldest = "" if slowest["oldest_age_ms"] is None else f"; its oldest message is {duration(slowest['oldest_age_ms'] / 1e3)} old"
    held = f"{entries(slowest['msg_backlog'])}, {slowest['backlog_size']:,} bytes"
    check = f"{time_words(document['holders_as_of'])}{', before it evicted' if document['holders_before_eviction'] else ''}"
    lines = [f"{name} is the slowest cursor at the check of {check}: {held} are behind it{oldest}"]
    names = [f"{kind_words(one['cursor_kind'], one['subscription'])} ({entries(one['msg_backlog'])})" for one in others[:SHOWN]]
    more = f", and {len(others) - SHOWN:,} more" if len(others) > SHOWN else ""
    verb = "is" if len(others) == 1 else "are"
    lines.append(f"next {verb} {', '.join(names)}{more}" if names else "no other durable cursor has a backlog")
    if slowest["cursor_kind"] == COMPACTION:
        lines.append(compaction_words(document["compactions"]))
    lines += _troubles(document, holders if slowest["cursor_kind"] != COMPACTION else others)
    return [*lines, *_age_lines(document["age"])]


def _troubles(document: Document, holders: Sequence[Document]) -> list[str]:
    """How those of Pulsar's own cursors fare of which the log has something to tell."""
    found = ((one, trouble_words(document, one["cursor_kind"], one["subscription"])) for one in holders)
    return [f"{kind_words(one['cursor_kind'], one['subscription'])}: {words}" for one, words in found if words is not None]


def _age_lines(age: Document | None) -> list[str]:
    """Only where the broker's age is another one than the true one, and a quota looks at it."""
    if age is None or (age["limit_s"] or 0) <= 0 or age["believed_s"] is None or age["precise"]:
        return []
    true_s = age["true_ms"] / 1e3
    by = "goes by that"
    if age["believed_s"] == -1:
        sees = "the broker sees no age yet, for the ledger of that message is still open: it counts from when that ledger is closed"
        if age["counts_by"] is not None:
            sees += f", at the latest at {time_words(age['counts_by'])} ({ROLLOVER})"
            by += f": if the message still waits then, it is exceeded by {time_words(age['exceeds_by'])}"
    elif true_s - age["believed_s"] >= 2:
        sees = f"the broker sees {duration(age['believed_s'])}, for it counts from when the ledger of that message was closed"
    else:
        return []
    return [f"the oldest message is {duration(true_s)} old; {sees}. The age quota of {duration(age['limit_s'])} {by}"]


def producer_lines(document: Document) -> list[str]:
    """Since when producers are shut out, how many; nothing where they are not."""
    cut = document["producers_shut_out"]
    if cut is None:
        return []
    closed = f"{cut['closed']:,} {'was' if cut['closed'] == 1 else 'were'} closed"
    refused = "how many were refused since is not in this log" if cut["refused"] is None else f"{cut['refused']:,} were refused since"
    let_in = f", {cut['let_in']:,} {'was' if cut['let_in'] == 1 else 'were'} let in" if cut["let_in"] else ""
    line = f"the {cut['quota_type']} quota ({cut['policy']}) cut producers off at {time_words(cut['since'])}: {closed}, {refused}{let_in}"
    again = again_words(cut)
    return [line] if again is None else [line, again]


def again_words(cut: Mapping[str, Any]) -> str | None:
    """That producers came back, and were cut off again."""
    return None if cut["times"] == 1 else f"it cut producers off {cut['times']:,} times since {time_words(cut['first_since'])}"


def evicted_lines(document: Document) -> list[str]:
    """Who lost how many entries to quotas."""
    return [
        f"{one['subscription']} lost {entries(one['entries'])} to quotas, the last time at {time_words(one['last_at'])}"
        for one in document["evicted"][:SHOWN]
    ]
