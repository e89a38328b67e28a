"""What must hold of each table, rendered from its declaration: nulls, ranges, sets, the key. No Spark, no Great Expectations.

Delta enforces the checks on what is written through it; these are the same declarations, held against what lies there. Bronze has no
checks of its own: its ranges and sets are those of the log's contract.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.events import FIELDS, LONG_MAX, LONG_MIN
from schemas.field import Field, Table
from schemas.render.ddl import quoted
from schemas.tables.bronze import DISPATCH_EVENTS

_BOUND = re.compile(r"(?P<column>\w+) (?P<sign>>=|>|<=|<) (?P<value>-?\d+)")
_SET = re.compile(r"(?P<column>\w+) IN \((?P<values>'[^']*'(?:, '[^']*')*)\)")


@dataclass(frozen=True)
class Rule:
    """One demand on a table. `kind` is not_null, range, set or key.

    A range has a least and a greatest value that are allowed (None: no bound; with `above` the least one is not). `where` limits a key to
    rows that keep it (SQL).
    """

    kind: str
    columns: tuple[str, ...]
    least: int | None = None
    greatest: int | None = None
    above: bool = False
    values: tuple[str, ...] = ()
    where: str = ""

    @property
    def words(self) -> str:
        """The demand as people read it."""
        column = self.columns[0]
        if self.kind == "not_null":
            return f"{column} is never null"
        if self.kind == "set":
            return f"{column} is one of {', '.join(self.values)}"
        if self.kind == "key":
            return f"({', '.join(self.columns)}) occurs once" + (f" where {self.where}" if self.where else "")
        return " and ".join(self._bounds(column))

    @property
    def broken_where(self) -> str:
        """SQL that is true of a row that breaks the rule. Not for a key, which a row breaks only beside another."""
        column = f"`{self.columns[0]}`"
        if self.kind == "not_null":
            return f"{column} IS NULL"
        if self.kind == "set":
            return f"{column} NOT IN ({', '.join(map(quoted, self.values))})"
        return f"NOT ({' AND '.join(self._bounds(column))})"

    def _bounds(self, column: str) -> list[str]:
        low = f"{column} {'>' if self.above else '>='} {self.least}" if self.least is not None else ""
        high = f"{column} <= {self.greatest}" if self.greatest is not None else ""
        return [bound for bound in (low, high) if bound]


def rules_of(table: Table) -> tuple[Rule, ...]:
    """Every rule of the table, the key last. Raises ValueError for a check that is neither a range nor a set."""
    return (*_column_rules(table), Rule("key", table.grain, where=table.grain_where))


def _column_rules(table: Table) -> Iterator[Rule]:
    for field in table.fields:
        if not field.nullable:
            yield Rule("not_null", (field.name,))
        if field.check:
            yield rule_of_check(field)
        elif table is DISPATCH_EVENTS and field.name in FIELDS:
            yield from _contract_rules(field.name)


def rule_of_check(field: Field) -> Rule:
    """The rule of a declared CHECK; a null keeps it. Raises ValueError for a check that is neither a range nor a set."""
    allowed = _SET.fullmatch(field.check)
    if allowed and allowed["column"] == field.name:
        return Rule("set", (field.name,), values=tuple(re.findall(r"'([^']*)'", allowed["values"])))
    bounds = [_BOUND.fullmatch(part) for part in field.check.split(" AND ")]
    least = greatest = None
    above = False
    for bound in bounds:
        if bound is None or bound["column"] != field.name or bound["sign"] == "<":
            raise ValueError(f"{field.name}: the quality job cannot read the check {field.check!r}; teach pipeline/upkeep/quality/rules.py")
        if bound["sign"] == "<=":
            greatest = int(bound["value"])
        else:
            least, above = int(bound["value"]), bound["sign"] == ">"
    return Rule("range", (field.name,), least, greatest, above)


def _contract_rules(name: str) -> Iterator[Rule]:
    """What the log's contract allows in a field of bronze."""
    declared = FIELDS[name]
    if declared.one_of:
        yield Rule("set", (name,), values=declared.one_of)
    least = declared.minimum if declared.minimum != LONG_MIN else None
    greatest = declared.maximum if declared.maximum != LONG_MAX else None
    if declared.kind == "long" and (least is not None or greatest is not None):
        yield Rule("range", (name,), least, greatest)
