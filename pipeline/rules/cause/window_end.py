"""What the passing of a window's border, or of a step of the wall clock, does to every backlog; compiled."""

from typing import Any

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.charging import backlog_of, begin_stretch, border_of
from pipeline.rules.cause.doubt import decide_doubt, is_certain, is_window_whole
from pipeline.rules.cause.layout import APART, REPEATS_LAST_NS
from pipeline.rules.cause.majority import let_look
from pipeline.rules.cause.rare_events import judge_row, settle_row, topic_of
from pipeline.rules.cause.waiting import waiting_entries
from pipeline.rules.compiled import compiled, compiled_part
from pipeline.rules.records import Record, Records


@compiled
def rows_in_window(charges: Records, pace: Record, rows: Array) -> int:
    """Fill `rows` ([subscriptions]) with those that may have had a backlog in the window, or have a main cause; returns how many they are.

    Of a broker's subscriptions most may be idle: nobody looks at those.
    """
    count, s = 0, pace.first_in_window
    while s != NONE:
        rows[count] = s
        count, s = count + 1, charges[s].next_in_window
    return count


@compiled
def pass_border(broker: Any, cause: Any, counts: Record, border_us: int, border_ns: int, rows: Array) -> int:
    """Split what lasts at the border, and note what waits there. `rows`: of `rows_in_window`, ascending.

    Rows of subscriptions with a backlog, now or in the window, or with a main cause stay in `rows`; returns how many they are. The others
    leave the chain of the window, which is to be made anew.
    """
    settings, pace = broker.settings[0], cause.pace[0]
    is_calm = pace.losses_at_border == settings.losses
    pace.losses_at_border = settings.losses
    count = 0
    for s in rows:
        charge = cause.charges[s]
        charge.next_in_window = APART
        if charge.running == 1:
            _split(broker, cause, s, is_calm, border_us, border_ns)
        elif charge.backlog_ns > 0 or charge.main != NONE:
            charge.backlog_end, charge.waiting_end = 0, 0
        else:
            continue
        rows[count] = s
        count += 1
    _begin_areas(broker, cause, counts, rows[:count], border_ns)
    return count


@compiled_part
def _split(broker: Any, cause: Any, s: int, is_calm: bool, border_us: int, border_ns: int) -> None:
    """A backlog lasts beyond the border: what it was until there belongs to the window."""
    charge, cursor, settings, t = cause.charges[s], broker.cursors[s], broker.settings[0], topic_of(broker, s)
    settle_row(broker, cause, t, s, border_of(charge, border_us, border_ns))
    decide_doubt(charge, settings, NONE)
    let_look(charge, cause.pace[0], s)
    if charge.repeats > 0 and charge.since_ns - charge.repeated_ns > REPEATS_LAST_NS:
        charge.repeats = 0
        judge_row(broker, cause, t, s, charge.since_ts, charge.since_ns)
    charge.since_ts = max(border_us, charge.since_ts)
    charge.backlog_ns += charge.since_ns - charge.backlog_since_ns
    charge.backlog_since_ns = charge.since_ns
    charge.backlog_end = backlog_of(broker.topics[t], cursor, charge)
    waiting = waiting_entries(charge, broker.topics[t], cursor, broker.readings[s], charge.backlog_end)
    charge.waiting_end = max(0, waiting - charge.delayed)
    if not is_window_whole(charge, cursor, settings, is_calm):
        charge.incomplete = 1
    charge.was_certain = is_certain(charge, cursor, settings)
    is_unproven = charge.losses != settings.losses and cause.pace[0].tells_states == 0
    if is_calm and is_unproven and broker.readings[s].consumers == 0 and charge.waiting_end > 0:
        charge.losses = settings.losses  # a consumer that came unseen would have read in a whole window


@compiled_part
def _begin_areas(broker: Any, cause: Any, counts: Record, rows: Array, border_ns: int) -> None:
    """Areas of topics start again, so that they never grow too large. What lasts begins with them."""
    border_us = border_ns // 1000
    for t in range(counts.topics):
        chain = cause.chains[t]
        chain.area_us = max(chain.area_us, border_us)
        if chain.has_grown == 1:
            chain.area, chain.base_entries, chain.has_grown = 0, broker.topics[t].end_entries, 0
    for s in rows:
        if cause.charges[s].running == 1:
            t = topic_of(broker, s)
            begin_stretch(cause.charges[s], cause.chains[t], broker.topics[t], broker.cursors[s], cause.charges[s].backlog_end)


@compiled
def charge_until(broker: Any, cause: Any, ts_us: int, ns: int) -> None:
    """The wall clock was set: what lasts is charged up to `ns` to the open window, and goes on from (`ts_us`, `ns`) on the new clock."""
    s = cause.pace[0].first_in_window
    while s != NONE:
        charge = cause.charges[s]
        if charge.running == 1:
            settle_row(broker, cause, topic_of(broker, s), s, ns)
            charge.since_ts = ts_us
        s = charge.next_in_window


@compiled
def lasts_until(charges: Records, pace: Record, until_ns: int) -> bool:
    """Whether a backlog that began before lasts until `until_ns`."""
    s = pace.first_in_window
    while s != NONE:
        if charges[s].running == 1 and charges[s].since_ns < until_ns:
            return True
        s = charges[s].next_in_window
    return False
