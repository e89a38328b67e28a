"""What a read proves: that there is a consumer, which limiter left nothing, and whether it waits for storage or for entries."""

from pipeline.machines import fields
from pipeline.machines.array import Array
from pipeline.machines.broker.layout import NONE
from pipeline.machines.cause import fields as own
from pipeline.machines.cause.charging import is_whole
from pipeline.machines.cause.layout import DELAYED, IN_FLIGHT, OUT, PARKED, THROTTLED
from pipeline.machines.cause.margins import answers_that_count, blocking_limiter
from pipeline.machines.compiled import compiled_part
from pipeline.machines.records import Record


@compiled_part
def note_alive(charge: Record, cursor: Record, reading: Record, settings: Record) -> None:
    """Who reads or is served has a consumer. One that was not seen coming counts, unless the count of consumers is whole: then the last one
    has just left, and this is the work of another thread.
    """
    charge.losses = settings.losses
    if reading.consumers == 0 and charge.is_attached == 0:
        charge.is_attached = 0 if is_whole(cursor, settings) == 1 and charge.had_consumer == 1 else 1


@compiled_part
def note_read(charge: Record, throttling: Record, working: Record, event: Array) -> None:
    """A limiter blocked the read, or it is out. One that is out already goes on."""
    ns = event[fields.NS]
    charge.permits_known = 1 if fields.has(event, own.READ_PERMITS) else 0
    charge.permits = event[own.READ_PERMITS]
    if throttling.blocked_level != NONE:
        answers = working.answers[answers_that_count(working)]
        charge.blocked = THROTTLED + blocking_limiter(answers, throttling.blocked_level)
        charge.is_out, charge.moved_ns = 0, ns
        return
    charge.blocked = NONE
    if charge.is_out == 0:
        charge.is_out, charge.moved_ns = OUT, ns


@compiled_part
def note_whether_parked(charge: Record) -> None:
    """Where nothing waits the cursor keeps the read until entries come (`asyncReadEntriesOrWait` of ManagedCursorImpl)."""
    if charge.is_out != 0:
        charge.is_out = PARKED if charge.running == 0 or charge.account in (IN_FLIGHT, DELAYED) else OUT
