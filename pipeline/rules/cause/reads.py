"""What a read proves: that there is a consumer, which limiter left nothing, and whether it waits for storage or for entries."""

from pipeline.rules import fields
from pipeline.rules.array import Array
from pipeline.rules.broker.cursors import is_whole
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause import fields as own
from pipeline.rules.cause.doubt import prove
from pipeline.rules.cause.layout import (
    ASKED_IN_VAIN,
    BEYOND,
    CATCHING_UP,
    DELAYED,
    EMPTY_READ,
    FRESH,
    IN_FLIGHT,
    KEY_SHARED,
    OUT,
    PARKED,
    PERMITS_KNOWN,
    PERMITS_UNKNOWN,
    REDELIVERY,
    REPLAYED,
    THROTTLED,
)
from pipeline.rules.cause.margins import answers_that_count, blocking_limiter
from pipeline.rules.cause.pace import measure
from pipeline.rules.cause.progress import note_if_late, note_progress
from pipeline.rules.cause.repeats import note_delivered
from pipeline.rules.cause.stalls import is_timed
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import add
from pipeline.rules.records import Record


@compiled_part
def note_alive(charge: Record, cursor: Record, reading: Record, settings: Record, ns: int) -> None:
    """Who reads or is served has a consumer. One that was not seen coming counts, unless the count of consumers is whole: then the last one
    has just left, and this is the work of another thread.
    """
    prove(charge, settings, ns)
    if reading.consumers == 0 and charge.is_attached == 0:
        charge.is_attached = 0 if is_whole(cursor, settings) == 1 and charge.had_consumer == 1 else 1


@compiled_part
def note_read(charge: Record, throttling: Record, working: Record, event: Array) -> None:
    """A limiter blocked the read, or it is out. One that is out already goes on."""
    ns = event[fields.NS]
    is_same = charge.permits_known != PERMITS_UNKNOWN and charge.permits == event[own.READ_PERMITS]
    charge.permits_known = PERMITS_KNOWN if fields.has(event, own.READ_PERMITS) else PERMITS_UNKNOWN
    charge.permits = event[own.READ_PERMITS]
    if throttling.blocked_level != NONE:
        answers = working.answers[answers_that_count(working)]
        charge.blocked = THROTTLED + blocking_limiter(answers, throttling.blocked_level)
        charge.is_out, charge.asked_again, charge.moved_ns = 0, 0, ns
        return
    if charge.blocked != NONE:
        charge.blocked = NONE
        note_progress(charge, ns)
    if charge.is_out == 0:
        charge.is_out, charge.asked_again, charge.moved_ns = OUT, 0, ns
    elif is_same:
        charge.asked_again += 1


@compiled_part
def note_asked_in_vain(charge: Record, dispatcher: Record, ns: int) -> None:
    """A Key_Shared dispatcher asks again and again, though no consumer granted more: it is alive, and it does not read."""
    if charge.asked_again >= ASKED_IN_VAIN and dispatcher.sub_type == KEY_SHARED:
        charge.moved_ns = ns


@compiled_part
def note_whether_parked(charge: Record) -> None:
    """Where nothing is left to read the cursor keeps the read until entries come (`asyncReadEntriesOrWait` of ManagedCursorImpl)."""
    if charge.is_out != 0:
        nothing_waits = charge.account in (IN_FLIGHT, DELAYED) or (
            charge.account == REDELIVERY and charge.backlog_seen - charge.delivered <= charge.delayed
        )
        if charge.running == 0 or nothing_waits:
            charge.is_out = PARKED
        else:
            charge.is_out = BEYOND if charge.backlog_seen - charge.delivered <= charge.aside else OUT


@compiled_part
def note_came_back(charge: Record, pace: Record, ns: int) -> None:
    """The read that is out is about to come back. To be called before what lasted until now is charged."""
    if is_timed(charge) and charge.running == 1 and charge.account == CATCHING_UP:
        note_if_late(charge, pace, ns)


@compiled_part
def measure_turnaround(charge: Record, pace: Record, ns: int) -> None:
    """The read that was out has come back, and what lasted until now is charged."""
    if is_timed(charge) and charge.running == 1 and charge.account == CATCHING_UP and ns > charge.moved_ns:
        if pace.normal_ns > 0 and ns - charge.moved_ns <= pace.normal_ns:
            pace.good_ns = max(pace.good_ns, ns)
        measure(pace, ns - charge.moved_ns)


@compiled_part
def note_done(charge: Record, entries: int, is_replay: int, ns: int) -> None:
    """A read came back: until something of it is delivered it lies aside, and is no progress."""
    charge.is_out, charge.asked_again, charge.moved_ns = 0, 0, ns
    charge.fruitless += 1
    if entries == 0:
        charge.done = EMPTY_READ
    elif is_replay == 1:
        charge.done = REPLAYED
    else:
        charge.done = FRESH
        charge.aside = add(charge.aside, entries)


@compiled_part
def note_taken(charge: Record, cursor: Record, entries: int, ns: int) -> None:
    """Consumers took entries. Where all of them had been delivered before this is no progress."""
    repeated = note_delivered(charge, cursor, entries, ns)
    of_aside = entries if charge.done == FRESH else entries - repeated
    charge.is_out, charge.asked_again, charge.moved_ns = 0, 0, ns
    charge.aside = max(0, charge.aside - of_aside)
    if charge.done == EMPTY_READ:
        charge.done = FRESH
    if repeated < entries:
        note_progress(charge, ns)
