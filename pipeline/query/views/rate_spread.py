"""How far a rate of some steps may be from the rate that comes: what views write as RATE_SPREAD(what is left, drift in an hour)."""

import re

_CALL = re.compile(r"\bRATE_SPREAD\((\w+), ([\d.]+)\)")
#: 1.28: eight of ten of a normal distribution. A rate of few steps is uncertain; the steps until nothing is left differ as much from each
#: other as those before; and the rate itself drifts, with the root of the time, up to a day. Without an end that is foreseen only the first
#: of these counts; one step alone has no spread (docs/design/backlog.md).
_SPREAD = """CASE
      WHEN steps < 2 THEN 0D
      WHEN rate_mean > 0 THEN 1.28 * sqrt(
        variance / steps
        + variance * least(1D, stepped_s / steps / greatest(1D, {left} / rate_mean))
        + power({drift} * rate_mean, 2) * least(greatest(1D, {left} / rate_mean), 86400D) / 3600
      )
      ELSE 1.28 * sqrt(variance / steps)
    END"""


def with_rate_spreads(sql: str) -> str:
    """The query with each RATE_SPREAD written out, over the columns rate_mean, variance, steps, and stepped_s, seconds of all steps."""
    return _CALL.sub(lambda call: _SPREAD.format(left=call[1], drift=call[2]), sql)
