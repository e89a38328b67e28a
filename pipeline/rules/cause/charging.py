"""Time of a backlog charged to accounts, split at borders (docs/design/causes.md).

Invariant: what is charged to all accounts is the time in which there is a backlog, however many events, windows, steps of the wall clock or
restarts cut it.
"""

from pipeline.rules.cause.case import Case
from pipeline.rules.cause.layout import APART, AREA, TIME
from pipeline.rules.cause.majority import vote
from pipeline.rules.cause.stalls import in_vain_ns, silent_ns, slow_ns
from pipeline.rules.cause.stretch import part_at
from pipeline.rules.cause.watching import may_be_due, watch
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import add, multiply_divide
from pipeline.rules.records import Record


@compiled_part
def backlog_of(topic: Record, cursor: Record, charge: Record) -> int:
    """`msg_backlog` now, by its waterfall (broker/cursors.py): entries."""
    if cursor.open == 0 or charge.placed == 0:
        return 0
    gone = cursor.acknowledged + cursor.evicted + cursor.expired
    return max(0, cursor.opened_backlog + topic.end_entries - cursor.opened_end - gone + cursor.sought + charge.offset)


@compiled_part
def correct_waterfall(charge: Record, topic: Record, cursor: Record, backlog: int) -> None:
    """Let the waterfall come to `backlog`: of a cursor that was met in mid-life, or of a log with losses, steps may be missing."""
    gone = cursor.acknowledged + cursor.evicted + cursor.expired
    charge.offset = backlog - (cursor.opened_backlog + topic.end_entries - cursor.opened_end - gone + cursor.sought)


@compiled_part
def advance_area(chain: Record, topic: Record, ns: int) -> None:
    """The topic's scale is about to grow: what it was until now is counted."""
    now_us = max(ns // 1000, chain.area_us)
    chain.area += (topic.end_entries - chain.base_entries) * (now_us - chain.area_us)
    chain.area_us, chain.has_grown = now_us, 1


@compiled_part
def area_at(chain: Record, topic: Record, us: int) -> int:
    """The integral of the topic's scale beyond `base_entries` up to `us` on the monotonic clock: entry-µs."""
    return chain.area + (topic.end_entries - chain.base_entries) * (us - chain.area_us)


@compiled_part
def begin_stretch(charge: Record, chain: Record, topic: Record, cursor: Record, backlog: int) -> None:
    """A stretch begins at `since_ns` with so many entries in the backlog."""
    charge.backlog_seen, charge.gone_seen = backlog, topic.end_entries - backlog
    charge.area_seen = area_at(chain, topic, charge.since_us)
    watch(charge, cursor)


@compiled_part
def _area_until(charge: Record, chain: Record, topic: Record, backlog: int, ns: int) -> int:
    """Entries in the backlog × time since the stretch began, in entry-µs.

    What was published since counts from its time on; what went since goes in a straight line.
    """
    us = ns // 1000
    gone = 2 * chain.base_entries - charge.gone_seen - (topic.end_entries - backlog)
    return max(0, area_at(chain, topic, us) - charge.area_seen + gone * (us - charge.since_us) // 2)


@compiled_part
def settle(case: Case, ns: int) -> None:
    """Charge the time since the stretch began; a new one begins at `ns`. Nothing else changes."""
    charge, chain, topic, cursor = case.charge, case.chain, case.topic, case.cursor
    if charge.running == 1 and ns > charge.since_ns:
        backlog = backlog_of(topic, cursor, charge)
        _charge_up_to(case, _area_until(charge, chain, topic, backlog, ns), ns)
        begin_stretch(charge, chain, topic, cursor, backlog)


@compiled_part
def settle_if_due(case: Case, ns: int) -> None:
    """Charge what may not all go to the account of the stretch; else the stretch goes on until the account changes."""
    charge, settings, pace = case.charge, case.settings, case.pace
    if not may_be_due(charge, settings, pace, ns):
        return
    if charge.losses != settings.losses or ns > min(slow_ns(charge, pace), in_vain_ns(charge), silent_ns(charge, case.dispatcher, pace)):
        settle(case, ns)


@compiled_part
def settle_plainly(charge: Record, chain: Record, topic: Record, backlog: int, ns: int) -> None:
    """Charge a stretch that is not due to its account."""
    if charge.running == 1 and ns > charge.since_ns:
        _add(charge, charge.charged_to, _area_until(charge, chain, topic, backlog, ns), ns)


@compiled_part
def _charge_up_to(case: Case, area: int, ns: int) -> None:
    """`area`: entries in the backlog × time of the whole stretch, in entry-µs."""
    charge = case.charge
    while charge.since_ns < ns:
        account, until_ns = part_at(case, charge.since_ns)
        area = _add_part(charge, account, area, min(until_ns, ns), ns)


@compiled_part
def _add_part(charge: Record, account: int, area: int, until_ns: int, end_ns: int) -> int:
    """Charge the part of the stretch up to `until_ns` with its share of the `area` up to `end_ns`; returns the rest."""
    if until_ns == end_ns:
        _add(charge, account, area, until_ns)
        return 0
    share = multiply_divide(area, until_ns - charge.since_ns, end_ns - charge.since_ns)[0]
    _add(charge, account, share, until_ns)
    return int(area - share)


@compiled_part
def _add(charge: Record, account: int, area: int, until_ns: int) -> None:
    """Charge the stretch up to `until_ns`, which lies behind its beginning, to one account."""
    lasted_ns = until_ns - charge.since_ns
    vote(charge, account, charge.since_ns, until_ns, charge.since_ts + lasted_ns // 1000)
    if charge.charged[account, TIME] == 0:
        charge.first_at[account] = charge.since_ts
    charge.charged[account, TIME] += lasted_ns
    charge.charged[account, AREA] = add(charge.charged[account, AREA], area)
    charge.since_ns, charge.since_us = until_ns, until_ns // 1000
    charge.since_ts += lasted_ns // 1000


@compiled_part
def begin_at(charge: Record, ts_us: int, ns: int) -> None:
    """A stretch begins: never before what was charged last. Of two threads one may write late."""
    if ns >= charge.since_ns:
        charge.since_ns, charge.since_us, charge.since_ts = ns, ns // 1000, ts_us


@compiled_part
def forget_stretch(charge: Record) -> None:
    """Nothing was charged in the open window, nothing lasts, and no main cause has to end: the next stretch may begin at any time."""
    charge.since_ns, charge.since_us, charge.since_ts, charge.backlog_since_ns = 0, 0, 0, 0


@compiled_part
def begin_backlog(charge: Record, pace: Record, s: int) -> None:
    """There is a backlog from the beginning of the stretch on."""
    charge.running, charge.backlog_since_ns = 1, charge.since_ns
    if charge.next_in_window == APART:
        charge.next_in_window, pace.first_in_window = pace.first_in_window, s


@compiled_part
def end_backlog(charge: Record, ns: int) -> None:
    """There is none any more. What was charged last may be later than `ns`: of two threads one may write late."""
    if charge.running == 1:
        charge.backlog_ns += max(ns, charge.since_ns) - charge.backlog_since_ns
        charge.running = 0


@compiled_part
def border_of(charge: Record, border_us: int, border_ns: int) -> int:
    """Where on the monotonic clock the wall-clock border falls for this stretch: never before its start, never after `border_ns`."""
    estimate = charge.since_ns + max(0, border_us - charge.since_ts) * 1000
    return max(charge.since_ns, min(estimate, border_ns))
