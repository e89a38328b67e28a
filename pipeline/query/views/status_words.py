"""A cause in a word or two, as operators read it in `why`: what views write as STATUS_OF(cause)."""

import re

#: By the main cause; a cause that is not here is its own status.
STATUS = {
    "no_consumer": "no consumer",
    "throttled": "held back",
    "channel": "channel blocked",
    "no_permits": "slow consumers",
    "unacked_limit": "unacked limit",
    "no_flow": "idle consumers",
    "keys_blocked": "keys blocked",
    "transaction": "open transaction",
    "redelivery": "redelivering",
    "in_flight": "unacknowledged",
    "reading": "slow storage",
    "delayed": "overdue",
    "catching_up": "catching up",
}
#: Statuses of subscriptions that are well: nobody has to act. `delayed`: all that is there is held for a later delivery.
WELL = ("current", "keeping up", "delayed")
_CALL = re.compile(r"\bSTATUS_OF\(([\w.]+)\)")


def with_status_words(sql: str) -> str:
    """The query with each STATUS_OF written out as a CASE."""
    return _CALL.sub(lambda call: _words(call[1]), sql)


def _words(column: str) -> str:
    cases = " ".join(f"WHEN '{cause}' THEN '{status}'" for cause, status in STATUS.items())
    return f"CASE {column} {cases} ELSE {column} END"
