"""Time of a backlog charged to accounts, split at borders (docs/causes.md).

Law: what is charged to all accounts is the time in which there is a backlog, however many events, windows, steps of the wall clock or
restarts cut it.
"""

from pipeline.machines.broker.layout import NONE
from pipeline.machines.cause.layout import (
    CATCHING_UP,
    CHANNEL,
    EVENTS_LOST,
    KEY_SHARED,
    NO_PERMITS,
    NOT_IN_THIS_LOG,
    READING,
    STALL_NS,
    STUCK,
    THROTTLED,
)
from pipeline.machines.compiled import compiled_part
from pipeline.machines.integers import INT64_MAX, add, multiply_divide
from pipeline.machines.records import Record


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
def is_whole(cursor: Record, settings: Record) -> int:
    """1 if the log has the cursor's whole life."""
    return 1 if cursor.began_complete == 1 and cursor.losses_at_open == settings.losses else 0


@compiled_part
def settle(charge: Record, topic: Record, cursor: Record, dispatcher: Record, settings: Record, pace: Record, ns: int) -> None:
    """Charge the time since the stretch began; it goes on from `ns`. Nothing else changes."""
    if charge.running == 1 and ns > charge.since_ns:
        backlog = backlog_of(topic, cursor, charge)
        _charge_up_to(charge, cursor, dispatcher, settings, pace, charge.backlog_seen + backlog, ns)
        charge.backlog_seen = backlog


@compiled_part
def _charge_up_to(charge: Record, cursor: Record, dispatcher: Record, settings: Record, pace: Record, both: int, ns: int) -> None:
    """`both`: entries in the backlog at the beginning and now, together."""
    account = charge.account
    if charge.losses != settings.losses:
        _add(charge, EVENTS_LOST, both, ns)
        return
    slow_ns, stalled_ns = INT64_MAX, INT64_MAX
    if account == CATCHING_UP:
        if charge.is_out == 1 and pace.normal_ns > 0:
            slow_ns = charge.moved_ns + pace.normal_ns
        if charge.permits_known == 0:
            stalled_ns = charge.moved_ns + pace.normal_ns
        elif charge.is_out == 0 or pace.tells_deliveries == 0 or dispatcher.sub_type == KEY_SHARED:
            stalled_ns = charge.moved_ns + STALL_NS
    elif THROTTLED <= account < CHANNEL or (account == NO_PERMITS and charge.granted_known == 1 and charge.granted > 0):
        stalled_ns = charge.moved_ns + STALL_NS
    slow_ns = min(slow_ns, stalled_ns)
    if slow_ns > charge.since_ns:
        _add(charge, account, both, min(ns, slow_ns))
    if ns > slow_ns and stalled_ns > charge.since_ns:
        _add(charge, READING if is_whole(cursor, settings) == 1 else EVENTS_LOST, both, min(ns, stalled_ns))
    if ns > stalled_ns:
        _add(charge, _stalled(charge, dispatcher, pace, is_whole(cursor, settings) == 1), both, ns)


@compiled_part
def _stalled(charge: Record, dispatcher: Record, pace: Record, whole_log: bool) -> int:
    """Everything is there, and nothing moves: a bug of the broker, if the log has all that could explain it."""
    if not whole_log:
        return EVENTS_LOST
    can_tell = (
        pace.tells_deliveries == 1 and charge.permits_known == 1 and dispatcher.sub_type != KEY_SHARED and dispatcher.sub_type != NONE
    )
    return STUCK if can_tell and charge.is_out == 0 else NOT_IN_THIS_LOG


@compiled_part
def _add(charge: Record, account: int, both: int, until_ns: int) -> None:
    """Charge the stretch up to `until_ns`, which lies behind its beginning, to one account."""
    lasted = until_ns - charge.since_ns
    if charge.charged_ns[account] == 0:
        charge.first_at[account] = charge.since_ts
    charge.charged_ns[account] += lasted
    if both < 2**20 and lasted < 2**40:
        area = both * lasted + charge.entry_rest
        whole, rest = area // 2000, area % 2000
    else:
        whole, rest = multiply_divide(both, lasted, 2000)
        rest += charge.entry_rest
        if rest >= 2000:
            whole, rest = add(whole, 1), rest - 2000
    charge.entry_us[account] = add(charge.entry_us[account], whole)
    charge.entry_rest = rest
    charge.since_ns = until_ns
    charge.since_ts += lasted // 1000


@compiled_part
def begin_backlog(charge: Record, ts_us: int, ns: int) -> None:
    """There is a backlog from now on: never before what was charged last."""
    charge.running = 1
    if ns >= charge.since_ns:
        charge.since_ns, charge.since_ts = ns, ts_us
    charge.backlog_since_ns = charge.since_ns


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
