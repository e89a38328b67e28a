"""Which packets lanes read: those that are there where every unread file has them; where some do not, or packets lie, rows are packed."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bronze_events import parsed_only, random_events
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType

from pipeline.faults import BadWarehouse
from pipeline.ingest.bronze_files import BronzeFiles, written_rows
from pipeline.lanes.lane_input import all_packets, control_rows, packets, packets_anew, packets_hold_every_event
from pipeline.lanes.packets.bronze_columns import lane_columns_of
from pipeline.lanes.packets.files import is_packed, name_with_packets
from pipeline.lanes.packets.packet import unpacked_rows
from pipeline.lanes.unread_files import PackedFiles, unread_packed
from pipeline.sources.rows import EVENT
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.lane_columns import LANE_COLUMNS, LANE_KEY, LAYOUT, PACKET, ROW

PACKED, OTHER = name_with_packets("event_date=2026-01-01/run-0-0-0"), "event_date=2026-01-01/part-00000-x.c000.snappy.parquet"
REMOVED: dict[str, Any] = {"remove": {"path": OTHER, "dataChange": True}}


def added(path: str, *, data_change: bool = True) -> dict[str, Any]:
    return {"add": {"path": path, "dataChange": data_change}}


def log(folder: Path, *commits: list[dict[str, Any]]) -> None:
    (folder / "_delta_log").mkdir(parents=True, exist_ok=True)
    for version, actions in enumerate(commits):
        text = "\n".join(json.dumps(action) for action in [{"commitInfo": {}}, *actions])
        (folder / "_delta_log" / f"{version:020}.json").write_text(text)


def test_only_this_layout_is_read_as_packets() -> None:
    assert is_packed(PACKED)
    assert not is_packed(PACKED.replace(str(LAYOUT), str(LAYOUT + 1)))
    assert not is_packed(OTHER)


@pytest.mark.parametrize(
    ("commit", "other"),
    [
        ([added(PACKED)], None),
        ([added(PACKED), added(OTHER)], OTHER),
        ([added(OTHER, data_change=False), {"remove": {"path": PACKED, "dataChange": False}}], None),
        ([added(OTHER), REMOVED], None),
        ([{"metaData": {}}], None),
    ],
    ids=["ingest", "somebody else", "OPTIMIZE", "DELETE, which lanes skip", "a new column"],
)
def test_a_file_that_ingest_did_not_write_is_met(tmp_path: Path, commit: list[dict[str, Any]], other: str | None) -> None:
    log(tmp_path, [added(PACKED)], commit, [added(PACKED)])
    files = PackedFiles(str(tmp_path), -1)
    assert (files.first_other(), files.checked) == (other, 2 if other is None else 0)
    if other is not None:
        with pytest.raises(BadWarehouse, match=r"version 1 appended event_date=2026-01-01/part-00000.*start `stream` again"):
            files.check()


def test_a_running_query_looks_at_what_came_since(tmp_path: Path) -> None:
    log(tmp_path, [added(OTHER)], [added(PACKED)])
    files = PackedFiles(str(tmp_path), 0)
    files.check()
    log(tmp_path, [added(OTHER)], [added(PACKED)], [added(OTHER)])
    with pytest.raises(BadWarehouse, match="version 2 appended"):
        files.check()


@pytest.mark.parametrize(
    ("offset", "is_packets_only"),
    [
        (None, False),
        ((1, -1, False), True),
        ((2, -1, False), True),
        ((0, 3, False), False),
        ((1, -1, True), False),
        ((7, -1, False), False),
    ],
    ids=[
        "a new query",
        "old files were read",
        "all is read",
        "an old file is half read",
        "reads the table as it stood once",
        "the log is gone",
    ],
)
def test_a_start_looks_at_what_was_not_read(
    spark: SparkSession, tmp_path: Path, offset: tuple[int, int, bool] | None, is_packets_only: bool
) -> None:
    warehouse = Warehouse(str(tmp_path))
    log(Path(warehouse.table("dispatch_events").removeprefix("file:")), [added(OTHER)], [added(PACKED)])
    if offset is not None:
        checkpoint = Path(warehouse.checkpoint("lanes").removeprefix("file:"))
        entry = dict(zip(("reservoirVersion", "index", "isStartingVersion"), offset, strict=True))
        for name, text in (("offsets", f"v1\n{{}}\n{json.dumps(entry)}\n-"), ("commits", "v1\n{}")):
            (checkpoint / name).mkdir(parents=True)
            (checkpoint / name / "4").write_text(text)
    assert (unread_packed(warehouse, "lanes", after_rebuild=False) is not None) == is_packets_only


@pytest.fixture(scope="module")
def bronze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file as ingest writes it, and one without packets, as Spark does."""
    folder = tmp_path_factory.mktemp("bronze")
    events = random_events(7, 900)
    files = BronzeFiles(str(folder), 1, "a")
    for batch in parsed_only(events.slice(0, 600)).combine_chunks().to_batches(100):
        files.add(batch)
    list(files.close())
    without = events.slice(600).drop_columns(["lane_layout", "lane_packet", "event_date"])
    (day,) = folder.iterdir()
    pq.write_table(without, day / "b.parquet")
    return folder


