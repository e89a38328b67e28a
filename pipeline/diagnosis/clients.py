"""Which clients hold a subscription back: its consumers at an instant by name and address, the worst one first.

Events alone have them. Who holds how much is in a log from version 1.2 on (`consumer_state`).
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from pipeline.diagnosis.counts import counted
from pipeline.diagnosis.instants import time_words
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries
from schemas.render.ddl import quoted

Row = Mapping[str, Any]
Document = dict[str, Any]
#: So many clients are named in text; the document has all.
SHOWN = 3
#: Who has less than this part of the messages of another one has nothing to do.
_NOTHING = 0.05
_FIGURES = ("permits", "unacked_msgs", "redelivered_msgs")
#: Causes that lie with consumers → who is the worst of them: the figure, and whether much of it is bad. Who has none comes last.
_WORST = {
    **dict.fromkeys(("channel", "in_flight", "keys_blocked", "no_permits", "unacked_limit"), ("unacked_msgs", True)),
    "no_flow": ("permits", False),
    "redelivery": ("redelivered_msgs", True),
}


def lies_with_clients(document: Document) -> str | None:
    """The cause for which clients are named: that at the end before the main one; None where neither lies with consumers."""
    last = document["last_cause"]
    causes = ([] if last is None else [last["cause"]]) + [document["cause"]]
    return next((cause for cause in causes if cause in _WORST), None)


def client_rows(look: Queries, document: Document) -> tuple[list[Row], list[Row]]:
    """The newest event of each type of each consumer of the subscription up to the end, and the newest `conn_open` of their connections."""
    of_epoch = f"broker = {quoted(document['broker'])} AND epoch = {document['epoch']}"
    here = f"{of_epoch} AND topic = {quoted(document['topic'])} AND sub = {quoted(document['subscription'])}"
    types = ("consumer_open", "consumer_close", "consumer_state", "consumer_blocked")
    events = look.rows(
        "SELECT * FROM (SELECT type, seq, as_of_seq, timestamp_micros(ts) AS at, conn, consumer, consumer_name, permits, unacked_msgs,"
        " redelivered_msgs, blocked, `on`, row_number() OVER (PARTITION BY conn, consumer, type ORDER BY seq DESC) AS age"
        f" FROM dispatch_events WHERE {here} AND type IN ({', '.join(map(quoted, types))}) AND consumer IS NOT NULL AND conn IS NOT NULL"
        f" AND timestamp_micros(ts) <= {instant(document['to'])}) WHERE age = 1"
    )
    connections = sorted({row["conn"] for row in events})
    if not connections:
        return [], []
    opened = look.rows(
        "SELECT conn, remote FROM (SELECT conn, remote, row_number() OVER (PARTITION BY conn ORDER BY seq DESC) AS age"
        f" FROM dispatch_events WHERE {of_epoch} AND type = 'conn_open' AND conn IN ({', '.join(map(str, connections))})"
        f" AND timestamp_micros(ts) <= {instant(document['to'])}) WHERE age = 1"
    )
    return list(events), list(opened)


def clients(events: Sequence[Row], opened: Sequence[Row], cause: str) -> list[Document]:
    """Consumers that are connected at the end: who they are, and what they hold as far as the log has it. The rows are of `client_rows`."""
    remotes = {row["conn"]: row["remote"] for row in opened}
    by_consumer: dict[tuple[int, int], dict[str, Row]] = {}
    for row in events:
        by_consumer.setdefault((row["conn"], row["consumer"]), {})[row["type"]] = row
    found = [_client(of_types, remotes.get(conn)) for (conn, _), of_types in by_consumer.items() if _is_connected(of_types)]
    return sorted(found, key=lambda one: (*_badness(one, cause), one["conn"], one["consumer"]))


def _badness(one: Document, cause: str) -> tuple[bool, int]:
    figure, is_much_bad = _WORST[cause]
    value = one[figure]
    return value is None, 0 if value is None else -value if is_much_bad else value


def _about(row: Row) -> int:
    """The `seq` up to which the event tells of its consumer: a state is of when the broker was asked, and may be written later."""
    return int(row["seq"] if row["as_of_seq"] is None else row["as_of_seq"])


def _is_connected(of_types: Mapping[str, Row]) -> bool:
    """What the broker's threads write of a consumer's cap after it has left is no sign of it."""
    signs = [_about(row) for kind, row in of_types.items() if kind in ("consumer_open", "consumer_state")]
    closed = of_types.get("consumer_close")
    return closed is None or _about(closed) < max(signs, default=0)


def _client(of_types: Mapping[str, Row], remote: str | None) -> Document:
    """Of a consumer that came again under its ids: what is of this life."""
    opened = of_types.get("consumer_open")
    since = 0 if opened is None else int(opened["seq"])
    lately = {kind: row for kind, row in of_types.items() if _about(row) >= since}
    state, cap = lately.get("consumer_state"), lately.get("consumer_blocked")
    named = [row["consumer_name"] for row in (state, opened) if row is not None and row["consumer_name"] is not None]
    some = next(iter(of_types.values()))
    return {
        "consumer_name": named[0] if named else None,
        "remote": remote,
        "conn": some["conn"],
        "consumer": some["consumer"],
        "connected_since": None if opened is None else opened["at"],
        **{name: None if state is None else state[name] for name in _FIGURES},
        "capped": _is_capped(state, cap),
        "as_of": None if state is None else state["at"],
    }


def _is_capped(state: Row | None, cap: Row | None) -> bool | None:
    """By the newer one of the two; null: neither tells."""
    told = [(_about(row), row[name]) for row, name in ((state, "blocked"), (cap, "on")) if row is not None and row[name] is not None]
    return bool(max(told)[1]) if told else None


def works_alone(found: Collection[Document] | None) -> Document | None:
    """The consumer that has nearly all of the messages, while another one has room and nothing to do: all that waits has its keys, or its
    connection takes nothing. None: there is no such one, or the log does not tell.
    """
    known = [one for one in found or () if one["unacked_msgs"] is not None and one["permits"] is not None]
    if len(known) < 2 or len(known) < len(found or ()):
        return None
    most = max(known, key=lambda one: int(one["unacked_msgs"]))
    others = [one for one in known if one is not most]
    few = _NOTHING * most["unacked_msgs"]
    is_alone = sum(one["unacked_msgs"] for one in others) <= few
    return most if is_alone and few >= 1 and any(one["permits"] > 0 and not one["capped"] for one in others) else None


def client_lines(found: Collection[Document] | None) -> list[str]:
    """The worst ones; nothing where clients have nothing to do with it."""
    if not found:
        return []
    more = len(found) - SHOWN
    lines = [_line(one) for one in list(found)[:SHOWN]]
    return [*lines, f"and {counted(more, 'consumer')} more"] if more > 0 else lines


def _line(one: Document) -> str:
    name = one["consumer_name"] or f"consumer {one['consumer']}"
    place = f"at {one['remote']}" if one["remote"] else f"on connection {one['conn']}"
    since = f", since {time_words(one['connected_since'])}" if one["connected_since"] else ""
    return f"{name} {place}{since}: {_holds(one, one['as_of'])}"


def _holds(one: Document, as_of: datetime | None) -> str:
    cap = ", has reached its cap" if one["capped"] else ""
    if as_of is None:
        return f"the log does not say what it holds{cap}"
    again = f", {one['redelivered_msgs']:,} delivered again" if one["redelivered_msgs"] else ""
    holds = f"{counted(one['unacked_msgs'], 'message')} unacknowledged, {counted(one['permits'], 'permit')}"
    return f"{holds}{again}{cap} (at {time_words(as_of)})"
