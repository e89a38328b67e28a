"""When it is current, so that no instant of an answer lies before the question, and no sentence of it says another thing. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pipeline.diagnosis.counts import entries
from pipeline.diagnosis.delivered import NOTHING_GOES
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.instants import foreseen_at, foreseen_words, is_soon
from pipeline.diagnosis.own_cursors import OWN, READER
from pipeline.diagnosis.verdict import Document, is_unproven

#: As the view `why` has it: if a smaller share of the entries that come stays, the backlog does not grow.
_GROWS_FROM = 0.1
_INSTANTS = ("current_at", "current_from", "current_to")
#: Of causes under which nothing is delivered: no pace of the past goes on before this.
_NOT_BEFORE = {
    "no_consumer": "a consumer connects",
    "no_flow": "its consumers ask for messages",
    "transaction": "the transaction ends",
    "stuck": "it has a new dispatcher",
    "channel": "its connections take messages again",
}


def foreseen(document: Document) -> Document | None:
    """Key `catch_up` as of the end of the answer. The forecast is of the last check, which may be a minute before: an instant that has
    passed since is now, if nothing waits by now; else it was missed, and is null. All are null where nobody knows what there is by now.
    """
    rates, now = document["catch_up"], document["to"]
    if rates is None:
        return None
    if is_unproven(document):
        return {**rates, **dict.fromkeys((*_INSTANTS, "soonest_at"))}
    waits = document["waiting"] > 0
    if not document["behind"] and not waits:
        rates = {**rates, **dict.fromkeys(_INSTANTS, now)}
    elif _stands_still(document) or (waits and rates["sought_entries"]):
        rates = {**rates, **dict.fromkeys(_INSTANTS)}
    rates = _within_limits(rates)
    if rates["current_at"] is not None and rates["current_at"] > now:
        rates = {**rates, "current_from": _not_before(rates["current_from"], now, now)}
    passed = None if waits else now
    return {**rates, **{name: _not_before(rates[name], now, passed) for name in (*_INSTANTS, "soonest_at")}}


def _within_limits(rates: Document) -> Document:
    """No part of the band lies before the limits allow it. Where the pace is quicker than they seem to allow, it is the better witness:
    what others leave of a shared limit changes.
    """
    current, soonest = rates["current_at"], rates["soonest_at"]
    if current is None or soonest is None or rates["current_from"] is None:
        return rates
    if soonest > current:
        return {**rates, "soonest_at": None}
    return {**rates, "current_from": max(rates["current_from"], soonest)}


def with_unacknowledged(rates: Document | None, cursor: Mapping[str, Any] | None) -> Document | None:
    """Key `catch_up` with the entries that were delivered and not acknowledged at its check; null: not known."""
    if rates is None:
        return None
    is_of_check = cursor is not None and cursor["check_time"] == rates["as_of"]
    return {**rates, "unacknowledged_entries": cursor["in_flight_entries"] if cursor is not None and is_of_check else None}


def _held(document: Document) -> int:
    """Entries that are held for a later delivery: those that do not wait, less those that the last check counted as delivered. Where
    consumers may have taken them since that check, or none is known to be held, 0.
    """
    last, delivered = document["last_cause"], document["catch_up"].get("unacknowledged_entries")
    now = document["cause"] if last is None else last["cause"]
    is_held = now == "delayed" or (now in NOTHING_GOES and "delayed" in {one["cause"] for one in document["causes"]})
    return 0 if delivered is None or not is_held else max(0, int(document["backlog"] - document["waiting"] - delivered))


def _is_held(document: Document) -> bool:
    """Whether most of the backlog is held: no pace of consumers has a part in when that goes."""
    return 2 * _held(document) > document["backlog"]


def _not_before(at: datetime | None, now: datetime, passed: datetime | None) -> datetime | None:
    return at if at is None or at >= now else passed


def _stands_still(document: Document) -> bool:
    """Whether nothing is delivered by now, though something waits. Nobody delivers to Pulsar's own cursors."""
    last = document["last_cause"]
    return last is not None and last["cause"] in _NOT_BEFORE and document["waiting"] > 0 and document["cursor_kind"] not in OWN