def test_every_event_reaches_its_lane_in_one_packet(spark: SparkSession, bronze: Path) -> None:
    """Also where a file has none, and where the packets that are there are not to be trusted."""
    rows = spark.read.option("mergeSchema", "true").parquet(str(bronze))
    whole = pa.concat_tables([pq.read_table(path, partitioning=None) for path in sorted(bronze.glob("*/*"))], promote_options="default")
    wanted = lane_columns_of(whole.combine_chunks().to_batches()[0]).T
    brokers = dict(zip(whole["seq"].to_pylist(), whole["broker_id"].to_pylist(), strict=True))
    there = packets(rows).select(PACKET).toArrow()[PACKET].to_pylist()
    for frame in (all_packets(rows), packets_anew(rows)):
        handed_over = frame.toArrow()
        assert not any(handed_over[ROW].to_pylist())
        opened = [unpacked_rows(packet) for packet in handed_over[PACKET].to_pylist()]
        for lane, of_packet in zip(handed_over[LANE_KEY].to_pylist(), opened, strict=True):
            assert {brokers[seq] for seq in of_packet[:, 1].tolist()} == {lane}
            assert len({*of_packet[:, 0].tolist()}) == 1
        found = np.concatenate(opened)
        assert found.shape == (900, len(LANE_COLUMNS))
        assert np.array_equal(found[np.argsort(found[:, 1])], wanted[np.argsort(wanted[:, 1])])
    assert {*there} < {*all_packets(rows).toArrow()[PACKET].to_pylist()}


def test_lanes_keep_the_type_of_their_key_whichever_way_events_come(spark: SparkSession, warehouse: Warehouse) -> None:
    """Spark keeps it with the state, and refuses another: a query may begin without old files, and meet one after a replay."""
    create_missing_tables(warehouse)
    events, control = (spark.readStream.format("delta").load(warehouse.table(name)) for name in ("dispatch_events", "lane_control"))
    frames = [way(events).unionByName(control_rows(control)) for way in (packets, all_packets, packets_anew)]
    assert {(frame.schema[LANE_KEY].dataType, frame.schema[LANE_KEY].nullable) for frame in frames} == {(LongType(), False)}


def test_rows_deleted_by_hand_are_noticed(spark: SparkSession, bronze: Path) -> None:
    rows = spark.read.option("mergeSchema", "true").parquet(str(bronze))
    assert packets_hold_every_event(rows)
    assert packets_hold_every_event(rows.where("lane_layout IS NULL")), "no packets: none too many"
    for deleted in ("seq = 5", "lane_packet IS NOT NULL"):
        assert not packets_hold_every_event(rows.where(f"coalesce(NOT ({deleted}), true)"))


def test_tasks_name_their_files_so(tmp_path: Path) -> None:
    batch = parsed_only(random_events(2, 50)).combine_chunks().to_batches()[0]
    rows = batch.append_column("row_kind", pa.array([EVENT] * 50, pa.int32()))
    (out,) = written_rows(Warehouse(str(tmp_path)), 3, "run-3-0", datetime(2026, 1, 2, tzinfo=UTC), iter([rows]))
    assert [is_packed(json.loads(one)["path"]) for one in out["added"].to_pylist()] == [True]
