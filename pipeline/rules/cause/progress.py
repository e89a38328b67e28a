"""Signs of life and of progress, and what shows that storage is slow (docs/design/causes.md, "What needs time")."""

from pipeline.rules.cause.case import Case
from pipeline.rules.cause.waiting import waiting_now
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record


@compiled_part
def note_progress(charge: Record, ns: int) -> None:
    """Something was delivered, acknowledged, or came to an end that reads waited for."""
    charge.moved_ns, charge.progress_ns, charge.fruitless = ns, ns, 0


@compiled_part
def note_moved(case: Case, ns: int) -> None:
    """A sign of life that is no progress, but where nothing waited: what waits from now on has waited for no time."""
    charge = case.charge
    if waiting_now(case) <= charge.delayed:
        note_progress(charge, ns)
    charge.moved_ns = ns


@compiled_part
def note_if_late(charge: Record, pace: Record, ns: int) -> None:
    """The read that is out comes back: late, this is evidence of slow storage. A dispatcher that asked again may not have read."""
    if pace.normal_ns > 0 and charge.asked_again == 0 and ns - charge.moved_ns > pace.normal_ns:
        pace.slow_ns = max(pace.slow_ns, ns)
