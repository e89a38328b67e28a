"""A stretch of time without a change: which account each part of it goes to (docs/design/causes.md, "Rules that need time").

Pure: rows are read, none is changed. Who charges it, or looks at it before it is over, asks part by part.
"""

from pipeline.rules.cause.case import Case
from pipeline.rules.cause.doubt import is_certain, proven_until_ns
from pipeline.rules.cause.layout import DOUBTED, EVENTS_LOST, READING
from pipeline.rules.cause.stalls import in_vain, in_vain_ns, lost, lost_ns, passing_ns, silent, silent_ns, slow_ns
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import INT64_MAX


@compiled_part
def part_at(case: Case, ns: int) -> tuple[int, int]:
    """The account of the time from `ns` on, DOUBTED among them, and when that part ends (ns); INT64_MAX: not by time alone."""
    charge, dispatcher, pace = case.charge, case.dispatcher, case.pace
    if charge.losses != case.settings.losses and pace.tells_states == 0:
        return EVENTS_LOST, INT64_MAX
    quiet_ns = silent_ns(charge, dispatcher, pace)
    vain_ns = min(in_vain_ns(charge), quiet_ns)
    late_ns = min(slow_ns(charge, pace), vain_ns)
    if charge.losses != case.settings.losses:
        return _part_in_doubt(case, min(late_ns, passing_ns(charge, pace)), ns)
    if ns < late_ns:
        return charge.charged_to, late_ns
    if is_certain(charge, case.cursor, case.settings) == 0:
        return EVENTS_LOST, INT64_MAX
    if ns < vain_ns:
        return READING, vain_ns
    if ns < quiet_ns:
        return in_vain(charge, case.chain, dispatcher), quiet_ns
    given_up_ns = lost_ns(charge, dispatcher, pace)
    if ns < given_up_ns:
        return silent(charge, case.chain, dispatcher, pace), given_up_ns
    return lost(charge, case.chain, pace), INT64_MAX


@compiled_part
def _part_in_doubt(case: Case, late_ns: int, ns: int) -> tuple[int, int]:
    """The same after a loss of events, in a log that has `state`."""
    proven_ns = min(late_ns, proven_until_ns(case.charge, case.pace))
    if ns < proven_ns:
        return case.charge.charged_to, proven_ns
    return (DOUBTED, late_ns) if ns < late_ns else (EVENTS_LOST, INT64_MAX)
