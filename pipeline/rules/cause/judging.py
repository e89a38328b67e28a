"""A subscription is judged: its books are brought up to date, the cause is asked for (verdict.py), and what it comes to is noted.

Who judges has charged before what lasted until now. When to judge again is in watching.py.
"""

from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.case import Case
from pipeline.rules.cause.charging import backlog_of, begin_at, begin_backlog, begin_stretch, end_backlog, settle_plainly
from pipeline.rules.cause.doubt import decide_doubt, has_lost
from pipeline.rules.cause.layout import CATCHING_UP, TRANSACTION
from pipeline.rules.cause.majority import let_look, vote
from pipeline.rules.cause.repeats import forget_given_back, forget_repeats, limit_to
from pipeline.rules.cause.stalls import is_capped
from pipeline.rules.cause.verdict import cause_of, largest_part
from pipeline.rules.cause.waiting import waiting_entries
from pipeline.rules.cause.watching import chain_if_idle, is_elsewhere, look_at_channels, watch
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Records


@compiled_part
def judge(case: Case, weighs: bool, ts_us: int, ns: int) -> None:
    """Judge anew, once what is due at `ns` is charged, and the channels were looked at (`look_at_channels`).

    `weighs`: also where most of the backlog is, while reads and deliveries follow each other.
    """
    charge, cursor, settings, pace = case.charge, case.cursor, case.settings, case.pace
    backlog = backlog_of(case.topic, cursor, charge)
    if backlog > 0 or charge.running == 1:
        let_look(charge, pace, case.s)
    had_delivered = charge.delivered
    waiting = waiting_entries(charge, case.topic, cursor, case.reading, backlog)
    limit_to(charge, waiting)
    chain_if_idle(case, waiting)
    if backlog == 0:
        _end(case, ns)
        return
    if charge.running == 1 and pace.tells_states == 1 and has_lost(charge, settings, pace, ns):  # in doubt until a proof comes
        _go_on(case, backlog)
        return
    if charge.repeats > 0:
        forget_repeats(charge, cursor)
    account = cause_of(case, backlog, waiting, ns)
    if account == CATCHING_UP and charge.account == TRANSACTION:
        charge.progress_ns, charge.fruitless = ns, 0  # it has ended
    if had_delivered > 0 and charge.delivered == 0 and is_capped(charge.account):
        charge.moved_ns = max(charge.moved_ns, ns)  # the cap has nothing to be about any more
    charged_to = largest_part(charge, backlog) if account == CATCHING_UP else account
    decide_doubt(charge, settings, charged_to)
    if charge.running == 1 and account == charge.account and (charged_to == charge.charged_to or not weighs):
        _go_on(case, backlog)
        return
    settle_plainly(charge, case.chain, case.topic, backlog, ns)
    if charge.running == 0:
        vote(charge, NONE, charge.since_ns, ns, ts_us)
    begin_at(charge, ts_us, ns)
    if charge.running == 0:
        begin_backlog(charge, pace, case.s)
    charge.account, charge.charged_to = account, charged_to
    begin_stretch(charge, case.chain, case.topic, cursor, backlog)


@compiled_part
def judge_anew(case: Case, attachments: Records, connections: Records, ts_us: int, ns: int) -> None:
    """As `judge`, after a look at the channels."""
    look_at_channels(case.subscription, case.connectivity, attachments, connections)
    judge(case, is_elsewhere(case.charge), ts_us, ns)


@compiled_part
def _go_on(case: Case, backlog: int) -> None:
    """The cause is the same: its stretch goes on."""
    case.charge.backlog_seen = backlog
    watch(case.charge, case.cursor)


@compiled_part
def _end(case: Case, ns: int) -> None:
    """There is no backlog any more."""
    charge = case.charge
    settle_plainly(charge, case.chain, case.topic, 0, ns)
    decide_doubt(charge, case.settings, NONE)
    end_backlog(charge, ns)
    forget_given_back(charge)
    watch(charge, case.cursor)
