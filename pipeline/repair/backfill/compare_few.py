"""Two versions of few rows compared in the driver: it is done before Spark has planned the join that compare.py makes of many."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from pipeline.repair.backfill.difference import EXAMPLES, Difference
from pipeline.repair.backfill.slices import date_columns
from pipeline.repair.backfill.stretch import Dates
from schemas.field import Table
from schemas.outcomes import PAYLOAD

#: Too long to be shown.
NOT_SHOWN = (PAYLOAD,)
_Row = dict[str, Any]


def compare_few(found: pa.Table, computed: pa.Table, table: Table, asked: Sequence[Dates]) -> dict[str, Difference] | None:
    """What `compare` gives, of sides that the driver holds and that have each key once; else None."""
    differences = {one.broker: Difference() for one in asked}
    if _is_same(found, computed, table):
        for broker in found["broker"].to_pylist():
            differences[broker].found += 1
            differences[broker].computed += 1
        return differences
    there, now = _by_key(found, table), _by_key(computed, table)
    if len(there) < found.num_rows or len(now) < computed.num_rows:
        return None
    for key in sorted(there.keys() | now.keys(), key=str):
        _add_row(differences, table, now.get(key) or there[key], there.get(key), now.get(key))
    return differences


def _is_same(found: pa.Table, computed: pa.Table, table: Table) -> bool:
    order = [(name, "ascending") for name in table.grain]
    return bool(found.sort_by(order).equals(computed.sort_by(order)))


def _by_key(rows: pa.Table, table: Table) -> dict[tuple[Any, ...], _Row]:
    return {tuple(row[name] for name in table.grain): row for row in rows.to_pylist()}


def _add_row(differences: dict[str, Difference], table: Table, row: _Row, there: _Row | None, now: _Row | None) -> None:
    """Count a key that either side has; `row` is the one of the side that has it."""
    kind = "added" if there is None else "removed" if now is None else "equal" if there == now else "changed"
    difference, at = differences[row["broker"]], next(row[name] for name in date_columns(table) if row[name] is not None)
    difference.add(kind, 1, at.date() if isinstance(at, datetime) else at)
    if kind != "equal" and len(difference.examples) < EXAMPLES:
        key = {name: _shown(row[name]) for name in table.grain}
        difference.examples.append({"difference": kind, "key": key, "there": _only(there, now, table), "now": _only(now, there, table)})


def _only(side: _Row | None, other: _Row | None, table: Table) -> _Row:
    """The values of one side that the other has not, without nulls, as JSON shows them."""
    hidden = (*table.grain, *NOT_SHOWN)
    values = {name: value for name, value in (side or {}).items() if name not in hidden and value is not None}
    return {name: _shown(value) for name, value in values.items() if other is None or other[name] != value}


def _shown(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
