"""Row for row: the two tables that a peer wrote against those that our job made of the same log.

    python -m bench.peers.check WAREHOUSE TARGET [TARGET…]

Every column that our table declares is compared. Times are compared as µs, floats exactly. Order and files mean nothing.
"""

import argparse
import sys
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
#: Differing rows that are shown of each table.
SHOWN = 5


@dataclass(frozen=True)
class Comparison:
    """What comparing one table found. `differences` are at most SHOWN lines for a person, about any number of `differing` rows."""

    table: str
    rows: int
    differing: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether every row of ours is there once, with the same values, and no other."""
        return self.differing == 0


def compared(table: Table, ours: pa.Table, theirs: pa.Table) -> Comparison:
    """Compare two contents of a table, by its grain.

    Raises ValueError for a missing column, and for a grain that our rows do not keep.
    """
    names, keys = list(table.names), list(table.grain)
    missing = [name for name in names if name not in theirs.column_names]
    if missing:
        raise ValueError(f"{table.name}: the peer has no column {', '.join(missing)}")
    mine, others = _by_grain(ours.select(names), keys), _by_grain(theirs.select(names), keys)
    if len(mine) != len(ours):
        raise ValueError(f"{table.name}: {len(ours) - len(mine)} of our rows repeat the grain of another")
    differences: list[str] = [f"{key}: twice" for key in _repeated(others, len(theirs), theirs.select(names), keys)]
    for key in sorted(mine.keys() | others.keys(), key=repr):
        mine_row, their_row = mine.get(key), others.get(key)
        if mine_row == their_row:
            continue
        differences.append(f"{key}: {_difference(names, mine_row, their_row)}")
    return Comparison(table.name, len(mine), len(differences), differences[:SHOWN])


def _difference(names: Sequence[str], mine: tuple[object, ...] | None, theirs: tuple[object, ...] | None) -> str:
    if theirs is None:
        return "missing"
    if mine is None:
        return "not ours"
    return ", ".join(f"{name} {a!r}, theirs {b!r}" for name, a, b in zip(names, mine, theirs, strict=True) if a != b)


def _by_grain(rows: pa.Table, keys: Sequence[str]) -> dict[tuple[object, ...], tuple[object, ...]]:
    comparable = _comparable(rows)
    values = zip(*(column.to_pylist() for column in comparable.columns), strict=True)
    places = [rows.column_names.index(key) for key in keys]
    return {tuple(row[place] for place in places): row for row in values}


def _repeated(
    by_grain: dict[tuple[object, ...], tuple[object, ...]], count: int, rows: pa.Table, keys: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    """Grains that more than one row has, in no order."""
    if len(by_grain) == count:
        return
    seen: set[tuple[object, ...]] = set()
    for key in zip(*(column.to_pylist() for column in _comparable(rows.select(keys)).columns), strict=True):
        if key in seen:
            yield key
        seen.add(key)


def _comparable(rows: pa.Table) -> pa.Table:
    """Times as µs, whatever unit and zone they were written with."""

    def as_us(column: pa.ChunkedArray) -> pa.ChunkedArray:
        return pc.cast(pc.cast(column, pa.timestamp("us", column.type.tz)), pa.int64())

    columns = [as_us(column) if pa.types.is_timestamp(column.type) else column for column in rows.columns]
    return pa.table(dict(zip(rows.column_names, columns, strict=True)))


def check(warehouse: Path, target: Path) -> list[Comparison]:
    """Compare both tables of a peer's folder with those of a warehouse."""
    found = []
    for table in TABLES:
        ours = DeltaTable(str(warehouse / table.name)).to_pyarrow_table()
        theirs = ds.dataset(str(target / table.name), format="parquet").to_table()
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
