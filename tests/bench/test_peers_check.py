"""The comparison with peers: every difference is found, and nothing that is none."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from bench.peers.check import TABLES, check, compared, described
from schemas.packages.throttle import LIMITER_WINDOWS, SUBSCRIPTION_THROTTLE

BEGAN = datetime(2026, 11, 21, 11, 30, 5, 123_456, tzinfo=UTC)
TYPES = {
    "string": pa.string(),
    "long": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
}
VALUES: dict[str, Any] = {"string": "a", "long": 7, "int": 0, "double": 1.0, "boolean": True, "timestamp": BEGAN}
ROWS = 3


def contents(table: Any, **changed: Any) -> pa.Table:
    """ROWS rows, a minute apart; `changed` replaces values of the last one."""
    rows: list[dict[str, Any]] = []
    for number in range(ROWS):
        row = {field.name: None if field.nullable else VALUES[field.type] for field in table.fields}
        rows.append({**row, "window_start": BEGAN + timedelta(minutes=number)})
    rows[-1] |= changed
    return pa.Table.from_pylist(rows, pa.schema([(field.name, TYPES[field.type]) for field in table.fields]))


def as_spark_or_flink_would(rows: pa.Table) -> pa.Table:
    """The same rows in another order, times in ns without a zone, text as large strings."""
    other = {pa.timestamp("us", "UTC"): pa.timestamp("ns"), pa.string(): pa.large_string()}
    return rows.cast(pa.schema([(field.name, other.get(field.type, field.type)) for field in rows.schema])).take([2, 0, 1])


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_order_units_and_widths_mean_nothing(table: Any) -> None:
    found = compared(table, contents(table), as_spark_or_flink_would(contents(table)))
    assert (found.equal, found.rows, described(found)) == (True, ROWS, f"{table.name}: 3 rows, equal")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_counts(table: Any) -> None:
    different: dict[str, Any] = {
        "string": "b", "long": 8, "int": 1, "double": 0.5, "boolean": False, "timestamp": BEGAN + timedelta(microseconds=1),
    }  # fmt: skip
    for field in table.fields:
        found = compared(table, contents(table), contents(table, **{field.name: different[field.type]}))
        assert not found.equal, field.name
        assert found.differing == (2 if field.name in table.grain else 1), field.name


def test_a_difference_is_named_with_both_values() -> None:
    found = compared(LIMITER_WINDOWS, contents(LIMITER_WINDOWS), contents(LIMITER_WINDOWS, used=9, rate=8))
    (line,) = found.differences
    assert line.endswith("rate 7, theirs 8, used 7, theirs 9")
    assert described(found).startswith("limiter_windows: 3 rows, 1 DIFFER\n")


def test_rows_that_only_one_side_has_and_rows_that_come_twice() -> None:
    ours = contents(SUBSCRIPTION_THROTTLE)
    assert "1 rows of ours, 0 of theirs" in compared(SUBSCRIPTION_THROTTLE, ours, ours.slice(1)).differences[0]
    assert "0 rows of ours, 1 of theirs" in compared(SUBSCRIPTION_THROTTLE, ours.slice(1), ours).differences[0]
    twice = compared(SUBSCRIPTION_THROTTLE, ours, pa.concat_tables([ours, ours.slice(0, 1)]))
    assert (twice.differing, "1 rows of ours, 2 of theirs" in twice.differences[0]) == (1, True)


def test_a_missing_column_and_a_value_that_does_not_fit_are_no_difference_but_a_fault() -> None:
    ours = contents(LIMITER_WINDOWS)
    with pytest.raises(ValueError, match="no column debt"):
        compared(LIMITER_WINDOWS, ours, ours.drop_columns(["debt"]))
    text = ours.set_column(ours.column_names.index("debt"), "debt", pa.array(["x"] * ROWS))
    with pytest.raises(ValueError, match="limiter_windows: "):
        compared(LIMITER_WINDOWS, ours, text)


def test_files_of_a_peer_are_read_as_one_and_unfinished_ones_are_not(tmp_path: Path) -> None:
    for table in TABLES:
        write_deltalake(str(tmp_path / "ours" / table.name), contents(table))
        for number, part in enumerate((contents(table).slice(0, 1), contents(table).slice(1))):
            folder = tmp_path / "theirs" / table.name / f"batch={number}"
            folder.mkdir(parents=True)
            pq.write_table(part, folder / "part-0.parquet")
            pq.write_table(part, folder / ".part-1.parquet")
    assert [found.equal for found in check(tmp_path / "ours", tmp_path / "theirs")] == [True, True]
    assert [found.differing for found in check(tmp_path / "ours", tmp_path / "nothing")] == [ROWS, ROWS]
