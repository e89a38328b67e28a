"""What an answer about a subscription needs besides its own rows: whose cursor it is, its topic's quotas and cursors, the rate it needs,
its clients.
"""

from pipeline.diagnosis.by_cause import ONE_ACTIVE, takes_nothing
from pipeline.diagnosis.came_back import came_back
from pipeline.diagnosis.clients import client_rows, clients, lies_with_clients, works_alone
from pipeline.diagnosis.evidence import Row
from pipeline.diagnosis.own_cursors import kind_of
from pipeline.diagnosis.quota_fillers import who
from pipeline.diagnosis.rates import needed
from pipeline.diagnosis.recovery import foreseen, with_unacknowledged
from pipeline.diagnosis.silence import is_longest_silence
from pipeline.diagnosis.topic_rows import topic_rows
from pipeline.diagnosis.verdict import Document, is_same_cause
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted


def context_of(look: Queries, document: Document) -> Document:
    """More keys of the document, as of its end."""
    rows = topic_rows(look, document["broker"], document["epoch"], document["topic"], document["to"])
    cursor = next((row for row in rows.cursors if row["subscription"] == document["subscription"]), None) or _gone(look, document)
    found: Document = {
        "cursor_kind": kind_of(document["subscription"], cursor),
        "sub_type": document["sub_type"] or _type_of_dispatcher(look, document),
        "log_version": rows.log_version,
        "lost_entries": None if cursor is None else cursor["evicted_entries"] + cursor["expired_entries"],
        **_needed(look, document),
        "came_back": came_back(look, document),
        "clients": _clients(look, document),
        **who(rows),
    }
    found["more_consumers"] = _more_consumers(document, found["clients"])
    is_silent = found["sub_type"] in ONE_ACTIVE and takes_nothing(document)
    found["longest_silence"] = is_longest_silence(look, document) if is_silent else None
    return {**found, "catch_up": with_unacknowledged(foreseen({**document, **found}), cursor)}


def _needed(look: Queries, document: Document) -> Document:
    """What the limiter of the main cause has to give, and that of the last one: it may be another."""
    main, last = needed(look, document), document["last_cause"]
    if last is None:
        return {"needed": main}
    of_last = main if is_same_cause(last, document) else needed(look, {**document, **last})
    return {"needed": main, "last_cause": {**last, "needed": of_last}}


def _clients(look: Queries, document: Document) -> list[Document] | None:
    """None where the cause does not lie with consumers."""
    cause = lies_with_clients(document)
    return None if cause is None else clients(*client_rows(look, document), cause)


def _more_consumers(document: Document, connected: list[Document] | None) -> Document | None:
    """As the view has it, which knows no consumer by itself. Null, too, where one has come since nobody was connected: whether that is
    enough, the next minutes show.
    """
    more: Document | None = document["more_consumers"]
    last = document["last_cause"]
    if more is None or more["answer"] not in ("yes", "partly"):
        return more
    if more["why"] == "no_consumer":
        return more if last is None or last["cause"] == "no_consumer" else None
    return {**more, "answer": "no", "why": "one_has_all"} if works_alone(connected) else more


def _gone(look: Queries, document: Document) -> Row | None:
    """A cursor that the topic's last check does not have, as the last check before had it: its reader is gone, or it was deleted."""
    where = " AND ".join(f"{name} = {quoted(document[name])}" for name in ("broker", "topic", "subscription"))
    rows = look.rows(
        f"SELECT * FROM subscription_backlog WHERE {where} AND epoch = {document['epoch']} AND check_time <= {instant(document['to'])}"
        " ORDER BY check_number DESC LIMIT 1"
    )
    return rows[0] if rows else None


def _type_of_dispatcher(look: Queries, document: Document) -> str | None:
    """As its newest dispatcher has it that was opened before the end, whether that did anything in the stretch or not."""
    where = " AND ".join(f"{name} = {quoted(document[name])}" for name in ("broker", "topic", "subscription"))
    rows = look.rows(
        f"SELECT sub_type FROM subscription_throttle WHERE {where} AND epoch = {document['epoch']} AND sub_type IS NOT NULL"
        f" AND window_start < {instant(document['to'])} ORDER BY clock_segment DESC, window_start DESC LIMIT 1"
    )
    return rows[0]["sub_type"] if rows else None
