"""A verdict for people: one sentence with its figures, a chart in text, and the lines around them. Pure."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import groupby
from math import ceil

from pipeline.diagnosis.by_cause import ONE_ACTIVE, cap_words, hang_words, nobody_words, takes_nothing
from pipeline.diagnosis.clients import client_lines
from pipeline.diagnosis.commands import LOSES_DATA
from pipeline.diagnosis.counts import entries, percent
from pipeline.diagnosis.duration import duration
from pipeline.diagnosis.instants import as_of_line, foreseen_at, foreseen_words, time_words
from pipeline.diagnosis.margins import margin_line
from pipeline.diagnosis.own_cursors import OWN, READER, kind_words, trouble_words
from pipeline.diagnosis.policies import NOWHERE
from pipeline.diagnosis.quota_fillers import evicted_lines, producer_lines, who_lines
from pipeline.diagnosis.quota_outlook import NO_AGE, NOT_IN_THIS_LOG, ONE_CHECK, PRODUCERS_OUT
from pipeline.diagnosis.raise_limit import rate_words
from pipeline.diagnosis.recovery import current_line, lost_before_line, pace_line
from pipeline.diagnosis.verdict import Account, Document, is_same_cause, is_unproven

#: Why something is not known, after "is not known:".
REASONS = {
    "events_lost": "events of the log were lost",
    "beginning_not_seen": "the log begins after the subscription",
    "not_in_this_log": "this log lacks such events",
    "broker_stopped": "its broker stopped",
    "not_checked": "its backlog is gone, and no check tells whether its topic was unloaded, or itself deleted",
    "not_there": "neither a window nor a quota check has it then: its topic was unloaded, or it was deleted",
}


def _full(one: Document) -> str:
    """Who has no permits left."""
    if one.get("cursor_kind") == READER:
        return "a reader that is too slow"
    if one.get("sub_type") in ONE_ACTIVE:
        return f"its one active consumer, which {hang_words(one) if takes_nothing(one) else 'is too slow'}"
    return "consumers that are too slow or too few"


def _stands_still(one: Document) -> str:
    if one.get("cap") is None:
        return "a dispatcher that stands still without a reason: a fault of the broker"
    return "a cap of unacknowledged messages that the broker left on"


#: Words for a cause, after "is charged to".
CAUSES: dict[str, Callable[[Document], str]] = {
    "no_consumer": nobody_words,
    "throttled": lambda one: f"the {one['level']}'s limiter of {'messages' if one['dimension'] == 'msg' else 'bytes'}",
    "channel": lambda _: "connections of its consumers that take nothing",
    "unacked_limit": lambda one: cap_words(one.get("cap")),
    "no_permits": _full,
    "no_flow": lambda _: "consumers that hold nothing and ask for nothing",
    "keys_blocked": lambda _: "keys of a consumer that is full",
    "transaction": lambda _: "an open transaction: nothing behind it is delivered",
    "redelivery": lambda _: "messages that are delivered again and again",
    "in_flight": lambda _: "messages that are delivered and not acknowledged",
    "delayed": lambda _: "messages that are to be delivered later",
    "reading": lambda _: "slow storage",
    "catching_up": lambda _: "nothing: reads and deliveries follow each other",
    "stuck": _stands_still,
    "unknown": lambda one: f"a cause that is not known ({REASONS[one['unknown_reason']]})",
}
MISSING = {
    "events_lost": "events of this broker were lost or rejected",
    "beginning_not_seen": "the beginning of the topic or subscription is not in the log",
    "event_kinds": "events that would show the cause: this log has none of them",
    "who_set_limits": "who set the limits",
    "first_window": "a finished window: its broker has just started. Limits and shares come with it",
    "quota_checks": "quota checks of this topic: no quota and no rate can be shown",
    "points_missing": "points of the collector that this version of Pulsar does not have",
    "broker_stopped": "the log of the broker that has the topic now: this one stopped",
    "not_checked": "a quota check since its backlog is gone: the topic may be unloaded, or the subscription deleted",
    "not_there": "rows of it at this instant: its topic was unloaded, or it was deleted",
}
#: Why nothing is foreseen of a quota, after "is not known:".
_NOT_KNOWN = {
    ONE_CHECK: "one check has no rate yet",
    PRODUCERS_OUT: "a quota shut its producers out in the last minutes",
    NO_AGE: "the oldest message is older than the limit, and the broker counts no age before the ledger of that message is closed",
    NOT_IN_THIS_LOG: "this log lacks what is used of it",
}
_WARNING = "This command loses data:"
_BARS = " ▁▂▃▄▅▆▇█"
#: So many columns has the chart at most.
CHART_COLUMNS = 60


def sentence(document: Document) -> str:
    """The verdict: behind or not, by how much, what holds it, since when."""
    if document["cursor_kind"] in OWN and document["status"] != "unknown":
        return _own_sentence(document)
    name = f"{document['subscription']} of {document['topic']}"
    stretch = duration((document["to"] - document["from"]).total_seconds())
    at = time_words(document["as_of"])
    if is_unproven(document):
        counted = document["backlog"] and document["checked_at"]
        last = f"; its check at {time_words(document['checked_at'])} counted {entries(document['backlog'])}" if counted else ""
        before = f" {_charged(document, stretch, 'was')}." if document["unknown_reason"] == "broker_stopped" and document["share"] else ""
        return f"Whether {name} is behind at {at} is not known: {REASONS[document['unknown_reason']]}{last}.{before}"
    if document["cause"] is None and document["behind"]:
        check = f", as its last quota check at {time_words(document['checked_at'])} counted" if document["checked_at"] else ""
        status = "" if document["status"] == "unknown" else f": {document['status']}"
        return f"{name} is behind by {entries(document['backlog'])} at {at}{check}{status}.{_at_the_end(document)}"
    if document["cause"] is None and document["backlog"]:
        return f"{name} is {document['status']} at {at}: {entries(document['backlog'])}.{_at_the_end(document)}"
    if document["cause"] is None and "first_window" in document["missing"]:
        return f"{name} is {document['status']} at {at}. Its broker has just started."
    if document["cause"] is None:
        return f"{name} is {document['status']} at {at}: it had no backlog in the {stretch} before."
    charged = _charged(document, stretch, "is" if document["behind"] else "was")
    if not document["behind"]:
        return f"{name} is {document['status']} at {at}: {entries(document['backlog'])}. {charged}."
    limit = _limit_words(document)
    since = f"since {time_words(document['since'])} ({duration((document['as_of'] - document['since']).total_seconds())})"
    return f"{name} is behind by {entries(document['backlog'])} at {at}. {charged}{limit}, {since}.{_at_the_end(document)}"


def _charged(document: Document, stretch: str, verb: str) -> str:
    return f"{percent(document['share'])} of its backlog of the last {stretch} {verb} charged to {cause_words(document)}"


def _own_sentence(document: Document) -> str:
    """One of Pulsar's own cursors has no consumer, so its backlog has no cause that a client could mend."""
    name = _capital(kind_words(document["cursor_kind"], document["subscription"]))
    held = next((one for one in document["holders"] if one["subscription"] == document["subscription"]), None)
    status = "behind" if document["behind"] else document["status"]
    if held is None:
        at, behind_it = time_words(document["to"]), _behind_it(document["backlog"])
        return f"{name} of {document['topic']} is {status} at {at}: {behind_it}.{_trouble(document)}"
    at = time_words(document["holders_as_of"])
    oldest = "" if held["oldest_age_ms"] is None else f"; the oldest message is {duration(held['oldest_age_ms'] / 1e3)} old"
    size = f"{entries(held['msg_backlog'])}, {held['backlog_size']:,} bytes"
    return f"{name} of {document['topic']} is {status} at {at}: {size} are behind it{oldest}. No application reads it.{_trouble(document)}"


