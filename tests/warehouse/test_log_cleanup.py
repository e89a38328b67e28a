"""Old entries of the tables' logs go while lanes run; versions that somebody may still read stay readable."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.cut import LOOKED_AT, Batch
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.log_cleanup import EVERY_MICRO_BATCHES, LogCleanup, needed_by, remove_before
from schemas.tables import JOB_TABLES

#: delta-rs makes checkpoints of versions 9, 19, 29 …
CHECKPOINT_INTERVAL = 10


def table(folder: Path, versions: int) -> str:
    """A table with a row in each version but the first."""
    rows = pa.table({"n": [1]})
    interval = {"delta.checkpointInterval": str(CHECKPOINT_INTERVAL)}
    DeltaTable.create(folder.as_uri(), schema=rows.schema, configuration=interval)
    for _ in range(versions):
        write_deltalake(folder.as_uri(), rows, mode="append")
    return str(folder)


def rows_at(folder: str, version: int) -> int:
    return int(DeltaTable(folder, version).to_pyarrow_table().num_rows)


def entries(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder, "_delta_log").iterdir())


def test_a_version_and_all_later_ones_stay_readable(tmp_path: Path) -> None:
    folder = table(tmp_path / "t", 35)
    before = len(entries(folder))
    removed = remove_before(folder, 27)
    assert removed == before - len(entries(folder)) == 20, "versions 0 to 18, and the checkpoint of 9"
    assert [rows_at(folder, version) for version in range(27, 36)] == list(range(27, 36))
    assert (rows_at(folder, 19), min(entries(folder))) == (19, "00000000000000000019.checkpoint.parquet")
    with pytest.raises(Exception, match=r"No files in log segment"):
        rows_at(folder, 18)
    assert remove_before(folder, 27) == 0


def test_the_table_goes_on(tmp_path: Path) -> None:
    folder = table(tmp_path / "t", 25)
    remove_before(folder, 25)
    write_deltalake(folder, pa.table({"n": [1]}), mode="append")
    assert (newest_version_at(folder), rows_at(folder, 26)) == (26, 26)


@pytest.mark.parametrize("version", [-1, 0, 8])
def test_nothing_goes_without_a_checkpoint_before(tmp_path: Path, version: int) -> None:
    folder = table(tmp_path / "t", 15)
    assert remove_before(folder, version) == 0


def test_only_entries_of_the_log_go(tmp_path: Path) -> None:
    folder = table(tmp_path / "t", 25)
    log = Path(folder, "_delta_log")
    others = ["00000000000000000003.checkpoint.7b2e.parquet", "00000000000000000001.00000000000000000005.compacted.json", "_sidecars"]
    for name in [*others, "00000000000000000003.crc", ".00000000000000000003.json.crc"]:
        (log / name).write_text("")
    remove_before(folder, 25)
    assert [name for name in entries(folder) if name < "00000000000000000019"] == sorted(others[:2])
    assert (log / "_sidecars").exists()


def offsets(bronze: int, index: int = -1, *, initial: bool = False) -> str:
    bronze_offset = {"reservoirVersion": bronze, "index": index, "isStartingVersion": initial}
    return f"v1\n{{}}\n{json.dumps(bronze_offset)}\n-"


@pytest.mark.parametrize(
    ("source_offsets", "bronze"), [(offsets(8), 7), (offsets(8, 3), 7), (offsets(20), 12), (offsets(8, initial=True), -1)]
)
def test_lanes_have_still_to_read_what_their_offset_stands_at(source_offsets: str, bronze: int) -> None:
    batch = Batch(3, source_offsets, {"dispatch_events": "12", "lane_control": "4", "names": "9"})
    assert needed_by(batch) == {"dispatch_events": bronze, "lane_control": -1, "names": 9}


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """Every table is there; two have a log of some length."""
    for one in JOB_TABLES:
        table(tmp_path / one.name, 45 if one.name in ("dispatch_events", "names") else 1)
    return Warehouse(str(tmp_path))


def oldest(warehouse: Warehouse, name: str) -> int:
    return int(min(entries(warehouse.table(name)))[:20])


def test_lanes_remove_what_nobody_reads(warehouse: Warehouse) -> None:
    logs = LogCleanup(warehouse, 20)
    lengths = {one.name: newest_version_at(warehouse.table(one.name)) for one in JOB_TABLES}

    def micro_batch(number: int, bronze_read: int) -> None:
        logs.after(Batch(number, offsets(bronze_read), {name: str(version) for name, version in lengths.items()}))

    for number in range(LOOKED_AT - 1):
        micro_batch(number, 14)
    assert (oldest(warehouse, "names"), oldest(warehouse, "dispatch_events")) == (0, 0), "a cut may look back so far"
    micro_batch(LOOKED_AT, 45)
    assert oldest(warehouse, "names") == 19, "the newest twenty stay"
    assert oldest(warehouse, "dispatch_events") == 9, "lanes stood at 14 a hundred micro-batches ago"
    assert oldest(warehouse, "quarantine") == 0
    for number in range(EVERY_MICRO_BATCHES + LOOKED_AT):
        micro_batch(number, 45)
    assert oldest(warehouse, "dispatch_events") == 19
    assert rows_at(warehouse.table("dispatch_events"), 25) == 25


def test_a_warehouse_elsewhere_is_left_alone() -> None:
    logs = LogCleanup(Warehouse("s3a://bucket/warehouse"), 100)
    for number in range(2 * LOOKED_AT):
        logs.after(Batch(number, offsets(1), dict.fromkeys((one.name for one in JOB_TABLES), "5000")))
