"""Runs: windows in a row in which a subscription has one main cause. Compiled: a broker may have 100,000 backlogs when a window closes."""

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.charging import forget_stretch
from pipeline.rules.cause.layout import ACCOUNT_COUNT, AREA, TIME
from pipeline.rules.compiled import compiled, compiled_part
from pipeline.rules.records import Record, Records


@compiled
def main_accounts(charges: Records, rows: Array, mains: Array) -> int:
    """Look for the main account of each subscription in `rows` [n]: it goes into `mains` [n].

    Subscriptions without time in the window and without a run drop out of `rows`: returns how many are left, in both arrays.
    """
    count = 0
    for s in rows:
        charge = charges[s]
        main = _main_account(charge)
        if main != NONE or charge.main != NONE:
            rows[count], mains[count] = s, main
            count += 1
    return count


@compiled_part
def _main_account(charge: Record) -> int:
    """The account that most entries × time of the window were charged to, of equal ones the first.

    Where that comes to nothing, the one with most time; NONE without a backlog.
    """
    by_area, by_time = 0, 0
    for account in range(1, ACCOUNT_COUNT):
        if charge.charged[account, AREA] > charge.charged[by_area, AREA]:
            by_area = account
        if charge.charged[account, TIME] > charge.charged[by_time, TIME]:
            by_time = account
    if charge.charged[by_time, TIME] == 0:
        return NONE
    return by_area if charge.charged[by_area, AREA] > 0 else by_time


@compiled
def begin_or_go_on(charges: Records, rows: Array, mains: Array, start_us: int, end_us: int) -> None:
    """A run goes on if its account is the main one of this window, too, and no window lies between. Else another one begins."""
    for k in range(len(rows)):
        charge, main = charges[rows[k]], mains[k]
        if charge.main != main or charge.main_window_end < start_us:
            charge.main, charge.main_since = main, 0 if main == NONE else charge.first_at[main]
        if main == NONE:
            charge.main_window_end = 0
            continue
        charge.main_window_end = end_us


@compiled
def begin_window(charges: Records, rows: Array) -> None:
    """Accounts of the subscriptions in `rows` start again."""
    for s in rows:
        charge = charges[s]
        charge.backlog_ns, charge.backlog_end, charge.waiting_end, charge.incomplete = 0, 0, 0, 0
        if charge.running == 0 and charge.main == NONE:
            forget_stretch(charge)
        for account in range(ACCOUNT_COUNT):
            charge.charged[account, TIME], charge.charged[account, AREA], charge.first_at[account] = 0, 0, 0
