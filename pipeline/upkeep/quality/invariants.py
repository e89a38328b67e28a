"""The invariants: what rows of one or several tables keep together. Each is a query beside this file; it returns the rows that break it."""

import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

from schemas.packages import PACKAGES
from schemas.tables import JOB_TABLES

#: In the order in which data reaches the tables, those of the packages amid the log's. One `invariants/<name>.sql` each.
NAMES = (
    "every_line_is_an_event_or_quarantined",
    "every_id_has_a_name",
    "packets_hold_their_events",
    "lanes_read_every_event_once",
    "every_event_has_one_fate",
    "every_loss_is_told",
    "the_log_reaches_every_window",
    *(invariant for package in PACKAGES for invariant in package.invariants),
    "days_end_in_order",
)


@dataclass(frozen=True)
class Invariant:
    """An invariant by its name, which is the name of its file."""

    name: str

    @cached_property
    def sql(self) -> str:
        """Its query over the job's tables. Read as a resource: the code may be in a zip."""
        return files("pipeline.upkeep.quality").joinpath(f"invariants/{self.name}.sql").read_text(encoding="utf-8")

    @property
    def sentence(self) -> str:
        """What it demands: the first line of its file."""
        return self.sql.partition("\n")[0].removeprefix("-- ")

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The tables that its query reads, in declared order."""
        read = set(re.findall(r"\b(?:FROM|JOIN) (\w+)", self.sql))
        return tuple(table.name for table in JOB_TABLES if table.name in read)


INVARIANTS = tuple(Invariant(name) for name in NAMES)
