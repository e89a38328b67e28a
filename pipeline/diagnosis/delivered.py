"""Does what was delivered agree with the cause? A second sign, which no rule of a cause looks at. Pure."""

from collections.abc import Mapping
from typing import Any

from pipeline.diagnosis.evidence import Evidence, Row
from pipeline.diagnosis.slow_too import taken_per_s

#: With these causes nothing goes out.
NOTHING_GOES = ("no_consumer", "transaction", "stuck", "no_flow")


def is_delivery_in_line(evidence: Evidence, main: Mapping[str, Any]) -> bool:
    """Whether the last window of the stretch has what the main cause (`cause`, `level`, `dimension`) lets one expect of it.

    A limiter is looked for in the whole stretch; consumers that hold it, too, are a sign against it. Of causes that are not here the
    tables have no second sign: they agree.
    """
    cause = main["cause"]
    if cause == "throttled":
        return _limiter_blocked(evidence, main) and taken_per_s(evidence, main) is None
    delivered = sum(row["dispatched_entries"] for row in evidence.throttle if row["window_end"] >= evidence.end)
    if cause in NOTHING_GOES:
        return delivered == 0
    last = next((row for row in reversed(evidence.causes) if row["window_end"] >= evidence.end), None)
    if cause == "in_flight":
        return last is not None and last["backlog_end"] - last["waiting_end"] > last["waiting_end"]
    if cause == "catching_up":
        return delivered > 0 or (last is not None and _fell(evidence, last))
    return True


def _limiter_blocked(evidence: Evidence, main: Mapping[str, Any]) -> bool:
    """Whether the limiter left a read with nothing, or a read of the subscription waited for its level."""
    level = main["level"]
    asks = any((row["level"], row["dimension"]) == (level, main["dimension"]) and row["asks_blocked"] > 0 for row in evidence.limits)
    return asks or any(row[f"blocked_ns_by_{level}_limit"] > 0 for row in evidence.throttle)


def _fell(evidence: Evidence, last: Row) -> bool:
    """Whether the last window has less backlog at its end than the window before; a backlog that came within it did not fall."""
    before = [row["backlog_end"] for row in evidence.causes if row["window_end"] <= last["window_start"]]
    return bool(before) and bool(last["backlog_end"] < before[-1])
