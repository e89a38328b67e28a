"""`/v1/scale`: how many consumers would help a subscription now, for autoscalers. Pure but for the rows that it asks for."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.clients import client_rows, clients
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.diagnosis.own_cursors import OWN, READER
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.times import USUAL_WINDOW, span_of
from pipeline.visible import document_json
from schemas.render.ddl import quoted

Document = dict[str, Any]
#: In so long the consumers that are asked for clear the backlog, at the pace of those that are there.
CLEARED_IN_S = 300
#: Without these parts of the log nobody knows which consumers are connected.
_CONSUMERS_LACK = frozenset({"events_lost", "beginning_not_seen", "points_missing"})


def scale_document(room: ReadingRoom, asked: Mapping[str, str]) -> str:
    """The document of `scale` about `topic` and `subscription`; `broker` as for `explain`.

    Raises BadConfig where one is not named, NoAnswer where there is no such subscription, and where nobody knows how it stands: an
    autoscaler that gets no figure leaves all as it is.
    """
    for name in ("topic", "subscription"):
        if not asked.get(name):
            raise BadConfig(f"{name}: name one")
    about = answer(room, asked["topic"], asked["subscription"], asked.get("broker"), None, span_of("window", USUAL_WINDOW))
    return document_json(scale(about, _connected(room, about)))


def _connected(room: ReadingRoom, about: Document) -> int | None:
    """Consumers that are connected; None where the log, or what is kept of its events, does not go back to the broker's start."""
    begun = room.rows(f"SELECT started_epoch FROM brokers WHERE broker = {quoted(about['broker'])}")
    if _CONSUMERS_LACK.intersection(about["missing"]) or [row["started_epoch"] for row in begun] != [about["epoch"]]:
        return None
    return len(clients(*client_rows(room, about), "no_permits"))


def scale(about: Document, connected: int | None) -> Document:
    """From the document of `explain` and the number of connected consumers (None: not known) to that of `/v1/scale`.

    Raises NoAnswer for a status or a cause that is not known. `consumers_wanted` is a total, so that two questions about one state of the
    log ask for the same, however late the log is; it is at most twice the consumers that are there.
    """
    if about["status"] == "unknown" or about["cause"] == "unknown":
        why_not = about["unknown_reason"] or "the log does not have the cause"
        raise NoAnswer(f"how it stands is not known, because {why_not}: no figure to scale by")
    more, why = _more(about, connected)
    counted = {} if connected is None else {"consumers": connected, "consumers_wanted": connected + more}
    return {
        "topic": about["topic"], "subscription": about["subscription"], "as_of": about["as_of"], "status": about["status"],
        "more_consumers": more, "why": why, **counted,
    }  # fmt: skip


def _more(about: Document, connected: int | None) -> tuple[int, str]:
    """Consumers that would help, beyond those that are there, and the reason."""
    if about["cursor_kind"] in (*OWN, READER):
        return 0, about["status"]
    if connected == 0 and about["backlog"]:
        return 1, "no_consumer"  # since the last one left, whatever held the subscription before
    judged = about["more_consumers"]
    if not about["behind"] or judged is None:
        return 0, about["status"]
    if judged["answer"] is None:
        raise NoAnswer("a quota shuts its producers out, so nobody knows how many consumers it needs when they are back")
    if judged["answer"] == "no":
        return 0, judged["why"]
    if not connected:
        return 1, judged["why"]
    each_per_s = (about["pace_per_s"] or 0) / connected
    if not each_per_s:
        return 1, judged["why"]
    rates = about["catch_up"] or {"publish_rate": None, "most_entries_per_s": None}
    wanted = ceil(((rates["publish_rate"] or 0) + about["backlog"] / CLEARED_IN_S) / each_per_s)
    bounded = min(max(wanted, connected + 1), 2 * connected)
    limit_per_s = rates["most_entries_per_s"]
    if limit_per_s is not None and ceil(limit_per_s / each_per_s) < bounded:
        return max(0, ceil(limit_per_s / each_per_s) - connected), "throttled"
    return bounded - connected, judged["why"]
