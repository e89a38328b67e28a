"""Row for row: the two tables that a peer wrote against those that our job made of the same log.

    python -m bench.peers.check WAREHOUSE TARGET [TARGET…]

Every column that our table declares is compared. Times are compared as µs, floats exactly. Order and files mean nothing.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from schemas.field import Table
from schemas.packages.throttle import LIMITER_WINDOWS, SUBSCRIPTION_THROTTLE

TABLES = (SUBSCRIPTION_THROTTLE, LIMITER_WINDOWS)
#: Differences that are shown of each table.
SHOWN = 5
Row = tuple[object, ...]


@dataclass(frozen=True)
class Comparison:
    """What comparing one table found: `rows` of ours, and how many grains differ, of which `differences` shows the first."""

    table: str
    rows: int
    differing: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether every row of ours is there once, with the same values, and no other."""
        return self.differing == 0


def compared(table: Table, ours: pa.Table, theirs: pa.Table) -> Comparison:
    """Compare two contents of a table.

    Raises ValueError if the peer lacks a column, or has one of a type that does not hold the same values.
    """
    mine = comparable(table, ours)
    others = comparable(table, theirs, mine.schema)
    if _sorted(table, mine).equals(_sorted(table, others)):
        return Comparison(table.name, len(mine))
    found = list(_differences(table, mine, others))
    return Comparison(table.name, len(mine), len(found), found[:SHOWN])


def comparable(table: Table, rows: pa.Table, schema: pa.Schema | None = None) -> pa.Table:
    """The declared columns, times as µs whatever unit and zone they were written with; cast to `schema`, if there is one."""
    missing = [name for name in table.names if name not in rows.column_names]
    if missing:
        raise ValueError(f"{table.name}: the peer has no column {', '.join(missing)}")
    columns = {name: _as_us(rows.column(name)) for name in table.names}
    typed = pa.table(columns)
    try:
        return typed if schema is None else typed.cast(schema)
    except pa.ArrowInvalid as fault:
        raise ValueError(f"{table.name}: {fault}") from fault


def _as_us(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_timestamp(column.type):
        return column
    return pc.cast(pc.cast(column, pa.timestamp("us", column.type.tz)), pa.int64())


def _sorted(table: Table, rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in table.grain])


def _differences(table: Table, ours: pa.Table, theirs: pa.Table) -> Iterator[str]:
    """A line for each grain whose rows are not the same on both sides."""
    mine, others = _by_grain(table, ours), _by_grain(table, theirs)
    for grain in sorted(mine.keys() | others.keys(), key=repr):
        if sorted(mine[grain], key=repr) != sorted(others[grain], key=repr):
            yield f"{grain}: {_difference(table.names, mine[grain], others[grain])}"


def _difference(names: Sequence[str], mine: list[Row], theirs: list[Row]) -> str:
    if len(mine) != 1 or len(theirs) != 1:
        return f"{len(mine)} rows of ours, {len(theirs)} of theirs"
    pairs = zip(names, mine[0], theirs[0], strict=True)
    return ", ".join(f"{name} {ours!r}, theirs {other!r}" for name, ours, other in pairs if ours != other)


def _by_grain(table: Table, rows: pa.Table) -> defaultdict[Row, list[Row]]:
    places = [table.names.index(name) for name in table.grain]
    found: defaultdict[Row, list[Row]] = defaultdict(list)
    for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        found[tuple(row[place] for place in places)].append(row)
    return found


def check(warehouse: Path, target: Path) -> list[Comparison]:
    """Compare both tables of a peer's folder with those of a warehouse. A table that the peer did not write has no rows."""
    found = []
    for table in TABLES:
        ours = DeltaTable(str(warehouse / table.name)).to_pyarrow_table()
        files = sorted((target / table.name).rglob("[!_.]*.parquet")) if (target / table.name).exists() else []
        theirs = ds.dataset([str(file) for file in files], format="parquet").to_table() if files else ours.slice(0, 0)
        found.append(compared(table, ours, theirs))
    return found


def described(comparison: Comparison) -> str:
    """One line, and one for each difference shown."""
    verdict = "equal" if comparison.equal else f"{comparison.differing:,} DIFFER"
    return "\n  ".join([f"{comparison.table}: {comparison.rows:,} rows, {verdict}", *comparison.differences])


def main() -> int:
    """Read arguments, compare, print; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="bench.peers.check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warehouse", type=Path, help="our warehouse: stream --once --drain of the log")
    parser.add_argument("targets", type=Path, nargs="+", metavar="target", help="a peer's folder, of the same log")
    args = parser.parse_args()
    found = [comparison for target in args.targets for comparison in check(args.warehouse, target)]
    print("\n".join(described(comparison) for comparison in found))
    return 0 if all(comparison.equal for comparison in found) else 1


if __name__ == "__main__":
    sys.exit(main())
