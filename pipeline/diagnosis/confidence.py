"""How sure an answer is, and what the log or the tables lack for it: one rule, from the evidence alone. Pure.

What counts, in this order:

1. Is the log whole? Events that were lost or rejected in the stretch, or since what proves the status, make no answer sure.
2. Was the beginning seen? Else a backlog that the log does not show may be there.
3. Are the kinds of events there that show the cause? A log of version 1.0 lacks deliveries.
4. How much of the backlog has the main cause, and how much has none that is known? These are shares of entries × time.
5. Is it long enough? A backlog of less than two seconds in the whole stretch is nothing to judge a subscription by that is behind.
6. Do two signs agree? An answer that is behind is sure only if what was delivered agrees with the cause (delivered.py), and if the main
   cause of the stretch is that of its last window, too: the status is that of the end. Where no window has the backlog yet, a change alone
   tells its cause: that is one sign.

`high`: all of it. `low`: the status or the main cause is unknown, most of the backlog has no main cause, or it is too short. `medium`:
between.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.diagnosis.evidence import Evidence, Row
from pipeline.diagnosis.policies import NOT_IN_THIS_LOG

#: From these shares of entries × time on a main cause is believed.
HIGH_SHARE, LOW_SHARE = 0.5, 0.34
#: At most so much without a known cause: `high`; more than that: `low`.
FEW_UNKNOWN, MANY_UNKNOWN = 0.01, 0.2
#: A subscription that is behind had a backlog for at least so long, or nobody can be sure.
SHORT_S = 2.0
#: What of `missing` makes an answer less than sure.
_LESS_SURE = ("events_lost", "beginning_not_seen", "points_missing", "not_there", "first_window")


def missing(evidence: Evidence, document: dict[str, Any]) -> list[str]:
    """What the log or the tables lack that this answer would need, as codes; docs/guide/why.md has what each means."""
    rows: Iterable[Row] = (*evidence.causes, *evidence.throttle, *evidence.broker_windows)
    reason = document["unknown_reason"]
    lacking = {
        "events_lost": reason == "events_lost"
        or _unknown_share(document, "events_lost") > 0
        or any(row["completeness"] < 1 for row in rows),
        "beginning_not_seen": reason == "beginning_not_seen"
        or _unknown_share(document, "beginning_not_seen") > 0
        or any(not row["complete"] for row in evidence.causes),
        "points_missing": reason is None and any(not row["complete"] for row in evidence.standing) and not evidence.causes,
        "event_kinds": _unknown_share(document, "not_in_this_log") > 0,
        "who_set_limits": any(one["set_by"] == NOT_IN_THIS_LOG for one in document["limits"]),
        "first_window": evidence.is_before_first_window,
        "quota_checks": not evidence.quotas and not evidence.rates,
        **{code: reason == code for code in ("broker_stopped", "not_checked", "not_there")},
    }
    return [code for code, is_lacking in lacking.items() if is_lacking]


def confidence(document: dict[str, Any], lacking: Sequence[str], *, has_changed: bool, agrees: bool) -> str:
    """high, medium or low, by the rule above. `lacking`: of `missing`. `has_changed`: the last window has another main cause. `agrees`:
    what was delivered is in line with the main cause.
    """
    if document["status"] == "unknown" or document["cause"] == "unknown":
        return "low"
    is_whole = not any(code in lacking for code in _LESS_SURE)
    if not document["causes"]:
        return "high" if is_whole and not has_changed else "medium"
    unknown = _unknown_share(document)
    if document["share"] < LOW_SHARE or unknown > MANY_UNKNOWN or (document["behind"] and document["backlog_s"] < SHORT_S):
        return "low"
    signs_agree = not document["behind"] or (agrees and not has_changed)
    return "high" if is_whole and signs_agree and document["share"] >= HIGH_SHARE and unknown <= FEW_UNKNOWN else "medium"


def _unknown_share(document: dict[str, Any], reason: str | None = None) -> float:
    charged = (one for one in document["causes"] if one["cause"] == "unknown" and reason in (None, one["unknown_reason"]))
    return float(sum(one["share"] for one in charged))
