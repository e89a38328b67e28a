"""Do consumers acknowledge, but fewer entries than come? What views write as OUTPACED(entries that came, entries acknowledged)."""

import re

_CALL = re.compile(r"\bOUTPACED\((\w+), (\w+)\)")
#: Whoever acknowledges next to nothing hangs: to be faster is no help to it. A tenth of what comes, and chance, is no difference.
_OUTPACED = """({acknowledged} >= {came} * 0.1 AND {came} - {acknowledged} > greatest({came} * 0.1, 2 * sqrt(greatest(0, {came}))))"""


def with_outpaced(sql: str) -> str:
    """The query with each OUTPACED written out, over two columns of the same stretch of time."""
    return _CALL.sub(lambda call: _OUTPACED.format(came=call[1], acknowledged=call[2]), sql)