def _waits_for_acknowledgements(document: Document) -> bool:
    """Whether it is behind by entries that are delivered."""
    last = document["last_cause"]
    is_delivered = last is not None and (last["cause"] == "in_flight" or document["waiting"] == 0)
    return document["behind"] and is_delivered and not _is_held(document)


def pace_line(document: Document) -> str:
    """What comes and goes, and whether it gets there by acknowledgements. What a quota takes is no progress."""
    rates = document["catch_up"]
    come, acked, removed = rates["publish_rate"] or 0, rates["ack_rate"] or 0, rates["removed_rate"] or 0
    how = "expire or are evicted" if rates["complete"] else "go, and the log does not tell how"
    gone = f", {removed:,.1f}/s {how}" if removed else ""
    pace = f"{come:,.1f} entries/s come, {acked:,.1f}/s are acknowledged{gone} (in the {duration(rates['over_s'])} before the last check)"
    if is_unproven(document):
        return pace
    if document["backlog"] == 0:
        return f"{pace}: it has no backlog"
    if rates["sought_entries"]:
        return f"{pace}: {_sought_words(rates, has_fallen=acked + removed > come)}"
    if _is_held(document):
        return f"{pace}: most of its backlog is held for a later delivery"
    if rates["shut_out"]:
        return f"{pace}: a quota shut producers out in the last minutes, and nobody knows how many come without that"
    if rates["caught_up_in_s"] is None:
        return pace + _growth(document)
    if rates["caught_up_in_s"] == 0:
        return f"{pace}: it had no backlog then"
    if removed and not rates["complete"]:
        return f"{pace}: its backlog became less"
    if removed and acked <= come:
        return f"{pace}: it becomes less only because entries expire or are evicted, which its consumers never get"
    if _stands_still(document):
        return f"{pace}: nothing is delivered since"
    if _did_not_go_on(document):
        return f"{pace}: its backlog became less, and that did not go on" if document["behind"] else pace
    if document["behind"] and rates["current_at"] is None:
        return f"{pace}: its backlog became less"
    if not removed:
        return f"{pace}: caught up in {duration(_left_s(document, rates['caught_up_in_s']))} at this rate"
    backlog = rates["caught_up_in_s"] * -rates["growth_rate"]
    return f"{pace}: by acknowledgements alone caught up in {duration(_left_s(document, backlog / (acked - come)))} at this rate"


def _sought_words(rates: Document, *, has_fallen: bool) -> str:
    """A seek is no part of what comes and goes, so nothing else is said of that time."""
    moved = rates["sought_entries"]
    what = f"a seek brought {entries(moved)} back" if moved > 0 else f"a seek passed over {entries(-moved)}"
    rest = "and without that its backlog became less" if has_fallen else "but without that its backlog did not become less"
    return f"{what} in that time, {rest}"


def _left_s(document: Document, seconds: float) -> float:
    """Of seconds that count from the check: those that are left at the instant of the answer."""
    return seconds - float((document["to"] - document["catch_up"]["as_of"]).total_seconds())


def _did_not_go_on(document: Document) -> bool:
    """Whether the backlog of the last check would be gone by now at its pace; asked where there is one by now."""
    rates = document["catch_up"]
    caught_up_in_s = rates["caught_up_in_s"]
    return caught_up_in_s is not None and rates["as_of"] + timedelta(seconds=caught_up_in_s) <= document["to"]


def _growth(document: Document) -> str:
    """What a backlog that does not become less means; of a subscription that is well, where more than a tenth of what comes stays."""
    rates = document["catch_up"]
    if document["behind"]:
        is_foreseen = rates["current_at"] is not None and not _waits_for_acknowledgements(document)
        return ": its backlog did not become less then" if is_foreseen else ": it does not catch up at this rate"
    went_on = document["backlog"] >= rates["backlog_after"]
    grows = went_on and rates["growth_rate"] > _GROWS_FROM * (rates["publish_rate"] or 0)
    return ": more come than go; if that goes on, it is behind" if grows else ""


