"""What a driver run hands to its queries: who it is, the clock, and the gate before each micro-batch."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class RunContext:
    """`now` is the only clock below `jobs/`, used for `written_at` columns alone, never for results.

    `pause` waits that many seconds. `before_micro_batch` is called at the start of every micro-batch of every query: it parks when
    the job was asked to stop and raises BadWarehouse when another driver has taken the warehouse.
    """

    run_id: str
    code_version: str
    now: Callable[[], datetime]
    before_micro_batch: Callable[[], None]
    pause: Callable[[float], None]
