"""A run of `backfill`: what it was asked, and what it did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.repair.backfill.difference import Difference
from pipeline.repair.backfill.due_dates import Due
from pipeline.repair.backfill.slices import SWAPPED_TABLES
from schemas.field import Table


def _nobody_watches(_step: str) -> None:
    """Steps that nobody asked for."""


@dataclass(frozen=True)
class Run:
    """A run of `backfill`. `ingest_batch`: newest micro-batch of ingest whose events count. `tables`: those to compare and swap.

    `now` is the clock, for the run's books alone. `before_swap` is called before anything is replaced, and raises if it must not be.
    `step` gets what is done from here on.
    """

    run_id: str
    began_at: datetime
    code_version: str
    ingest_batch: int
    dry_run: bool
    tables: Sequence[Table]
    now: Callable[[], datetime]
    say: Callable[[str], None]
    before_swap: Callable[[], None]
    step: Callable[[str], None] = _nobody_watches

    @property
    def is_partial(self) -> bool:
        """Only some tables: what the others would need stays due."""
        return len(self.tables) < len(SWAPPED_TABLES)


@dataclass(frozen=True)
class Done:
    """One broker's dates that were computed anew."""

    due: Due
    differences: dict[str, Difference]
    based_on: dict[str, int]
