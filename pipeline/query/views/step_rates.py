"""How far a rate of some steps may be from the rate that comes, and where it is another one.

Views write RATE_SPREAD(what is left, drift in an hour) and RATE_TURNED(a step's rate).
"""

import re

_SPREAD_CALL = re.compile(r"\bRATE_SPREAD\((\w+), ([\d.]+)\)")
_TURNED_CALL = re.compile(r"\bRATE_TURNED\((\w+)\)")
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
#: Six deviations: there are two to five steps before, and their deviation is itself a guess; one step has none. Three of them called
#: chance a turn too often (python -m bench.forecasts).
_TURNED = "(abs({rate} - mean_before) > abs(mean_before) AND abs({rate} - mean_before) > 6 * deviation_before)"


def with_rates_of_steps(sql: str) -> str:
    """The query with each call written out.

    RATE_SPREAD is over the columns rate_mean, variance, steps, and stepped_s, seconds of all steps; RATE_TURNED over mean_before and
    deviation_before, of the steps before.
    """
    sql = _TURNED_CALL.sub(lambda call: _TURNED.format(rate=call[1]), sql)
    return _SPREAD_CALL.sub(lambda call: _SPREAD.format(left=call[1], drift=call[2]), sql)
