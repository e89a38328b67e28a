"""What a read proves: that there is a consumer, and which limiter left nothing."""

from pipeline.machines.broker.layout import BYTES, DIMENSION_COUNT, LEVEL_COUNT, MSG
from pipeline.machines.cause.charging import is_whole
from pipeline.machines.cause.layout import THROTTLED
from pipeline.machines.compiled import compiled_part
from pipeline.machines.integers import narrow_to_int32
from pipeline.machines.records import Record
from pipeline.machines.throttle.layout import MODELLED, OBSERVED


@compiled_part
def note_alive(charge: Record, cursor: Record, reading: Record, settings: Record) -> None:
    """Who reads or is served has a consumer. One that was not seen coming counts, unless the count of consumers is whole: then the last one
    has just left, and this is the work of another thread.
    """
    charge.losses = settings.losses
    if reading.consumers == 0 and charge.is_attached == 0:
        charge.is_attached = 0 if is_whole(cursor, settings) == 1 and charge.had_consumer == 1 else 1


@compiled_part
def blocked_account(level: int, working: Record) -> int:
    """The account of the limiter that left nothing: of its messages, if both ran out."""
    is_observed = False
    for each in range(LEVEL_COUNT):
        is_observed = is_observed or working.present[OBSERVED, each] == 1
    answers = OBSERVED if is_observed else MODELLED
    no_bytes = working.answers[answers, level, BYTES] == 0
    no_messages = narrow_to_int32(working.answers[answers, level, MSG]) == 0
    return THROTTLED + DIMENSION_COUNT * level + (BYTES if no_bytes and not no_messages else MSG)
