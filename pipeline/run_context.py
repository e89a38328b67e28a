"""What a driver run hands to its queries: who it is, the clock, and the gate before each micro-batch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime


def nobody_asks(_query: str, _batch_id: int, _counts: Mapping[str, int]) -> None:
    """For runs that nobody watches."""


def nobody_keeps(_lost: str | None) -> None:
    """For runs without a ledger."""


@dataclass(frozen=True)
class RunContext:
    """`now` is the only clock below `jobs/`, used for `written_at` columns alone, never for results.

    `pause` waits that many seconds. `before_micro_batch` is called at the start of every micro-batch of every query: it parks when
    the job was asked to stop and raises BadWarehouse when another driver has taken the warehouse. `after_micro_batch` receives every
    micro-batch that is whole: query, number, what it counted for batch_manifest, and `newest_ts`, the greatest `ts` that it read (µs,
    0: none, or nobody knows any more). It must neither wait nor raise. `source_opened` is called once, before the first micro-batch of
    ingest, with words on what the source lost and the job goes on without (None: nothing). It must neither wait nor raise, too.
    """

    run_id: str
    code_version: str
    now: Callable[[], datetime]
    before_micro_batch: Callable[[], None]
    pause: Callable[[float], None]
    after_micro_batch: Callable[[str, int, Mapping[str, int]], None] = nobody_asks
    source_opened: Callable[[str | None], None] = nobody_keeps