def _behind_it(backlog: int) -> str:
    return f"{entries(backlog)} {'is' if backlog == 1 else 'are'} behind it" if backlog else "no entry is behind it"


def _trouble(document: Document) -> str:
    words = trouble_words(document, document["cursor_kind"], document["subscription"])
    return "" if words is None else f" {_capital(words)}."


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def cause_words(account: Document) -> str:
    """A cause for people; `label` is its short name."""
    return CAUSES[account["cause"]](account)


def _at_the_end(document: Document) -> str:
    """What holds it now, where the stretch was mostly held by something else: an operator acts on now."""
    last = document["last_cause"]
    if last is None or is_same_cause(last, document):
        return ""
    when = "At the end" if document["as_of"] == document["to"] else f"Since {time_words(last['since'])}"
    return f" {when} it is {cause_words({**document, **last})}."


def _limit_words(document: Document) -> str:
    """The rate of the limiter that holds it, and who set that."""
    for limit in document["limits"]:
        if document["cause"] == "throttled" and (limit["level"], limit["dimension"]) == (document["level"], document["dimension"]):
            # The rate of now is no rate of a time before it.
            now = "now " if limit["applied_since"] > document["since"] else ""
            return f" ({now}{rate_words(limit)}, set by: {limit['set_by']})"
    return ""


