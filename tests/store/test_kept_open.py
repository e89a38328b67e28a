"""Tables that stay open are as they are now, whoever wrote meanwhile, and ask a store for little."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from s3_server import S3

from pipeline.store.open_tables import forget_table, kept_open
from pipeline.warehouse.append import append_rows, is_appended
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables.bookkeeping import NAMES


def name(number: int) -> dict[str, object]:
    return {"id": number, "level": "broker", "broker": f"b{number}", "topic": None, "subscription": None}


def ids(warehouse: Warehouse) -> list[int]:
    with kept_open(warehouse.table(NAMES.name)) as kept:
        return sorted(kept.delta.to_pyarrow_table()["id"].to_pylist())


@pytest.fixture
def house(tmp_path: Path) -> Warehouse:
    warehouse = Warehouse(f"file:{tmp_path / 'warehouse'}")
    create_missing_tables(warehouse)
    return warehouse


def test_what_others_wrote_meanwhile_is_seen(house: Warehouse) -> None:
    append_rows(house, NAMES, [name(1)], ("app", 0))
    other = DeltaTable(house.table(NAMES.name).removeprefix("file:"))
    write_deltalake(other, pa.Table.from_pylist([name(2)], other.to_pyarrow_table().schema), mode="append")
    other.optimize.compact()
    append_rows(house, NAMES, [name(3)], ("app", 1))
    append_rows(house, NAMES, [name(4)], ("app", 1))
    assert ids(house) == [1, 2, 3]
    assert is_appended(house, NAMES.name, "app", 1)


def test_a_table_that_is_behind_takes_an_append_that_goes_on_and_no_second_one_of_another_driver(house: Warehouse) -> None:
    """Within a few micro-batches nobody asks whether others have written: the commit finds out."""
    append_rows(house, NAMES, [name(1)], ("app", 0))
    other = DeltaTable(house.table(NAMES.name).removeprefix("file:"))
    schema = other.to_pyarrow_table().schema
    write_deltalake(other, pa.Table.from_pylist([name(2)], schema), mode="append")
    other.optimize.compact()
    append_rows(house, NAMES, [name(3)], ("app", 1))
    other.update_incremental()
    theirs = CommitProperties(app_transactions=[Transaction("app", 2)])
    write_deltalake(other, pa.Table.from_pylist([name(4)], schema), mode="append", commit_properties=theirs)
    append_rows(house, NAMES, [name(4)], ("app", 2))
    assert ids(house) == [1, 2, 3, 4]


def test_a_log_that_was_cleaned_up_beyond_what_is_known_is_opened_anew(house: Warehouse) -> None:
    append_rows(house, NAMES, [name(1)], ("app", 0))
    other, log = (
        DeltaTable(house.table(NAMES.name).removeprefix("file:")),
        Path(house.table(NAMES.name).removeprefix("file:"), "_delta_log"),
    )
    for number in (2, 3):
        write_deltalake(other, pa.Table.from_pylist([name(number)], other.to_pyarrow_table().schema), mode="append")
    other.create_checkpoint()
    for entry in sorted(log.glob("*.json"))[:-1]:
        entry.unlink()
    append_rows(house, NAMES, [name(4)], ("app", 11))
    assert ids(house) == [1, 2, 3, 4]


def test_a_table_that_is_made_again_is_another(house: Warehouse) -> None:
    append_rows(house, NAMES, [name(1)], ("app", 5))
    folder = Path(house.table(NAMES.name).removeprefix("file:"))
    folder.rename(folder.with_name("aside"))
    create_missing_tables(house)
    assert not is_appended(house, NAMES.name, "app", 5)
    append_rows(house, NAMES, [name(2)], ("app", 5))
    assert ids(house) == [2]


def test_threads_append_one_after_the_other(house: Warehouse) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: append_rows(house, NAMES, [name(number)], (f"app-{number}", 0)), range(40)))
    assert ids(house) == list(range(40))


def test_an_append_asks_a_store_for_less_than_half(s3: S3, lake: str) -> None:
    warehouse = Warehouse(lake)
    create_missing_tables(warehouse)
    append_rows(warehouse, NAMES, [name(0)], ("app", 0))

    def asked(number: int) -> int:
        before = len(s3.requests)
        append_rows(warehouse, NAMES, [name(number)], ("app", number))
        return len(s3.requests) - before

    kept = [asked(number) for number in range(1, 6)]
    anew = []
    for number in range(6, 9):
        forget_table(warehouse.table(NAMES.name))
        anew.append(asked(number))
    assert max(kept) <= 9 < 2 * max(kept) <= 2 * min(anew), (kept, anew)
