"""Which files a query cannot need: as Delta does for Spark, by the least and greatest values that a table's log has of each file.

DuckDB itself opens every file that it is given, to read the bounds of its row groups. A day of a live job has tens of thousands of files.
Only whole numbers are looked at: Delta cuts texts and times in its log.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sqlglot import exp

Bounds = Mapping[str, tuple[int, int]]
#: What a 64-bit column may have.
_LEAST, _MOST = -(2**63), 2**63 - 1
#: `5 < seq` is `seq > 5`.
_TURNED = {exp.EQ: exp.EQ, exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}


class Scan(NamedTuple):
    """A table in a statement, all of whose rows that count lie within `bounds`: (least, most) per column, both included."""

    table: exp.Table
    bounds: Bounds


def bounded_scans(statement: exp.Expr) -> Iterator[Scan]:
    """Every scan of one table alone whose WHERE bounds a column by whole numbers."""
    not_tables = {cte.alias.lower() for cte in statement.find_all(exp.CTE)}
    for select in statement.find_all(exp.Select):
        source, where = select.args.get("from_"), select.args.get("where")
        if source is None or where is None or select.args.get("joins") or select.args.get("laterals"):
            continue
        table = source.this
        if _is_plain(table) and table.name.lower() not in not_tables and (bounds := _bounds_of(where.this, table.alias_or_name)):
            yield Scan(table, bounds)


def _is_plain(table: exp.Expr) -> bool:
    """Whether it is a table by its name, perhaps with another one, and its columns have their own names."""
    known = ("this", "alias")
    return (
        isinstance(table, exp.Table) and not table.alias_column_names and not any(table.args[key] for key in table.args if key not in known)
    )


def may_be_within(bounds: Bounds, least: Mapping[str, int | None], most: Mapping[str, int | None]) -> bool:
    """Whether a file with these least and greatest values may have a row within the bounds. One that is not known excludes nothing."""
    for column, (lower, upper) in bounds.items():
        at_least, at_most = least.get(column), most.get(column)
        if (at_least is not None and at_least > upper) or (at_most is not None and at_most < lower):
            return False
    return True


def _bounds_of(condition: exp.Expr, table: str) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for column, lower, upper in _ranges(condition, table):
        least, most = found.get(column, (_LEAST, _MOST))
        found[column] = max(least, lower), min(most, upper)
    return found


def _ranges(condition: exp.Expr, table: str) -> Iterator[tuple[str, int, int]]:
    """(column, least, most) of each part of the condition that all rows must meet and that says so."""
    match condition:
        case exp.Paren():
            yield from _ranges(condition.this, table)
        case exp.And():
            yield from _ranges(condition.left, table)
            yield from _ranges(condition.right, table)
        case exp.Between(this=exp.Column() as column) if not condition.args.get("symmetric"):
            yield from _range(exp.GTE, column, condition.args["low"], table)
            yield from _range(exp.LTE, column, condition.args["high"], table)
        case exp.EQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            if isinstance(condition.left, exp.Column):
                yield from _range(type(condition), condition.left, condition.right, table)
            elif isinstance(condition.right, exp.Column):
                yield from _range(_TURNED[type(condition)], condition.right, condition.left, table)


def _range(comparison: type[exp.Expr], column: exp.Column, value: exp.Expr, table: str) -> Iterator[tuple[str, int, int]]:
    if not value.is_int or column.table not in ("", table):
        return
    number, name = int(value.to_py()), column.name
    if comparison is exp.EQ:
        yield name, number, number
    elif comparison in (exp.LT, exp.LTE):
        yield name, _LEAST, number - (comparison is exp.LT)
    else:
        yield name, number + (comparison is exp.GT), _MOST