def chart(windows: Sequence[Document], start: datetime, end: datetime) -> list[str]:
    """A row per cause, a column per stretch of time: how much of it the cause has. Blank: nothing of it."""
    if not windows:
        return []
    length = windows[0]["window_end"] - windows[0]["window_start"]
    begin = windows[0]["window_start"] - length * ceil((windows[0]["window_start"] - start) / length)  # of the window that has the start
    whole = max(1, ceil((end - begin) / length))
    columns = min(CHART_COLUMNS, whole)
    step = length * whole / columns
    seconds: dict[str, list[float]] = {}
    for window in windows:
        place = min(columns - 1, max(0, int((window["window_start"] - begin) / step)))
        for one in window["causes"]:
            seconds.setdefault(label(one), [0.0] * columns)[place] += one["seconds"]
    rows = sorted(seconds.items(), key=lambda item: (-sum(item[1]), item[0]))
    width = max(len(name) for name, _ in rows)
    bars = [f"{name.ljust(width)}  {''.join(_bar(value / step.total_seconds()) for value in values)}" for name, values in rows]
    return [*bars, f"{' ' * width}  {time_words(start)} to {time_words(end)}, a column is {duration(step.total_seconds())}"]


def _bar(share: float) -> str:
    """Any share above nothing is seen."""
    last = len(_BARS) - 1
    return _BARS[0] if share <= 0 else _BARS[min(last, max(1, round(share * last)))]


def label(account: Document) -> str:
    """`throttled topic msg`."""
    return " ".join(str(account[name]) for name in Account._fields if account[name] is not None)


def limit_line(limit: Document) -> str:
    """A limit in force, and who set it."""
    debt = f"; owes {limit['debt']:,}" if limit["debt"] else ""
    if limit["set_by"] == NOWHERE and limit["disagreement"] not in (None, "none"):
        # As after delete-dynamic-config: the broker keeps the value until it starts again.
        return f"{limit['level']}: {rate_words(limit)}, no place sets it any more, and the broker still applies it{debt}"
    differs = f"; the broker applied something else: {limit['disagreement']}" if limit["disagreement"] not in (None, "none") else ""
    added = " above the publish rate" if limit["relative"] else ""
    return f"{limit['level']}: {rate_words(limit)}{added}, {_setter_words(limit)}{debt}{differs}"


def _setter_words(one: Document) -> str:
    """`set by: topic since …`; a place that is not known, or none, has no time."""
    since = "" if one["set_since"] is None else f" since {time_words(one['set_since'])}"
    return f"set by: {one['set_by']}{since}"


def precedence_lines(policies: Sequence[Document]) -> list[str]:
    """A line for each limit that several places set: whose values rule, and whose are shadowed."""
    lines = []
    for kind, several in groupby(policies, key=lambda one: one["limit_kind"]):
        strongest, *shadowed = (f"{one['set_by']} ({policy_words(one)})" for one in several)
        if shadowed:
            lines.append(f"{kind}: {strongest} rules over {', '.join(shadowed)}")
    return lines


def policy_words(policy: Document) -> str:
    """The values that a place sets: `500 messages and 1,000 bytes per 1 s`, `3,600 s, producer_exception`, `no limit`."""
    if policy["quota_policy"] is not None:
        unit, least = ("bytes", 0) if policy["limit_kind"] == "size_quota" else ("s", 1)
        return f"{policy['quota_limit']:,} {unit}, {policy['quota_policy']}" if policy["quota_limit"] >= least else "no limit"
    rates = ((policy["msg_rate"], "messages"), (policy["byte_rate"], "bytes"))
    limited = [f"{rate:,} {unit}" for rate, unit in rates if rate is not None and rate > 0]
    added = " above the publish rate" if policy["relative"] else ""
    return f"{' and '.join(limited)} per {policy['period_s']:g} s{added}" if limited else "no limit"


