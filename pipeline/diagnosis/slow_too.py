"""Do consumers hold a subscription, too, that a limiter holds? A higher limit alone is no help then. Pure.

Consumers that are quick enough take what the limiter gives: what is delivered is acknowledged, and their queues are full for a moment of
each period at most. The signs against that are of the last five minutes, as the pace of acknowledgements is:

* Less is acknowledged than delivered, and what is delivered and unacknowledged grows.
* Consumers are full for a good part of the time, and do not use its own limiter up. A small queue is full for a moment of each period, of
  what that gives at once, and still empty before the next: it has to be full for longer.
"""

from collections.abc import Mapping
from datetime import timedelta
from math import sqrt
from typing import Any, NamedTuple

from pipeline.diagnosis.evidence import Evidence, Row

RECENT = timedelta(minutes=5)
#: Causes that lie with consumers: a higher limit mends none of them.
OF_CONSUMERS = ("channel", "unacked_limit", "no_permits", "no_flow", "keys_blocked", "redelivery")
#: From this share of the time on they are full not just now and then; with a queue that two periods' permits fill: from this one.
_OFTEN, _OFTEN_OF_SMALL = 0.1, 1 / 3
#: From this part on a rate is much the same as another.
_NEARLY_ALL = 0.9
_AT_ONCE = 2


class _Recent(NamedTuple):
    """The last minutes. `held`: entries that are delivered and unacknowledged, at the end of each window."""

    causes: list[Row]
    throttle: list[Row]
    held: list[int]
    over_s: float

    @property
    def delivered(self) -> int:
        """Entries."""
        return sum(row["dispatched_entries"] for row in self.throttle)


def taken_per_s(evidence: Evidence, account: Mapping[str, Any]) -> float | None:
    """Entries that consumers acknowledge in a second, where the limiter of this cause is not all that holds it. Null: it is; or another
    cause, or no pace, is known.
    """
    pace: float | None = evidence.standing[0]["pace_per_s"] if evidence.standing else None
    limit = next((row for row in evidence.limits if all(row[name] == account[name] for name in ("level", "dimension"))), None)
    if account["cause"] != "throttled" or pace is None or limit is None:
        return None
    recent = _recent(evidence)
    is_held_by_them = _piles_up(recent, pace) or (_is_often_full(recent, limit) and not _is_used_up(recent, limit))
    return pace if is_held_by_them else None


def _recent(evidence: Evidence) -> _Recent:
    since = evidence.end - RECENT
    causes, throttle = ([row for row in rows if row["window_end"] > since] for rows in (evidence.causes, evidence.throttle))
    held = {row["window_end"]: row["backlog_end"] - row["waiting_end"] for row in causes}
    begin = min((row["window_start"] for row in throttle), default=evidence.end)
    return _Recent(causes, throttle, list(held.values()), (evidence.end - begin).total_seconds())


def _piles_up(recent: _Recent, pace: float) -> bool:
    """By more than chance adds, and above all of the earlier half: with acknowledgements of many at once it goes up and down."""
    earlier = recent.held[: len(recent.held) // 2]
    # Entries that are held for a later delivery are not delivered, and do not wait.
    if not earlier or any(row["cause"] == "delayed" for row in recent.causes) or pace * recent.over_s >= _NEARLY_ALL * recent.delivered:
        return False
    return recent.held[-1] - max(earlier) > 2 * sqrt(recent.delivered)


def _is_often_full(recent: _Recent, limit: Row) -> bool:
    full = sum(row["ns"] for row in recent.causes if row["cause"] in OF_CONSUMERS)
    is_small = max(recent.held, default=0) * _charged(recent, limit) <= _AT_ONCE * limit["rate"] * recent.delivered
    return full >= (_OFTEN_OF_SMALL if is_small else _OFTEN) * sum(row["ns"] for row in recent.causes)


def _is_used_up(recent: _Recent, limit: Row) -> bool:
    """Whether its own limiter gave nearly all that it has. What is left of one that others share tells nothing of this subscription."""
    allowed = limit["rate"] * recent.over_s * 1e3 / limit["period_ms"]
    return limit["level"] == "subscription" and not limit["relative"] and _charged(recent, limit) >= _NEARLY_ALL * allowed


def _charged(recent: _Recent, limit: Row) -> int:
    """Permits; a row of an earlier version has what was delivered."""
    charged = f"charged_{limit['dimension']}_by_{limit['level']}_limit"
    delivered = "dispatched_msgs" if limit["dimension"] == "msg" else "dispatched_bytes"
    return sum(row[delivered] if row[charged] is None else row[charged] for row in recent.throttle)
