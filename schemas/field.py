"""The words in which every table is declared: a field has a type, a unit, a meaning, and what must hold of it."""

from dataclasses import dataclass, field
from functools import cached_property

#: Every column type that a table of ours may have; the renderers map each of them, and nothing else.
TYPES = (
    "string", "long", "int", "boolean", "double", "timestamp", "date", "map<string,string>", "array<bigint>", "array<string>", "binary",
    "array<struct<broker_id:bigint,epoch:bigint,at:timestamp>>",
)  # fmt: skip


@dataclass(frozen=True)
class Field:
    """One column.

    `check` is a SQL expression over the row that becomes a CHECK constraint of the Delta table.
    `pulsar` is the name under which Pulsar's metrics or admin stats show the same value, if they do.
    `checks_before`: the checks of earlier versions of this project, which allowed less; the job's start replaces them.
    `added`: tables of an earlier version of this project lack the column; the job's start adds it, and rows of before have null in it.
    """

    name: str
    type: str
    meaning: str
    unit: str = ""
    nullable: bool = False
    check: str = ""
    pulsar: str = ""
    added: bool = False
    checks_before: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.type not in TYPES:
            raise ValueError(f"field {self.name}: unknown type {self.type}")
        if self.added and (self.check or not self.nullable):
            raise ValueError(f"field {self.name}: rows of before have null in an added column, so it is nullable and without a check")


def count_field(name: str, meaning: str, unit: str = "", pulsar: str = "") -> Field:
    """A column of whole numbers that are never negative."""
    return Field(name, "long", meaning, unit, check=f"{name} >= 0", pulsar=pulsar)


@dataclass(frozen=True)
class Table:
    """One Delta table `WAREHOUSE/<name>`.

    `grain` names the columns of which a combination occurs once, among the rows that keep `grain_where` (SQL; empty: among all).
    `partition_by` are Delta partition columns. `age_by` is the column (a date or timestamp) by which old rows may be deleted
    (`maintain.keep_days`); a table without it is kept whole, others lean on it.
    """

    name: str
    meaning: str
    grain: tuple[str, ...]
    fields: tuple[Field, ...]
    partition_by: tuple[str, ...] = ()
    grain_where: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    age_by: str = ""

    def __post_init__(self) -> None:
        names = [f.name for f in self.fields]
        repeated = {n for n in names if names.count(n) > 1}
        unknown = (set(self.grain) | set(self.partition_by) | ({self.age_by} - {""})) - set(names)
        if repeated or unknown:
            raise ValueError(f"table {self.name}: repeated {sorted(repeated)}, unknown in grain, partitioning or age {sorted(unknown)}")

    def field(self, name: str) -> Field:
        """The field called `name`; KeyError if there is none."""
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        raise KeyError(f"{self.name}.{name}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names in declared order."""
        return tuple(f.name for f in self.fields)