def quota_line(quota: Document, now: datetime) -> str:
    """What a quota does next, as of the answer's instant, and who loses."""
    used = "" if quota["share_of_limit"] is None else f", {percent(quota['share_of_limit'])} used"
    head = f"{quota['quota_type']} quota{used}, {quota['policy']}"
    if quota["exceeded"]:
        when = "exceeded now" if quota["as_of"] >= now else f"exceeded at the check of {time_words(quota['as_of'])}"
    elif quota["not_known"] is not None:
        when = f"when it is exceeded is not known: {_NOT_KNOWN[quota['not_known']]}"
    elif quota["breach_at"] is None:
        when = f"no breach in sight{': no producer is connected' if quota['producers'] == 0 and quota['quota_type'] == 'size' else ''}"
    else:
        when = _breach_words(quota, now)
    losers = [name for name in (quota["loses_first"], *(quota["others_losing"] or ())) if name is not None]
    is_near = quota["exceeded"] or quota["breach_at"] is not None
    loses = f"; then {', '.join(losers)} {'loses' if len(losers) == 1 else 'lose'} messages" if is_near and losers else ""
    is_cut = is_near and quota["producers"] and quota["on_breach"] == "disconnect_producers"
    cut = f"; then {quota['producers']:,} {'producer is' if quota['producers'] == 1 else 'producers are'} cut off" if is_cut else ""
    return f"{head}, {_setter_words(quota)}: {when}{loses}{cut}"


def _breach_words(quota: Document, now: datetime) -> str:
    """When it is exceeded at the pace of the last minutes, and at the earliest. The forecast is of the last check: since then its time may
    have come.
    """
    breach_at, earliest = quota["breach_at"], quota["breach_from"]
    if breach_at <= now:
        return f"breach due at the check of {time_words(breach_at)}, which is not known yet"
    # One step between checks has no band.
    has_band = earliest is not None and now <= earliest != breach_at
    least = f" (not before {foreseen_words(earliest, now, breach_at)})" if has_band else ""
    return f"breach {foreseen_at(breach_at, now)}{least}"


def consumers_line(more: Document) -> str:
    """Whether more consumers would help, and how far."""
    least = [f"{more[name]:,.0f} {unit}/s" for name, unit in (("most_msgs_per_s", "messages"), ("most_bytes_per_s", "bytes")) if more[name]]
    bound = f"; limits allow {' and '.join(least)} at most" if least else ""
    answer = "not known: a quota shuts its producers out" if more["answer"] is None else f"{more['answer']} ({more['why']})"
    return f"{answer}{bound}"


def text_lines(document: Document) -> Iterable[str]:
    """The whole answer."""
    yield document["verdict"]
    yield ""
    if document["windows"]:
        yield from chart(document["windows"], document["from"], document["to"])
        yield ""
    yield from section("as of", [as_of_line(document)])
    yield from section("limits", [limit_line(one) for one in document["limits"]] or [_no_limit(document)])
    yield from section("precedence", precedence_lines(document["policies"]))
    yield from section("next limit", [margin_line(one) for one in document["uncovers"]])
    yield from section("quotas", [quota_line(one, document["to"]) for one in document["quotas"]] or ["none that is known"])
    if document["quotas"]:
        yield from section("fills it", who_lines(document))
        yield from section("producers", producer_lines(document))
    yield from section("lost", evicted_lines(document))
    if document["catch_up"] is not None:
        lost = lost_before_line(document)
        current = f"not known: {REASONS[document['unknown_reason']]}" if is_unproven(document) else current_line(document)
        yield from section("pace", [pace_line(document)])
        yield from section("current", [current, *([] if lost is None else [lost])])
    if document["more_consumers"] is not None:
        yield from section("more consumers", [consumers_line(document["more_consumers"])])
    if document["shared_with"]:
        shares = (f"{percent(one['share'] or 0)} {one['subscription']} of {one['topic']}" for one in document["shared_with"][:3])
        yield from section("shared with", list(shares))
    yield from section("clients", client_lines(document["clients"]))
    for step in document["advice"]:
        yield from step_lines(step)
    yield from section("how sure", [document["confidence"]])
    if document["missing"]:
        yield from section("missing", [MISSING[code] for code in document["missing"]])


def _no_limit(document: Document) -> str:
    """Limiters are in rows of windows: one that is newer than the last window is not known."""
    last = document["last_cause"]
    is_newer = last is not None and last["cause"] == "throttled"
    return "none that is known" if is_newer or "first_window" in document["missing"] else "none"


def step_lines(step: Document) -> Iterable[str]:
    """What to do, its command, and a warning where that loses data."""
    warning = [_WARNING] if step["effect"] == LOSES_DATA else []
    yield from section("do", [step["do"], *warning, *([f"  {step['command']}"] if step["command"] else [])])


def section(name: str, lines: Sequence[str]) -> Iterable[str]:
    """Lines under a name, which stands before the first one."""
    for number, line in enumerate(lines):
        yield f"{'' if number else name:<15} {line}"