def lost_before_line(document: Document) -> str | None:
    """That a quota takes its entries before it is caught up; null where that is not foreseen."""
    rates = document["catch_up"]
    for quota in document["quotas"]:
        losers = (quota["loses_first"], *(quota["others_losing"] or ()))
        if document["subscription"] not in losers or not (quota["exceeded"] or quota["breach_at"] is not None):
            continue
        current = None if rates is None else rates["current_at"]
        if quota["exceeded"] or current is None or quota["breach_at"] < current:
            when = _evicts_words(quota, document["to"])
            return f"the {quota['quota_type']} quota evicts {when}: {document['subscription']} loses entries before it is current"
    return None


def _evicts_words(quota: Document, now: datetime) -> str:
    if quota["exceeded"]:
        return "at each check that exceeds it"
    return foreseen_at(quota["breach_at"], now) if quota["breach_at"] > now else "at its next check, which is due"


def current_line(document: Document) -> str:
    """When it is current at the pace of the last minutes, and how soon the limits in force allow that."""
    # Limits have no part in entries that are delivered.
    limits = _limits_words(document, document["to"]) if document["waiting"] or not document["limits"] else ""
    return _current_words(document) + limits


def _current_words(document: Document) -> str:
    rates, now, last = document["catch_up"], document["to"], document["last_cause"]
    if _stands_still(document):
        waits_for = _NOT_BEFORE[last["cause"]].replace("consumer", "reader" if document["cursor_kind"] == READER else "consumer")
        return f"not before {waits_for}"
    if _waits_for_acknowledgements(document):
        return "not before acknowledgements come for what is delivered"
    if document["waiting"] == 0:
        return _nothing_waits_words(document)
    if rates["current_at"] is None and not document["behind"]:
        return "what waits goes as it comes"
    if rates["sought_entries"]:
        return "not known: a seek moved its entries, and no check since then has a pace"
    if rates["current_at"] is None and rates["shut_out"]:
        return "not known: a quota shut producers out in the last minutes, and when they are back more comes"
    if rates["current_at"] is None:
        return "not known: the last check's pace did not go on" if _did_not_go_on(document) else "not at the pace of the last minutes"
    first, latest = (
        "never" if rates[name] is None else foreseen_words(rates[name], now, rates["current_at"]) for name in ("current_from", "current_to")
    )
    # One step between checks has no band.
    return foreseen_at(rates["current_at"], now) + ("" if first == latest else f" (from {first} to {latest})")


def _nothing_waits_words(document: Document) -> str:
    """That nothing waits is no all-clear over entries that are delivered and not acknowledged."""
    held, at_check = _held(document), document["catch_up"].get("unacknowledged_entries")
    if held and not at_check:
        return "now: nothing is due, its backlog is held for a later delivery"
    # Where some are held, the check alone has the number of the others.
    count, verb, when = (at_check, ("was", "were"), " at the last check") if held else (document["backlog"], ("is", "are"), "")
    if not count:
        return "now: all that is due is delivered"
    return f"now: all that is due is delivered, and {entries(count)} {verb[count != 1]} not acknowledged{when}"


def _limits_words(document: Document, now: datetime) -> str:
    """How fast limits let it go. Of one that is well it is no reproach that more came than they allow."""
    rates, behind = document["catch_up"], document["behind"]
    if rates["allowed"] is None:
        unknown = "; how soon its limits allow that is not known" if behind else ""
        return unknown if document["limits"] else "; no limit is in the way"
    most = f"; limits allow it {rates['most_entries_per_s']:,.1f} entries/s at most"
    if rates["allowed"] == "no":
        return f"{most}: less than came in the last minutes" if behind else most
    soonest = rates["soonest_at"]
    if soonest is None or soonest <= now:
        return most
    return f"{most}: not {'before' if is_soon(soonest, now) else 'for'} {foreseen_words(soonest, now, soonest)}"
