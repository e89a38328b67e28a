"""One subscription by its rows' numbers, for events that are rare or reach many; and what ends with a cursor, a dispatcher, a topic."""

from typing import Any

from pipeline.rules.broker.layout import CONSUMING, NONE
from pipeline.rules.cause.case import Case, Cases
from pipeline.rules.cause.charging import backlog_of, end_backlog, forget_stretch, settle
from pipeline.rules.cause.doubt import decide_doubt, is_window_whole
from pipeline.rules.cause.judging import judge_anew
from pipeline.rules.cause.layout import APART, FRESH, NO_CHAIN, PERMITS_KNOWN, PERMITS_UNKNOWN
from pipeline.rules.cause.majority import let_look
from pipeline.rules.cause.progress import note_progress
from pipeline.rules.cause.waiting import ask_again, forget_delivered, waiting_entries
from pipeline.rules.cause.waking import wake
from pipeline.rules.compiled import compiled_part
from pipeline.rules.index import find
from pipeline.rules.records import Record


@compiled_part
def settle_row(broker: Any, cause: Any, t: int, s: int, ns: int) -> None:
    """Charge what lasted until now. For events that are rare, or that reach many subscriptions."""
    case = Case(
        cause.charges[s], cause.chains[t], s, broker.topics[t], broker.subscriptions[s], broker.cursors[s], broker.readings[s],
        broker.dispatchers[s], broker.settings[0], cause.pace[0], broker.connectivity[0],
    )  # fmt: skip
    settle(case, ns)


@compiled_part
def judge_row(broker: Any, cause: Any, t: int, s: int, ts_us: int, ns: int) -> None:
    """Look at everything anew."""
    case = Case(
        cause.charges[s], cause.chains[t], s, broker.topics[t], broker.subscriptions[s], broker.cursors[s], broker.readings[s],
        broker.dispatchers[s], broker.settings[0], cause.pace[0], broker.connectivity[0],
    )  # fmt: skip
    judge_anew(case, broker.attachments, broker.connections, ts_us, ns)


@compiled_part
def wake_row(broker: Any, cause: Any, t: int, ts_us: int, ns: int) -> None:
    """The topic has entries more."""
    cases = Cases(
        cause.charges, cause.chains[t], broker.topics[t], broker.subscriptions, broker.cursors, broker.readings, broker.dispatchers,
        broker.settings[0], cause.pace[0], broker.connectivity[0], broker.attachments, broker.connections,
    )  # fmt: skip
    wake(cases, ts_us, ns)


@compiled_part
def topic_of(broker: Any, s: int) -> int:
    """Row of the subscription's topic."""
    return int(find(broker.topics_index, broker.topics, broker.subscriptions[s].owner, 0))


@compiled_part
def forget_dispatcher(charge: Record, ns: int) -> None:
    """Nothing is known of a dispatcher; a new one asks for nothing until a consumer grants permits."""
    note_progress(charge, ns)
    charge.is_out, charge.asked_again, charge.done, charge.blocked = 0, 0, FRESH, NONE
    charge.permits_known, charge.permits = PERMITS_KNOWN, 0
    charge.consumers_capped, charge.is_capped = 0, 0


@compiled_part
def take_all_back(broker: Any, cause: Any, t: int, s: int) -> None:
    """The last consumer has left: what it had is delivered again, to the next one."""
    charge, topic, cursor = cause.charges[s], broker.topics[t], broker.cursors[s]
    backlog = backlog_of(topic, cursor, charge)
    waiting_entries(charge, topic, cursor, broker.readings[s], backlog)
    ask_again(charge, charge.delivered)
    forget_delivered(charge, cursor)


@compiled_part
def end_cursor(broker: Any, cause: Any, t: int, s: int, ns: int) -> None:
    """The cursor ends: so does its backlog."""
    charge = cause.charges[s]
    settle_row(broker, cause, t, s, ns)
    decide_doubt(charge, broker.settings[0], NONE)
    end_backlog(charge, ns)
    if charge.holding != NONE:
        let_look(charge, cause.pace[0], s)
    # Where nothing is charged in the window there is nothing to be incomplete: a mark would stay, and fall on a later window.
    is_calm = cause.pace[0].losses_at_border == broker.settings[0].losses
    is_known = is_window_whole(charge, broker.cursors[s], broker.settings[0], is_calm)
    if charge.backlog_ns > 0 and broker.cursors[s].open == 1 and not is_known:
        charge.incomplete = 1
    forget_cursor(charge)


@compiled_part
def forget_cursor(charge: Record) -> None:
    """As of a cursor that was never seen, whatever comes next: a state that is saved now may drop the row.

    What was charged in the open window, and the main cause, stay until their end. So does the time up to which it was charged.
    """
    charge.account, charge.charged_to, charge.losses, charge.certain_lost = NONE, NONE, 0, 0
    charge.placed, charge.offset, charge.backlog_seen, charge.gone_seen, charge.area_seen = 0, 0, 0, 0, 0
    charge.delivered, charge.acknowledged_seen, charge.removed_seen, charge.is_redelivered, charge.delayed = 0, 0, 0, 0, 0
    charge.moved_ns, charge.progress_ns, charge.fruitless, charge.asked_again = 0, 0, 0, 0
    charge.is_out, charge.done, charge.blocked, charge.permits_known, charge.permits = 0, FRESH, NONE, PERMITS_UNKNOWN, 0
    charge.granted_known, charge.granted, charge.had_consumer, charge.is_attached = 0, 0, 0, 0
    charge.consumers_capped, charge.is_capped = 0, 0
    charge.proven_ns, charge.was_certain, charge.stated = 0, 0, NONE
    charge.aside, charge.again, charge.repeats, charge.repeats_seen, charge.repeated_ns = 0, 0, 0, 0, 0
    if charge.backlog_ns == 0 and charge.main == NONE:
        forget_stretch(charge)


@compiled_part
def end_topic(broker: Any, cause: Any, t: int, ns: int) -> None:
    """All cursors of the topic end."""
    s = broker.topics[t].first_subscription
    while s != NONE:
        end_cursor(broker, cause, t, s, ns)
        cause.charges[s].next_in_chain = APART
        s = broker.subscriptions[s].next_of_topic
    cause.chains[t] = NO_CHAIN[0]


@compiled_part
def judge_consumers_of(broker: Any, cause: Any, c: int, ts_us: int, ns: int) -> None:
    """The channel of connection `c` changed: every subscription with consumers on it is judged anew."""
    a = broker.connections[c].first_attachment[CONSUMING]
    while a != NONE:
        s = broker.attachments[a].target
        t = topic_of(broker, s)
        settle_row(broker, cause, t, s, ns)
        if cause.charges[s].running == 1:
            note_progress(cause.charges[s], max(cause.charges[s].moved_ns, ns))
            judge_row(broker, cause, t, s, ts_us, ns)
        a = broker.attachments[a].next_of_connection
