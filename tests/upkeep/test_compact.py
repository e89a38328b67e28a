"""Small files become few, and no row changes."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from query.conftest import append, event
from whose_versions import operations_without_our_mark

from pipeline.settings import MaintainSettings, load_settings
from pipeline.upkeep import compact
from pipeline.upkeep.compact import Merge, merge, planned_merge
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables

CLOSED, OPEN = date(2026, 1, 5), date(2026, 1, 6)


def settings(**overrides: int) -> MaintainSettings:
    chosen = {"merge_from_files": 3, **overrides}
    return load_settings(None, [f"maintain.{name}={value}" for name, value in chosen.items()], {}).maintain


@pytest.fixture
def small(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """Four files of a closed date, two of an open one; three of `names`. Lanes have begun."""
    warehouse = Warehouse(f"file:{tmp_path / 'a house'}")
    create_missing_tables(warehouse)
    for seq in range(4):
        append(warehouse, "dispatch_events", [event(2 * seq + row) for row in (1, 2)])
    for seq in (9, 10):
        append(warehouse, "dispatch_events", [event(seq, day=6)])
    for number in range(3):
        append(warehouse, "names", [{"id": number, "level": "broker", "broker": f"b{number}:8080"}])
    begun = type("Checkpoint", (), {"planned": [0]})
    monkeypatch.setattr(compact, "read_checkpoint", lambda *_: begun)
    return warehouse


def table(warehouse: Warehouse, name: str) -> DeltaTable:
    return DeltaTable(Path(warehouse.table(name).removeprefix("file:")).as_uri())


def rows(warehouse: Warehouse, name: str) -> Counter[str]:
    return Counter(map(str, table(warehouse, name).to_pyarrow_table().to_pylist()))


def files_per_day(warehouse: Warehouse) -> Counter[str]:
    return Counter(Path(uri).parent.name.removeprefix("event_date=") for uri in table(warehouse, "dispatch_events").file_uris())


def test_what_is_worth_it_is_merged_and_rows_stay(spark: SparkSession, small: Warehouse) -> None:
    before = {name: rows(small, name) for name in ("dispatch_events", "names")}
    planned = {name: planned_merge(small, name, settings(), OPEN) for name in before}
    assert planned == {"dispatch_events": Merge("dispatch_events", 4, (CLOSED,)), "names": Merge("names", 3)}
    assert {name: merge(small, what, settings()) for name, what in planned.items() if what} == {
        "dispatch_events": (4, 1),
        "names": (3, 1),
    }
    assert files_per_day(small) == {"2026-01-05": 1, "2026-01-06": 2}
    assert {name: rows(small, name) for name in before} == before
    assert [planned_merge(small, name, settings(), OPEN) for name in before] == [None, None]
    assert operations_without_our_mark(small) == []


@pytest.mark.parametrize(
    ("changed", "name", "open_date"),
    [({"merge_from_files": 4}, "names", OPEN), ({"small_file_bytes": 1}, "names", OPEN), ({"small_file_bytes": 1}, "dispatch_events", OPEN),
     ({}, "dispatch_events", None), ({}, "dispatch_events", CLOSED)],
)  # fmt: skip
def test_what_is_not_worth_it_is_left_alone(
    spark: SparkSession, small: Warehouse, changed: dict[str, int], name: str, open_date: date | None
) -> None:
    assert planned_merge(small, name, settings(**changed), open_date) is None


def test_rows_of_a_file_stay_beside_each_other(spark: SparkSession, small: Warehouse) -> None:
    """So a row group still has few brokers and a short stretch of time, by which readers skip it."""
    merge(small, Merge("dispatch_events", 4, (CLOSED,)), settings())
    (merged,) = (uri for uri in table(small, "dispatch_events").file_uris() if str(CLOSED) in uri)
    seqs = pq.read_table(merged.removeprefix("file://").replace("%20", " "), columns=["seq"], partitioning=None)["seq"].to_pylist()
    assert sorted(seqs[::2]) == [1, 3, 5, 7]
    assert [seq + 1 for seq in seqs[::2]] == seqs[1::2]


def test_appends_go_on_meanwhile(spark: SparkSession, small: Warehouse) -> None:
    """Neither of them fails, and nothing is lost."""
    with ThreadPoolExecutor(2) as threads:
        appending = threads.submit(_append_names, small, range(10, 40))
        merging = [threads.submit(merge, small, Merge("names", 3), settings()).result() for _ in range(5)]
        appending.result()
    assert sum(removed for removed, _ in merging) >= 3
    assert sorted(table(small, "names").to_pyarrow_table()["id"].to_pylist()) == [0, 1, 2, *range(10, 40)]


def _append_names(warehouse: Warehouse, numbers: range) -> None:
    for number in numbers:
        append(warehouse, "names", [{"id": number, "level": "broker", "broker": f"b{number}:8080"}])


def test_what_a_deletion_vector_takes_away_stays_away(
    spark: SparkSession, small: Warehouse, copied_rows: Callable[[str], list[Any]]
) -> None:
    path = small.table("names")
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    append(small, "names", [{"id": number, "level": "broker", "broker": f"b{number}:8080"} for number in (7, 8, 9)])
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 8")
    merge(small, Merge("names", 4), settings())
    assert copied_rows(path) == [0, 1, 2, 7, 9]


@pytest.fixture
def copied_rows(spark: SparkSession) -> Callable[[str], list[Any]]:
    """Ids in a table, as Spark reads them."""
    return lambda path: sorted(row["id"] for row in spark.read.format("delta").load(path).collect())
