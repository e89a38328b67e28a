"""Looks at the subscriptions that another cause may hold soon: four times a second, as long as events come. Rows of `cause_transitions`.

A look changes nothing that is charged. It counts the time that is not charged yet as it would be charged if nothing happened.
"""

from typing import Any

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.case import Case
from pipeline.rules.cause.charging import backlog_of
from pipeline.rules.cause.doubt import is_certain
from pipeline.rules.cause.layout import APART
from pipeline.rules.cause.majority import forget_rival, is_over, let_look, let_rival_hold, vote
from pipeline.rules.cause.rare_events import topic_of
from pipeline.rules.cause.rows import CAUSE_POSITIONS
from pipeline.rules.cause.stretch import part_at
from pipeline.rules.cause.waiting import delivered_entries
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record
from schemas.outcomes import NULL

LOOK_EVERY_NS = 250_000_000


@compiled_part
def is_due(pace: Record, event: Array) -> bool:
    """Whether it is time for a look, and there is anything to look at. Events that the end of an epoch makes up have no `seq`."""
    return pace.first_to_look != NONE and event[fields.NS] >= pace.look_ns and event[fields.SEQ] > 0


@compiled_part
def when_due(broker: Any, cause: Any, counts: Record, event: Array) -> None:
    """Look at each subscription in the chain, as it is just before `event`. Those that no rival and no time can change leave the chain."""
    pace = cause.pace[0]
    s, pace.first_to_look = pace.first_to_look, NONE
    pace.look_ns = event[fields.NS] + LOOK_EVERY_NS
    while s != NONE:
        charge = cause.charges[s]
        following, charge.next_to_look = charge.next_to_look, APART
        changes = _look(broker, cause, counts, s, event) if charge.running == 1 else _look_at_idle(broker, cause, counts, s, event)
        if changes or charge.rival_ns > 0:
            let_look(charge, pace, s)
        else:
            forget_rival(charge)
        s = following


@compiled_part
def _look(broker: Any, cause: Any, counts: Record, s: int, event: Array) -> bool:
    """Look at a subscription with a backlog. Whether another cause may hold it later by time alone."""
    charge, t, ns = cause.charges[s], topic_of(broker, s), event[fields.NS]
    case = Case(
        charge, cause.chains[t], s, broker.topics[t], broker.subscriptions[s], broker.cursors[s], broker.readings[s],
        broker.dispatchers[s], broker.settings[0], cause.pace[0], broker.connectivity[0],
    )  # fmt: skip
    account, until_ns, from_ns = charge.charged_to, INT64_MAX, charge.since_ns
    while from_ns < ns:
        account, until_ns = part_at(case, from_ns)
        part_ns = min(until_ns, ns)
        vote(charge, account, from_ns, part_ns, event[fields.TS] - (ns - part_ns) // 1000)
        from_ns = part_ns
    charge.voted_ns = max(charge.voted_ns, ns)
    if is_over(charge):
        backlog = backlog_of(case.topic, case.cursor, charge)
        waiting = max(0, backlog - delivered_entries(charge, case.topic, case.cursor, case.reading, backlog) - charge.delayed)
        _note(broker, cause, counts, s, backlog, waiting, event)
    return bool(account != charge.holding or until_ns != INT64_MAX or charge.since_ns >= ns)


@compiled_part
def _look_at_idle(broker: Any, cause: Any, counts: Record, s: int, event: Array) -> bool:
    """Look at a subscription without a backlog. Whether its backlog went too lately to tell."""
    charge, ns = cause.charges[s], event[fields.NS]
    vote(charge, NONE, charge.since_ns, ns, event[fields.TS])
    charge.voted_ns = max(charge.voted_ns, ns)
    if is_over(charge):
        _note(broker, cause, counts, s, 0, 0, event)
    return bool(charge.holding != NONE)


@compiled_part
def _note(broker: Any, cause: Any, counts: Record, s: int, backlog: int, waiting: int, event: Array) -> None:
    charge, subscription = cause.charges[s], broker.subscriptions[s]
    row = cause.out_causes[counts.out_causes]
    counts.out_causes += 1
    let_rival_hold(charge)
    row.seq, row.noticed_at, row.since = event[fields.SEQ], event[fields.TS], charge.rival_since
    row.topic_id, row.sub_id = subscription.owner, subscription.id
    row.cause, row.level, row.dimension, row.unknown_reason, row.cap = NULL, NULL, NULL, NULL, NULL
    if charge.holding != NONE:
        positions = CAUSE_POSITIONS[charge.holding]
        row.cause, row.level, row.dimension, row.unknown_reason, row.cap = (
            positions[0], positions[1], positions[2], positions[3], positions[4],
        )  # fmt: skip
    row.backlog, row.waiting, row.open = backlog, waiting, broker.cursors[s].open
    row.complete = is_certain(charge, broker.cursors[s], broker.settings[0])
