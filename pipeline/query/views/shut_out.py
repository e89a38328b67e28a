"""Does a quota shut producers out at a check? What views write as SHUTS_OUT(alias of topic_backlog).

What comes until the next check is what the quota lets come.
"""

import re

_CALL = re.compile(r"\bSHUTS_OUT\((\w+)\)")
_HOLDS = "IN ('producer_request_hold', 'producer_exception')"
_SHUTS_OUT = (
    f"coalesce({{t}}.decision = 'size' AND {{t}}.policy_size {_HOLDS} OR {{t}}.decision = 'time' AND {{t}}.policy_time {_HOLDS}, false)"
)


def with_shut_out(sql: str) -> str:
    """The query with each SHUTS_OUT written out."""
    return _CALL.sub(lambda call: _SHUTS_OUT.format(t=call[1]), sql)
